"""`import estimator_trainer.compat.tf1` gives programs TensorFlow 1, and libraries TensorFlow 2."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from tests.compat.test_compat import last_line, run_python
from tests.support import jobs

HAS_SLIM = importlib.util.find_spec("tf_slim") is not None

NAMES = """
import estimator_trainer.compat.tf1
import estimator_trainer.compat.tf1  # A second time.
import inspect
import json
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow import contrib, estimator, keras
from tensorflow.contrib import layers as contrib_layers
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.contrib.training.python.training import hparam
from tensorflow.keras.layers import Dense
from tensorflow.python.estimator.model_fn import ModeKeys
from tensorflow.python.framework import ops
from tensorflow.python.keras import models
from tensorflow.python.keras.utils import np_utils
from tensorflow.python.training import training
from unittest import mock
import tensorflow.compat.v1 as v1
import tensorflow.compat.v2 as v2
import tensorflow.keras.backend as backend
import tensorflow.nn.rnn_cell as rnn_cell
import tensorflow.python.util.nest

def ask(importer):
    # Imports TensorFlow in a function, as the module `importer`.
    code = "def ask():\\n    import tensorflow as tf\\n    return hasattr(tf, 'contrib')"
    module = {"__name__": importer, "__file__": importer + ".py"}
    exec(code, module)
    return module["ask"]()

x = tf.placeholder(tf.float32, [None, 4])
cell = tf.nn.rnn_cell.MultiRNNCell([tf.contrib.rnn.BasicLSTMCell(3), rnn_cell.GRUCell(3)])
tf.nn.dynamic_rnn(cell, x[:, None], dtype=tf.float32)
variable = tf.get_variable("v", [2, 2])
iterator = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
tf.logging.set_verbosity(tf.logging.ERROR)
found = training.MonitoredTrainingSession
with mock.patch.object(training, "MonitoredTrainingSession") as session:
    replaced = [training.MonitoredTrainingSession is session]
replaced.append(training.MonitoredTrainingSession is found)
tf.flags.DEFINE_integer("steps", 3, "")
print(json.dumps({
    "same": [contrib.tpu is tf.contrib.tpu, estimator is v1.estimator, ops.Tensor is v1.Tensor,
             keras.layers.Dense is Dense, hparam.HParams is tf.contrib.training.HParams,
             tensorflow.python.util.nest is tf.contrib.framework.nest,
             v1.Session is tf.Session, backend.get_session is not None,
             arg_scope is tf.contrib.framework.arg_scope or "tf_slim" in repr(vars(arg_scope)),
             ModeKeys.TRAIN == tf.contrib.learn.ModeKeys.TRAIN, slim is tf.contrib.slim,
             models.Sequential is tf.keras.Sequential,
             inspect.getargspec(ask).args == ["importer"]],
    "behaviour": [tf.executing_eagerly(), type(x.shape[1]).__name__, tf.__version__,
                  type(variable).__name__, v2.__version__[:2]],
    "replaced": replaced,
    "asked": {name: ask(name) for name in (
        "__main__", "my_model", "model_fns.mine", "tensorflow_datasets.core", "tf_keras.src.x",
        "estimator_trainer.training.loop")},
    "slim": contrib_layers.fully_connected(x, 3, scope="fc").op.name if SLIM else None,
}))
"""

TRAINS = """
import estimator_trainer.compat.tf1
import json, sys
import tensorflow as tf

def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(({"x": [[1.0, 2.0]] * 64}, [[3.0]] * 64))
    batched = tf.contrib.data.batch_and_drop_remainder(params["batch_size"])
    return data.repeat().apply(batched).make_one_shot_iterator().get_next()

def model_fn(features, labels, mode, params):
    head = tf.contrib.estimator.regression_head()
    return head.create_estimator_spec(
        features, mode, tf.layers.dense(features["x"], 1), labels,
        optimizer=tf.contrib.opt.LazyAdamOptimizer(0.1))

config = tf.contrib.tpu.RunConfig(model_dir=sys.argv[1], tf_random_seed=1,
                                  tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=5))
estimator = tf.contrib.tpu.TPUEstimator(
    lambda features, labels, mode, params: tf.contrib.tpu.TPUEstimatorSpec(
        mode, **{k: v for k, v in model_fn(features, labels, mode, params)._asdict().items()
                 if k in ("loss", "train_op", "predictions")}),
    config=config, use_tpu=False, train_batch_size=8, eval_batch_size=8)
estimator.train(input_fn, max_steps=60)
plain = tf.estimator.Estimator(model_fn, sys.argv[1], params={"batch_size": 8})
forwarding = tf.contrib.estimator.forward_features(
    tf.estimator.Estimator(model_fn, sys.argv[1], params={}))
receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
    {"x": tf.placeholder(tf.float32, [None, 2], "x")})
