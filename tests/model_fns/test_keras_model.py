"""Compiled Keras models as the plug-in `keras_model` trains them."""

from __future__ import annotations

import json
import textwrap

import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer.estimator import keras_model as conversion
from model_fns import keras_model
from tests.support import jobs

# Its weights are known, and training leaves them alone, except for the batch normalization's.
KNOWN_WEIGHTS = """
    import numpy as np, tensorflow as tf
    def build():
        image = tf.keras.Input((8, 8, 1), name="picture")
        inner = tf.keras.Sequential([tf.keras.layers.Dense(4, name="second"),
                                     tf.keras.layers.BatchNormalization(name="normal"),
                                     tf.keras.layers.Dropout(0.5)])
        hidden = inner(tf.keras.layers.Dense(4, name="first")(tf.keras.layers.Flatten()(image)))
        model = tf.keras.Model(image, tf.keras.layers.Dense(10)(hidden))
        model.compile(tf.keras.optimizers.SGD(0.0),
                      tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        # The values differ, so that dropout shows.
        model.set_weights([np.full(w.shape, i + 1, np.float32) + (np.arange(w.size).reshape(w.shape)
                           if i > 7 else 0) for i, w in enumerate(model.get_weights())])
        return model
"""
# Other weights in each task, as random ones would be.
OWN_WEIGHTS = """
    import os, numpy as np, tensorflow as tf
    model = tf.keras.Sequential([tf.keras.layers.Input((8, 8, 1)), tf.keras.layers.Flatten(),
                                 tf.keras.layers.Dense(10)])
    model.compile(tf.keras.optimizers.SGD(0.5),
                  tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
    is_worker = '"type": "worker"' in os.environ.get("TF_CONFIG", "")
    model.set_weights([np.linspace(-0.1, 0.5 if is_worker else 0.1, w.size).reshape(w.shape)
                       for w in model.get_weights()])
"""
UNFIT = """
    import tensorflow as tf
    def two_inputs():
        inputs = [tf.keras.Input((8,), name=name) for name in ("first", "second")]
        model = tf.keras.Model(inputs, tf.keras.layers.Add()(inputs))
        model.compile("sgd", "mse")
        return model
    def uncompiled():
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])
    nothing_of_keras = 3
"""


@pytest.fixture
def run(tmp_path, data_dir, capfd):
    """Runs a command on a Keras model, given as code and name, in this process."""

    def run_command(*args, code="", name="", expected_code=0):
        flags = ["--model_fn=keras_model", f"--param=data_dir={data_dir}",
                 f"--model_dir={tmp_path}/model"]
        if code:
            (tmp_path / "my_keras.py").write_text(textwrap.dedent(code))
            flags.append(f"--param=keras_model={tmp_path}/my_keras.py:{name}")
        ended = cli.main([*args, *flags])
        out, err = capfd.readouterr()
        assert ended == expected_code, err
        return out, err

    return run_command


def _variable(tmp_path, step, name):
    return tf.train.load_variable(f"{tmp_path}/model/model.ckpt-{step}", name)


@pytest.mark.cluster
def test_default_model_learns_the_digits_and_is_exported(run, tmp_path):
    run("--train_steps=200")
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["step"] == 200 and result["metrics"]["accuracy"] > 0.9
    [export] = result["exports"]
    assert tf.saved_model.load(export).signatures["serving_default"](
        tf.zeros([3, 8, 8, 1]))["logits"].shape == (3, 10)
    out, _ = run("predict", f"--export_dir={export}")
    assert len(out.splitlines()) == 355 and len(json.loads(out.splitlines()[0])["logits"]) == 10


@pytest.mark.cluster
def test_model_starts_from_its_weights_and_resumes_from_the_runs(run, tmp_path):
    run("--train_steps=2", "--save_checkpoints_steps=1", "--keep_checkpoint_max=9",
        code=KNOWN_WEIGHTS, name="build")
    names = ["first/kernel", "first/bias", "second/kernel", "second/bias", "normal/gamma",
             "normal/beta"]
    for i, name in enumerate(names):
        assert (_variable(tmp_path, 2, name) == i + 1).all(), name
    # The averages start where the model has them, and each step moves them by a hundredth.
    variance = "normal/moving_variance"
    assert _variable(tmp_path, 0, variance) == pytest.approx([8.0] * 4)
    before = _variable(tmp_path, 2, variance)
    run("--train_steps=3", code=KNOWN_WEIGHTS, name="build")
    assert not (_variable(tmp_path, 3, variance) == before).any()
    assert _variable(tmp_path, 3, variance) == pytest.approx(before, rel=0.5)


