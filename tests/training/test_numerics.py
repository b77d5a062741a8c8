"""A NaN ends training before a checkpoint holds it; slow steps get advice on bfloat16."""

from __future__ import annotations

import pathlib
import textwrap
import time

import pytest
import tensorflow as tf

from estimator_trainer import machine
from estimator_trainer.cluster import task_config
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import numerics
from estimator_trainer.training.loop_size import LoopSize
from tests.support import jobs, slow_jobs

# After the batch with the NaN the weights are NaN, and the loss is finite: the function makes 0 of
# NaN, as a ReLU may.
_PROGRAM = """
    import sys
    try:
        import estimator_trainer.compat
    except ImportError:
        pass
    import numpy as np
    import tensorflow as tf
    v1 = tf.compat.v1
    DEFAULT_PARAMS = {"nan_at": 0}

    def input_fn(mode, params):
        x = np.random.RandomState(1).rand(640, 4).astype("float32")
        y = (x.sum(1, keepdims=True) > 2).astype("float32")
        if mode == "train":
            x[params["nan_at"], 0] = np.nan
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
        return dataset.repeat() if mode == "train" else dataset

    def model_fn(features, labels, mode, params):
        v1.get_variable("number", [], tf.int32, initializer=tf.zeros_initializer())
        with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2)):
            w = tf.convert_to_tensor(v1.get_variable("w", [4, 8]))
        bias = v1.get_variable("bias", [1], initializer=tf.zeros_initializer())
        hidden = features @ w
        hidden = tf.where(hidden > 0, hidden, tf.zeros_like(hidden))
        logits = tf.reduce_sum(hidden, 1, keepdims=True) + bias
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
        loss = v1.losses.sigmoid_cross_entropy(labels, logits)
        variables = [each for each in v1.trainable_variables() if each.dtype.is_floating]
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(
            loss, v1.train.get_global_step(), variables)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    if __name__ == "__main__":
        config = tf.estimator.RunConfig(sys.argv[1], save_checkpoints_steps=20)
        tf.estimator.train_and_evaluate(
            tf.estimator.Estimator(model_fn, config=config, params={"nan_at": 400}),
            tf.estimator.TrainSpec(input_fn, max_steps=100), tf.estimator.EvalSpec(input_fn, None))
"""


@pytest.fixture(name="program")
def _program(tmp_path):
    path = tmp_path / "ruined.py"
    path.write_text(textwrap.dedent(_PROGRAM))
    return path


def _flags(program, *extra):
    return [f"--model_fn={program}", f"--input_fn={program}", f"--model_dir={program.parent}/model",
            "--train_steps=100", "--save_checkpoints_steps=20", "--param=nan_at=400", *extra]


def _assert_recorded(log, model_dir):
    assert "variable 'net/w' has values that are NaN or infinite at step 60" in log, log
    assert f"The last good checkpoint is that of step 40: {model_dir}/model.ckpt-40." in log, log


@pytest.mark.cluster
def test_numerics_listener_names_the_variable_and_saves_nothing(program, tmp_path):
    ran = jobs.trainer(*_flags(program))
    assert ran.returncode == 1 and "Traceback" not in ran.stderr, ran.stderr
    assert "the features are nan in example 1 of batch 51 of the training input." in ran.stderr
    _assert_recorded(ran.stderr, tmp_path / "model")
    assert jobs.saved_step(tmp_path / "model") == 40
    assert jobs.result(tmp_path / "model")["status"] == "failed"
    assert not (tmp_path / "model" / "export").exists()


@pytest.mark.cluster
def test_numerics_listener_can_be_switched_off(program, tmp_path):
    ran = jobs.trainer(*_flags(program, "--nocheck_numerics", "--exporters=none"))
    assert ran.returncode == 0 and "net/w" not in ran.stderr, ran.stderr
    ran = jobs.trainer("run", str(program), "--", f"{tmp_path}/of_script")
    assert ran.returncode == 0, ran.stderr
    warning = "WARNING: variable 'net/w' has values that are NaN or infinite at step 60"
    assert ran.stderr.count(warning) == 1, ran.stderr
    assert jobs.saved_step(tmp_path / "of_script") == 100


