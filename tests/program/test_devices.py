"""Where and how a model computes: devices, placement, precision, compilation, profiles."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys

import pytest
import tensorflow as tf

from estimator_trainer import cli, errors
from estimator_trainer.cluster import task_config
from estimator_trainer.estimator import builder
from estimator_trainer.settings import trainer_config
from estimator_trainer.training import train_op
from tests.support import jobs

_GRAPH = """
import sys
from estimator_trainer import environment
settings = trainer_config.TrainerConfig(**{flags})
if settings.xla:
    environment.compile_on_cpus()
from estimator_trainer import compat
import tensorflow as tf
from estimator_trainer.estimator import builder
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None, 64])
    w = tf.compat.v1.get_variable("w", [64, 64], use_resource=True)
    loss = tf.reduce_mean(tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(x, w)), w)))
    step = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.compat.v1.Session(config=builder.config_of(settings)) as run:
        run.run(tf.compat.v1.global_variables_initializer())
        ran = tf.compat.v1.RunMetadata()
        run.run([step, loss], {{x: [[0.5] * 64] * 256}}, tf.compat.v1.RunOptions(
            output_partition_graphs=True), ran)
        for graph in ran.partition_graphs:
            for node in graph.node:
                kind = node.attr["T"].type if "MatMul" in node.op else ""
                print(node.op, tf.as_dtype(kind).name if kind else "")
"""


def _ops_that_run(**flags):
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", _GRAPH.format(flags=flags)],
                         env=jobs.environment(), capture_output=True, text=True, timeout=120,
                         check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _train(tmp_path, data_dir, *flags):
    """Trains a few steps on the digits; returns result.json and what was printed."""
    ran = jobs.trainer("--model_fn=mlp", f"--param=data_dir={data_dir}", "--train_steps=20",
                       "--param=learning_rate=0.1", "--seed=1", "--exporters=none",
                       f"--model_dir={tmp_path}", *flags)
    assert ran.returncode == 0, ran.stderr
    return json.loads((tmp_path / "result.json").read_text()), ran.stdout + ran.stderr


@pytest.mark.any_tensorflow
@pytest.mark.cluster
def test_the_device_of_every_op_is_logged_on_request(tmp_path, data_dir):
    _, shown = _train(tmp_path, data_dir, "--device=cpu:0", "--log_device_placement")
    assert re.search(r"hidden/kernel: \(VarHandleOp\): /job:localhost.*/device:CPU:0", shown)


@pytest.mark.any_tensorflow
@pytest.mark.cluster
def test_a_gpu_that_is_not_there_is_refused(tmp_path, data_dir, capsys):
    assert cli.main([f"--model_dir={tmp_path}", f"--param=data_dir={data_dir}",
                     "--device=gpu:7"]) == 2
    error = capsys.readouterr().err
    assert "device is 'gpu:7' (from --device), and TensorFlow sees" in error
    assert "Traceback" not in error and not (tmp_path / "record.json").exists()


@pytest.mark.parametrize("flags, expected", [
    ({"device": "gpu"}, "expected cpu:N or gpu:N. For example: --device=gpu:0"),
    ({"device": "cpu:0", "train_distribute": "mirrored"}, "'mirrored' (from --train_distribute)"),
    ({"profile_steps": "7"}, "For example: --profile_steps=100,110"),
    ({"profile_steps": "9,7"}, "For example: --profile_steps=100,110"),
    ({"mixed_precision": "bfloat61"}, "expected one of bfloat16, float16, none"),
])
def test_settings_of_devices_that_cannot_be_are_refused(flags, expected):
    with pytest.raises(errors.ConfigError, match=re.escape(expected)):
        trainer_config.TrainerConfig(**flags)


@pytest.mark.soak
@pytest.mark.cluster
def test_sixteen_bits_and_compilation_reach_the_ops_that_run():
    """This is one test for the sake of its time; bfloat16 needs no support of the CPU."""
    assert re.search(r"MatMul float32", _ops_that_run())
    assert "_XlaRun" in _ops_that_run(xla=True)
    if "avx512" in pathlib.Path("/proc/cpuinfo").read_text():
        assert re.search(r"MatMul bfloat16", _ops_that_run(mixed_precision="bfloat16"))


@pytest.mark.any_tensorflow
@pytest.mark.cluster
@pytest.mark.soak
def test_a_model_trains_as_well_compiled_and_in_sixteen_bits(tmp_path, data_dir):
    plain, _ = _train(tmp_path / "plain", data_dir)
    compiled, _ = _train(tmp_path / "xla", data_dir, "--xla")
    assert compiled["metrics"]["loss"] == pytest.approx(plain["metrics"]["loss"], rel=1e-4)
    short, _ = _train(tmp_path / "bfloat16", data_dir, "--mixed_precision=bfloat16")
    assert short["metrics"]["loss"] == pytest.approx(plain["metrics"]["loss"], rel=0.05)
    kernel = tf.train.load_variable(str(tmp_path / "bfloat16"), "hidden/kernel")
    assert kernel.dtype == "float32"


def test_float16_needs_a_gpu_and_a_scaled_loss():
    config = trainer_config.TrainerConfig(mixed_precision="float16", model_fn="./mine.py")
    if not tf.config.list_physical_devices("GPU"):
        with pytest.raises(errors.ConfigError, match="For example: --mixed_precision=bfloat16"):
            builder.config_of(config)
    with tf.Graph().as_default():
        train_op.request(config, task_config.parse(None))
        spec = tf.estimator.EstimatorSpec("train", loss=tf.constant(0.0), train_op=tf.no_op())
        with pytest.raises(errors.ConfigError, match="model_fn './mine.py' does not do it"):
            train_op.complete(spec, config, task_config.parse(None))


@pytest.mark.cluster
def test_chosen_steps_are_profiled_for_tensorboard(tmp_path, data_dir):
    _, shown = _train(tmp_path, data_dir, "--profile_steps=5,8")
    assert "profiled up to step 8" in shown
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))