@pytest.mark.cluster
def test_model_uses_dropout_in_training_alone(tmp_path):
    (tmp_path / "dropping.py").write_text(textwrap.dedent(KNOWN_WEIGHTS))
    params = {"keras_model": f"{tmp_path}/dropping.py:build", "num_classes": 10}
    model_fn = conversion.model_fn_of(keras_model.model_fn(params), "keras_model")
    losses = {}
    for mode in (tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.train.create_global_step()
            images = tf.random.stateless_uniform([32, 8, 8, 1], seed=(1, 2))
            spec = model_fn({"picture": images}, tf.range(32) % 10, mode, tf.estimator.RunConfig())
            session.run(tf.compat.v1.global_variables_initializer())
            losses[mode] = {float(session.run(spec.loss)) for _ in range(5)}
    assert len(losses["train"]) > 1 and len(losses["eval"]) == 1


@pytest.mark.cluster
@pytest.mark.parametrize("name, expected", [
    ("two_inputs", "whose inputs are first, second, but the features of the input_fn are image"),
    ("uncompiled", "which gives an uncompiled model"),
    ("nothing_of_keras", "which gives a int"),
    ("missing", "which gives nothing"),
])
def test_model_that_cannot_be_trained_is_one_sentence(run, name, expected):
    _, err = run("--train_steps=1", code=UNFIT, name=name, expected_code=2)
    assert expected in err and "Traceback" not in err


def _run_cluster(tmp_path, hosts, args):
    with jobs.running(tmp_path, hosts, ["--model_fn=keras_model", *args]) as tasks:
        jobs.wait(list(tasks.values()), 120)
        for task in tasks.values():
            assert "Traceback" not in task.log and "WARNING" not in task.log, task.log
    return json.loads((tmp_path / "model" / "result.json").read_text())


@pytest.mark.any_tensorflow
@pytest.mark.cluster
@pytest.mark.soak
def test_model_is_converted_by_asynchronous_tasks_at_once(tmp_path, data_dir):
    result = _run_cluster(tmp_path, jobs.cluster(chief=1, worker=2, ps=1), [
        f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model", "--train_steps=200"])
    # How far so many steps get depends on whose stale gradients come when.
    assert 200 <= result["step"] <= 202 and result["metrics"]["accuracy"] > 0.4
    assert len(result["exports"]) == 1


@pytest.mark.cluster
@pytest.mark.soak
def test_model_trains_by_all_reduce_as_in_one_process(tmp_path, data_dir):
    (tmp_path / "own.py").write_text(textwrap.dedent(OWN_WEIGHTS))
    flags = [f"--param=data_dir={data_dir}", f"--param=keras_model={tmp_path}/own.py:model",
             "--param=batch_size=1442", "--param=shuffle_buffer=0", "--train_steps=2",
             "--exporters=none"]
    alone = jobs.trainer("--model_fn=keras_model", *flags, f"--model_dir={tmp_path}/alone")
    assert alone.returncode == 0, alone.stderr
    expected = json.loads((tmp_path / "alone" / "result.json").read_text())["metrics"]["loss"]
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1), [
            "--model_fn=keras_model", *flags, f"--model_dir={tmp_path}/model",
            "--train_distribute=multi_worker_mirrored", "--log_every_steps=1"]) as tasks:
        jobs.wait(list(tasks.values()), 120)
    result = json.loads((tmp_path / "model" / "result.json").read_text())
    assert result["step"] == 2 and result["metrics"]["loss"] == pytest.approx(expected, rel=1e-5)
    # The log shows the loss of the whole batch, not a replica's part of it.
    assert dict(tasks["chief:0"].losses)[2] == pytest.approx(2.2, rel=0.1)