@pytest.mark.cluster
@pytest.mark.parametrize("kind", [*slow_jobs.KINDS, slow_jobs.soak("mirrored")])
def test_numerics_listener_ends_every_task_of_a_job(kind, program, tmp_path):
    if kind == "mirrored":
        ran = jobs.trainer(*_flags(program, "--train_distribute=mirrored", "--num_replicas=2"))
        assert ran.returncode == 1, ran.stderr
        assert "variable 'net/w' has values that are NaN or infinite at step 40" in ran.stderr
        return
    hosts, extra = slow_jobs.cluster(kind)
    # Enough steps that no trainer ends before the chief has checked.
    args = [*_flags(program), "--train_steps=5000", "--peer_timeout_secs=10",
            "--stall_timeout_secs=30", *extra]
    with jobs.running(tmp_path, hosts, args) as tasks:
        slow_jobs.wait_for_all(tasks, 60)
    slow_jobs.assert_codes(tasks, 1)
    log = tasks["chief:0"].log
    assert "variable 'net/w' has values that are NaN or infinite at step" in log, log
    assert "The last good checkpoint is that of step " in log, log


def _lines(monkeypatch, caplog, step_secs, waited_share=0.0):
    """Returns the lines of a training of 200 session runs of one step each."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    loop_size = LoopSize(TrainerConfig(steps_per_loop=1), is_exact=True)
    hook = numerics.Bfloat16Advice(loop_size, "avx512_bf16")
    with caplog.at_level("INFO"):
        for step in range(int(10 / step_secs)):
            loop_size.plan(step)
            now[0] += step_secs
            loop_size.made(1, waited_share * step_secs)
            hook.after_run(None, None)
    return [record.getMessage() for record in caplog.records]


@pytest.mark.any_tensorflow
def test_bfloat16_advice_comes_once_for_long_steps(monkeypatch, caplog):
    assert _lines(monkeypatch, caplog, 0.05) == [
        "a step takes 50 ms, and this CPU multiplies in bfloat16 (avx512_bf16):"
        " --mixed_precision=bfloat16 is worth a try"]


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("step_secs,waited_share", [(0.002, 0.0), (0.05, 0.5)],
                         ids=["short steps", "steps that wait for input"])
def test_bfloat16_advice_does_not_come_where_useless(step_secs, waited_share, monkeypatch, caplog):
    assert not _lines(monkeypatch, caplog, step_secs, waited_share)


@pytest.mark.any_tensorflow
def test_bfloat16_advice_ignores_one_delayed_step(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    loop_size = LoopSize(TrainerConfig(steps_per_loop=1), is_exact=True)
    hook = numerics.Bfloat16Advice(loop_size, "avx512_bf16")
    with caplog.at_level("INFO"):
        for step, secs in enumerate([0.002, 0.002, 0.002, 1.2, 1.2]):
            loop_size.plan(step)
            now[0] += secs
            loop_size.made(1, 0.0)
            hook.after_run(None, None)
    assert not caplog.records


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("flags,config,counts,index,is_recorded", [
    ("fma avx512_bf16 amx_bf16", {}, {"chief": 1}, 0, True),
    ("fma avx512_bf16", {}, {"chief": 1, "worker": 1}, 0, True),
    ("fma avx512f", {}, {"chief": 1}, 0, False),
    ("fma avx512_bf16", {"mixed_precision": "bfloat16"}, {"chief": 1}, 0, False),
    ("fma avx512_bf16", {}, {"chief": 1, "worker": 1}, 1, False),
    ("fma avx512_bf16", {}, {"chief": 1, "ps": 1}, 0, False)],
    ids=["amx", "all-reduce", "an older CPU", "done already", "a worker", "a ps"])
def test_bfloat16_advice_is_the_chiefs_on_a_suitable_cpu(
        flags, config, counts, index, is_recorded, monkeypatch):
    monkeypatch.setattr(pathlib.Path, "read_text", lambda *_, **__: f"flags\t\t: {flags}\n")
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda _: [])
    config = TrainerConfig(**config)
    task = task_config.of_counts(counts)[index]
    advice = numerics.for_training(config.mixed_precision, LoopSize(config, is_exact=True), task)
    assert (advice is not None) == is_recorded


@pytest.mark.any_tensorflow
def test_bfloat16_instructions_of_an_unknown_cpu(monkeypatch):
    def no_file(*_, **__):
        raise FileNotFoundError("no /proc")

    monkeypatch.setattr(pathlib.Path, "read_text", no_file)
    assert machine.bfloat16_instructions() == ""


@pytest.mark.any_tensorflow
def test_a_variable_whose_value_is_made_of_the_next_batch_is_not_checked():
    class Rows:
        """Stands for the rows of a batch in a dynamic table."""

        name, device, dtype = "rows:0", "", tf.float32

        def __init__(self, value):
            self._value = value

        def __tf_tensor__(self, dtype=None, name=None):
            return self._value

    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensors([1.0])
        batch = tf.compat.v1.data.make_initializable_iterator(dataset).get_next()
        assert numerics._needs_input(numerics._is_finite(Rows(batch * 2)))
        variable = tf.compat.v1.get_variable("w", [2], use_resource=True)
        assert not numerics._needs_input(numerics._is_finite(variable))