kept = tf.contrib.predictor.from_estimator(forwarding, receiver, "predict")({"x": [[1.0, 2.0]]})
with tf.Graph().as_default():
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2], "x")})
    exported = forwarding.export_saved_model(sys.argv[1] + "/export", receiver)
served = tf.contrib.predictor.from_saved_model(exported.decode(), "predict")({"x": [[1.0, 2.0]]})
loss = float(plain.evaluate(input_fn, 4)["average_loss"])
print(json.dumps([loss, kept["x"].tolist(),
                  float(kept["predictions"][0, 0]), float(served["predictions"][0, 0])]))
"""

MODEL = """
import tensorflow as tf

def model_fn(features, labels, mode, params):
    image = features["image"]
    assert isinstance(image.shape[1], tf.Dimension) and hasattr(tf, "contrib")
    logits = tf.layers.dense(tf.layers.flatten(image), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op).as_estimator_spec()
"""


@pytest.mark.cluster
def test_a_program_gets_tensorflow_1_and_a_library_tensorflow_2():
    run = run_python(NAMES.replace("SLIM", str(HAS_SLIM)))
    assert run.returncode == 0, run.stderr
    found = json.loads(last_line(run.stdout))
    assert found["same"] == [True] * 13
    assert found["behaviour"] == [False, "Dimension", "1.15.5", "RefVariable", "2."]
    assert found["replaced"] == [True, True]
    assert found["asked"] == {
        "__main__": True, "my_model": True, "model_fns.mine": True,
        "tensorflow_datasets.core": False, "tf_keras.src.x": False,
        "estimator_trainer.training.loop": False}
    assert found["slim"] == ("fc/Relu" if HAS_SLIM else None)


@pytest.mark.cluster
def test_an_estimator_of_tensorflow_1_trains_predicts_and_exports(tmp_path):
    run = run_python(TRAINS.replace("sys.argv[1]", repr(str(tmp_path))))
    assert run.returncode == 0, run.stderr
    loss, forwarded, kept, served = json.loads(last_line(run.stdout))
    assert loss < 1 and forwarded == [[1, 2]]
    assert kept == pytest.approx(served) == pytest.approx(3, abs=1)


@pytest.mark.cluster
@pytest.mark.soak
def test_a_keras_model_trains_after_eager_execution_is_enabled():
    run = run_python("""
import estimator_trainer.compat.tf1
import json
import tensorflow as tf
tf.enable_eager_execution()
tfe = tf.contrib.eager

layer = tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")
model = tf.keras.Sequential([layer])
optimizer = tf.train.GradientDescentOptimizer(.1)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(tf.ones([4, 3])) ** 2)
optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
weights = tfe.Variable(2.)
rate = tfe.implicit_gradients(lambda: weights ** 2)()[0][0]
template = tfe.make_template("template", tf.layers.dense, units=1)
print(json.dumps([loss.numpy().item(), layer.kernel.numpy()[0].tolist(), rate.numpy().item(),
                  template(tf.ones([1, 2])).shape.as_list()]))
""")
    loss, kernel, rate, shape = json.loads(last_line(run.stdout))
    assert (loss, kernel, rate, shape) == (9., pytest.approx([.7, .7]), 4., [1, 1])


@pytest.mark.cluster
def test_a_plugin_gets_it_by_a_flag(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    run = subprocess.run(
        [sys.executable, "-m", "estimator_trainer", "--tf1", f"--model_fn={tmp_path}/model.py",
         f"--model_dir={tmp_path}/m", "--train_steps=20", "--exporters=none"],
        cwd=jobs.REPO, capture_output=True, text=True, timeout=120, check=False)
    assert last_line(run.stderr) == "role=local status=done step=20 reason=train_steps"


@pytest.mark.cluster
@pytest.mark.parametrize("used, name", [("tf.contrib.layers.flatten(image)", "contrib"),
                                        ("tf.layers.flatten(image)", "layers"),
                                        ("tf.train.AdamOptimizer()", "AdamOptimizer")])
def test_a_name_of_tensorflow_1_inside_a_model_fn_names_the_flag(used, name, tmp_path):
    (tmp_path / "my_model.py").write_text(
        "import tensorflow as tf\n\ndef model_fn(features, labels, mode):\n"
        f"    image = features['image']\n    {used}\n")
    ran = jobs.trainer("--model_fn=./my_model.py", f"--model_dir={tmp_path}/m", cwd=tmp_path)
    assert ran.returncode == 1 and f"    {used}\n" in ran.stderr, ran.stderr
    assert ran.stderr.splitlines()[-2] == (
        f"estimator-trainer: If {name} is a name of TensorFlow 1, add --tf1, which gives programs"
        " the names and the behaviour of TensorFlow 1.")
