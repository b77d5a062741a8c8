"""A fresh run starts from another run's model, and frozen variables stay as they are."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
import tensorflow as tf

from tests.support import jobs

_PROGRAM = """
    import numpy as np
    import tensorflow as tf
    v1 = tf.compat.v1
    X = np.random.RandomState(0).rand(200, 8).astype(np.float32) * 5 + 7
    Y = (X.sum(1) > X.sum(1).mean()).astype(np.int32)
    DEFAULT_PARAMS = {"rate": 0.02, "optimizer": "v1", "scope": "body", "classes": 2,
                      "extra": False, "decay": False, "always": False}

    def input_fn(mode):
        data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
        return (data.shuffle(200, 1).repeat() if mode == "train" else data).batch(50, True)

    def model_fn(features, labels, mode, params):
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        body = [tf.keras.layers.BatchNormalization(momentum=0.8, name=params["scope"] + "/bn"),
                tf.keras.layers.Dense(16, "relu", name=params["scope"] + "/dense")]
        if params["extra"]:
            body.append(tf.keras.layers.Dense(16, "relu", name="extra"))
        logits = features["x"]
        for layer in [*body, tf.keras.layers.Dense(params["classes"], name="head")]:
            is_norm = isinstance(layer, tf.keras.layers.BatchNormalization)
            logits = layer(logits, training=is_training) if is_norm else layer(logits)
        classes = tf.argmax(logits, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        step, variables, op = v1.train.get_global_step(), v1.trainable_variables(), None
        is_training = is_training or params["always"]
        if is_training and params["optimizer"] == "keras":
            optimizer = tf.keras.optimizers.legacy.Adam(params["rate"])
            optimizer.iterations = step
            op = tf.group(*optimizer.get_updates(loss, variables))
        elif is_training:
            optimizer = v1.train.AdamOptimizer(params["rate"])
            op = optimizer.minimize(loss, step, var_list=variables)
        if op is not None:
            op = tf.group(op, *body[0].updates)
        if op is not None and params["decay"]:
            op = tf.group(op, *[each.assign_sub(each * 0.01) for each in variables])
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=op,
            eval_metric_ops={"accuracy": v1.metrics.accuracy(labels, classes)})
"""


def _train(folder, name, *flags, code=0):
    """Trains in the folder's directory of a name; returns what the log says."""
    (folder / "program.py").write_text(textwrap.dedent(_PROGRAM))
    ran = jobs.trainer(
        "--model_fn=./program.py", "--input_fn=./program.py", f"--model_dir={name}",
        "--exporters=none", "--num_evaluations=0", "--noreport", "--seed=1", *flags, cwd=folder)
    assert ran.returncode == code and "Traceback" not in ran.stderr, ran.stderr
    return ran.stderr


def _values(model_dir):
    reader = tf.train.load_checkpoint(str(model_dir))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def _assert_frozen(old, new):
    """Asserts that the body is the same to the last bit, and the head is not."""
    same = {name for name in old.keys() & new.keys() if np.array_equal(old[name], new[name])}
    trained = {"body/bn/gamma", "body/bn/beta", "body/dense/kernel", "body/dense/bias"}
    assert trained <= same and not {"head/kernel", "head/bias"} & same
    assert not any("Adam" in name and "body" in name for name in new)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """A folder with the model_dir `old`, in which a network with batch norm has learned."""
    folder = tmp_path_factory.mktemp("warm")
    _train(folder, "old", "--train_steps=200")
    assert jobs.result(folder / "old")["metrics"]["accuracy"] > 0.95
    return folder


@pytest.mark.cluster
def test_apply_brings_the_statistics_of_batch_norm(old):
    log = _train(old, "new", "--train_steps=1", "--warm_start_from=old", "--param=rate=0",
                 "--param=scope=trunk", "--warm_start_rename=body/=trunk/", "--verbose")
    before, after = (jobs.result(old / name)["metrics"] for name in ("old", "new"))
    # The one step moves the statistics a little.
    assert after["accuracy"] == pytest.approx(before["accuracy"], abs=0.02)
    assert "takes 8 of the model's 8 variables, 6 trainable and 2 others" in log
    assert "trunk/bn/moving_mean from body/bn/moving_mean" in log
    log = _train(old, "new", "--train_steps=2", "--warm_start_from=old", "--param=scope=trunk")
    assert "warm_start_from is ignored: training resumes from" in log


@pytest.mark.cluster
@pytest.mark.soak
def test_frozen_variables_keep_their_values_in_each_optimizer(old):
    log = _train(old, "head", "--train_steps=30", "--warm_start_from=old", "--freeze=body",
                 "--warm_start_vars=body", "--param=extra=true", "--param=always=true")
    _assert_frozen(_values(old / "old"), _values(old / "head"))
    assert "frozen: 4 of 8 trainable variables (body/bn/beta, " in log
    assert "warm start does not take 4: extra/bias (--warm_start_vars), " in log


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("optimizer", ["v1", "keras"])
@pytest.mark.parametrize("shape", ["one", "mirrored"])
def test_frozen_variables_keep_their_values_in_one_process(old, tmp_path, shape, optimizer):
    strategy = {"one": [], "mirrored": ["--train_distribute=mirrored", "--num_replicas=2"]}
    log = _train(tmp_path, "new", "--train_steps=30", f"--warm_start_from={old}/old",
                 "--freeze=body", f"--param=optimizer={optimizer}", *strategy[shape])
    assert "frozen: 4 of 6" in log and "takes 8 of the model's 8 variables" in log
    _assert_frozen(_values(old / "old"), _values(tmp_path / "new"))


@pytest.mark.cluster
@pytest.mark.soak
def test_frozen_variables_keep_their_values_in_central_storage(tmp_path):
    log = _train(tmp_path, "new", "--train_steps=30", "--freeze=body",
                 "--train_distribute=central_storage", "--num_replicas=2")
    assert "frozen: 4 of 6" in log
    _assert_frozen(_values(tmp_path / "new" / "model.ckpt-0"), _values(tmp_path / "new"))


@pytest.mark.cluster
@pytest.mark.soak
@pytest.mark.parametrize("hosts, flags", [
    ({"chief": 1, "ps": 1}, []),
    ({"chief": 1, "worker": 1}, ["--train_distribute=multi_worker_mirrored"])])
def test_frozen_variables_keep_their_values_in_a_cluster(old, tmp_path, hosts, flags):
    flags = [f"--model_fn={old}/program.py", f"--input_fn={old}/program.py", "--noreport",
             f"--model_dir={tmp_path}/new", "--train_steps=30", "--exporters=none",
             f"--warm_start_from={old}/old", "--freeze=body", "--num_evaluations=0", *flags]
    with jobs.running(tmp_path, jobs.cluster(**hosts), flags) as tasks:
        jobs.wait([*tasks.values()], 120)
    _assert_frozen(_values(old / "old"), _values(tmp_path / "new"))
    assert "takes 8 of the model's 8 variables" in tasks["chief:0"].log


@pytest.mark.cluster
@pytest.mark.soak
def test_apply_gives_a_resnet_its_accuracy(tmp_path, data_dir):
    def train(name, *flags):
        ran = jobs.trainer(
            "--model_fn=resnet", "--param=variant=cifar", "--param=depth=8",
            "--param=warmup_steps=0",
            f"--param=data_dir={data_dir}", f"--model_dir={name}", "--noreport",
            "--exporters=none", "--num_evaluations=0", *flags, cwd=tmp_path, timeout_secs=400)
        assert ran.returncode == 0, ran.stderr
        return jobs.result(tmp_path / name)["metrics"]["accuracy"]

    learned = train("old", "--train_steps=300")
    assert learned > 0.9
    assert train("new", "--train_steps=1", "--warm_start_from=old",
                 "--param=learning_rate=0") == pytest.approx(learned, abs=0.02)


@pytest.mark.cluster
@pytest.mark.parametrize("flags, problem", [
    (["--warm_start_from=old", "--param=classes=3"], "head/bias is float32[2], and head/bias of"
     " the model is float32[3]"),
    (["--freeze=haed"], "'haed' matches no trainable variable of model_fn './program.py'. Did you"
     " mean 'head'?"),
    *(pytest.param(*each, marks=pytest.mark.soak) for each in (
        (["--warm_start_from=none"], "warm_start_from is 'none' (from --warm_start_from), where"
         " there is no checkpoint"),
        (["--warm_start_from=old", "--warm_start_vars=bodi"], "'bodi' matches no variable of"),
        (["--warm_start_from=old", "--param=extra=true"], "lacks extra/bias, extra/kernel"),
        (["--warm_start_from=old", "--warm_start_rename=trunk/=body/"],
         "there is no variable 'trunk/' in old"),
        (["--freeze=.*"], "leaves nothing of model_fn './program.py' to train"),
        (["--freeze=body", "--param=decay=true"], "changes body/bn/beta, body/bn/gamma,"))),
])
def test_apply_refuses_a_mistake_in_one_sentence(old, flags, problem):
    assert problem in _train(old, "wrong", "--train_steps=1", *flags, code=2)


@pytest.mark.cluster
@pytest.mark.soak
def test_apply_leaves_out_missing_and_misfit_variables_in_words(old):
    log = _train(old, "part", "--train_steps=1", "--warm_start_from=old", "--param=extra=true",
                 "--param=classes=3", "--warm_start_missing", "--warm_start_vars=(?!head)")
    assert "takes 6 of the model's 10 variables, 4 trainable and 2 others" in log
    assert "does not take 4: extra/bias (not there), extra/kernel (not there), head/bias" in log
