"""Several training steps in one session run are the same training, in less time."""

from __future__ import annotations

import json
import re
import signal
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer.graph import operations
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import loop
from estimator_trainer.training.loop_size import LoopSize
from tests.support import jobs

pytestmark = pytest.mark.cluster

# A model of Keras layers, whose train_op runs the updates of batch norm, with costly summaries and
# a table.
_NORMALIZED = """
    import tensorflow as tf
    from model_fns.training import classifier
    def model_fn(features, labels, mode):
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        x = tf.keras.layers.Flatten()(features["image"])
        tf.compat.v1.summary.image("bright", tf.sqrt(features["image"]))
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
            tf.range(10, dtype=tf.int64), tf.range(9, -1, -1, dtype=tf.int64)), -1)
        labels = table.lookup(labels)
        x = tf.keras.layers.Dense(16, "relu")(x)
        tf.compat.v1.summary.histogram("exp", tf.exp(x))
        norm = tf.keras.layers.BatchNormalization(name="norm")
        x = norm(x, training=is_training)
        x = tf.keras.layers.Dropout(0.1)(x, training=is_training)
        spec = classifier.spec(tf.keras.layers.Dense(10)(x), labels, mode, {"num_classes": 10})
        if is_training:
            spec = spec._replace(train_op=tf.group(spec.train_op, *norm.updates))
        return spec
"""


def _train(model_dir, data_dir, *flags):
    """Trains; returns its log, and the variables of the last checkpoint."""
    ran = jobs.trainer(f"--param=data_dir={data_dir}", f"--model_dir={model_dir}", "--seed=1",
                       "--exporters=none", *flags)
    assert ran.returncode == 0, ran.stderr
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(model_dir)))
    return ran.stderr, {name: reader.get_tensor(name)
                        for name in reader.get_variable_to_shape_map()}


def _steps_of_events(model_dir):
    return {(value.tag, event.step) for path in model_dir.glob("events*")
            for event in tf.compat.v1.train.summary_iterator(str(path))
            for value in event.summary.value if value.tag != "global_step/sec"}


@pytest.mark.parametrize("model", [
    "normalized", *(pytest.param(name, marks=pytest.mark.soak) for name in ("linear", "cnn"))])
def test_loop_trains_the_same_model_and_acts_at_the_same_steps(model, tmp_path, data_dir):
    (tmp_path / "normalized.py").write_text(textwrap.dedent(_NORMALIZED))
    name = f"{tmp_path}/normalized.py" if model == "normalized" else model
    flags = [f"--model_fn={name}", "--train_steps=203", "--save_checkpoints_steps=70",
             "--save_summary_steps=30", "--log_every_steps=50"]
    log, one = _train(tmp_path / "one", data_dir, *flags, "--steps_per_loop=1")
    looped, many = _train(tmp_path / "many", data_dir, *flags, "--steps_per_loop=0")
    assert one.keys() == many.keys() and many["global_step"] == 203
    for key, value in one.items():
        np.testing.assert_allclose(many[key], value, rtol=1e-5, atol=1e-6, err_msg=key)
    shown = r"(evaluated step .*?loss [\d.]+|Saving checkpoints for \d+|step \d+/203  loss \S+)"
    assert re.findall(shown, looped) == re.findall(shown, log)
    written = _steps_of_events(tmp_path / "many")
    # In single runs TensorFlow's own hook reads the step beside the run, at times one too late.
    assert {tag for tag, _ in written} == {tag for tag, _ in _steps_of_events(tmp_path / "one")}
    assert {step for _, step in written} == set(range(1, 204, 30))


def test_loop_adds_up_gradients_as_single_runs_do(tmp_path, data_dir):
    flags = ["--model_fn=mlp", "--param=accumulate_steps=3", "--train_steps=40"]
    _, one = _train(tmp_path / "one", data_dir, *flags, "--steps_per_loop=1")
    log, many = _train(tmp_path / "many", data_dir, *flags, "--steps_per_loop=50")
    assert "one step in a session run" not in log and many["global_step"] == 40
    for key, value in one.items():
        np.testing.assert_allclose(many[key], value, rtol=1e-5, atol=1e-6, err_msg=key)


def test_loop_ends_with_the_input_and_logs_it(tmp_path, data_dir):
    log, variables = _train(tmp_path, data_dir, "--model_fn=linear", "--train_epochs=3",
                            "--steps_per_loop=1000")
    assert variables["global_step"] == 3 * 1442 // 64
    assert "reason=input_exhausted" in log or json.loads(
        (tmp_path / "result.json").read_text())["reason"] == "input_exhausted"


def test_loop_ends_soon_at_sigterm_and_saves(tmp_path, data_dir):
    task = jobs.start(tmp_path, "local", [
        "--model_fn=linear", f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model",
        "--train_steps=100000000", "--steps_per_loop=0", "--log_every_steps=1000"])
    try:
        jobs.wait_for(lambda: task.losses, 60)
        task.process.send_signal(signal.SIGTERM)
        jobs.wait_for(lambda: task.code is not None, 30)
        assert task.code == 143, task.log
        assert jobs.saved_step(tmp_path / "model") >= task.losses[-1][0]
    finally:
        jobs.kill(task)


@pytest.mark.parametrize("flags, reason", [
    (["--model_fn=./hooked.py"], "its EstimatorSpec has training hooks"),
])
def test_loop_that_is_unsupported_gives_the_reason(flags, reason, tmp_path, data_dir):
    (tmp_path / "hooked.py").write_text(textwrap.dedent("""
        import tensorflow as tf
        from model_fns.training import classifier
        def model_fn(features, labels, mode):
            x = tf.keras.layers.Flatten()(features["image"])
            spec = classifier.spec(tf.keras.layers.Dense(10)(x), labels, mode, {"num_classes": 10})
            return spec._replace(training_hooks=[tf.estimator.SessionRunHook()])
        """))
    common = [f"--param=data_dir={data_dir}", "--train_steps=5", "--exporters=none", *flags]
    refused = jobs.trainer(*common, f"--model_dir={tmp_path}/asked", "--steps_per_loop=10",
                           cwd=tmp_path)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    assert reason in refused.stderr and "For example: --steps_per_loop=1" in refused.stderr
    chosen = jobs.trainer(*common, f"--model_dir={tmp_path}/chosen", "--steps_per_loop=0",
                          cwd=tmp_path)
    assert chosen.returncode == 0 and f"one step in a session run: {reason}" in chosen.stderr


def test_loop_size_makes_single_runs_before_what_is_due():
    loop_size = LoopSize(TrainerConfig(
        steps_per_loop=50, train_steps=130, log_every_steps=100, save_summary_steps=1000,
        save_checkpoints_steps=60), is_exact=True)
    loop_size.start(0)
    step, ends = 0, []
    while step < 130:
        step += loop_size.plan(step)
        loop_size.made(loop_size.steps, 0.0)
        ends.append(step)
    assert {60, 100, 120, 130} <= set(ends)
    for due in (60, 100, 120, 130):
        at = ends.index(due)
        assert ends[at - 1] == due - 1 and ends[at - 2] == due - 2
    assert ends[:3] == [1, 2, 52]  # The first prepares the graph, the second is timed.


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("name, flags", [
    pytest.param("mirrored", ["--num_replicas=2"], marks=pytest.mark.soak),
    pytest.param("central_storage", ["--num_replicas=2"], marks=pytest.mark.soak),
    ("one_device", [])])
def test_loop_in_a_strategy_of_one_process_trains_the_same(name, flags, tmp_path, data_dir):
    flags = ["--model_fn=linear", f"--train_distribute={name}", "--train_steps=90", *flags]
    log, one = _train(tmp_path / "one", data_dir, *flags, "--steps_per_loop=1")
    looped, many = _train(tmp_path / "many", data_dir, *flags, "--steps_per_loop=20")
    assert "of its time for input" in looped and "of its time for input" not in log
    assert one.keys() == many.keys()
    for key, value in one.items():
        np.testing.assert_allclose(many[key], value, rtol=1e-5, atol=1e-6, err_msg=key)


def _train_together(folder, data_dir, flags, **counts):
    """Trains in a cluster of `counts`; returns the chief's log and the last variables."""
    folder.mkdir()
    model_dir = folder / "model"
    with jobs.running(folder, jobs.cluster(**counts), [
            "--model_fn=linear", f"--param=data_dir={data_dir}", f"--model_dir={model_dir}",
            "--seed=1", "--exporters=none", "--log_every_steps=20", *flags]) as tasks:
        jobs.wait(list(tasks.values()), 120)
        assert all(task.code == 0 for task in tasks.values())
        log = tasks["chief:0"].log
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(model_dir)))
    return log, {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.soak
@pytest.mark.parametrize("end", ["--train_steps=90", "--train_epochs=3"])
def test_loop_in_an_all_reduce_trains_the_same(end, tmp_path, data_dir):
    flags = ["--train_distribute=multi_worker_mirrored", end]
    log, one = _train_together(tmp_path / "one", data_dir, [*flags, "--steps_per_loop=1"],
                               chief=1, worker=1)
    looped, many = _train_together(tmp_path / "many", data_dir, [*flags, "--steps_per_loop=0"],
                                   chief=1, worker=1)
    assert "of its time for input" in looped and "of its time for input" not in log
    assert one.keys() == many.keys()
    for key, value in one.items():
        np.testing.assert_allclose(many[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("strategy", [
    "none", pytest.param("parameter_server", marks=pytest.mark.soak)])
def test_loop_of_asynchronous_trainers_ends_at_the_goal(strategy, tmp_path, data_dir):
    log, variables = _train_together(
        tmp_path / "job", data_dir, [f"--train_distribute={strategy}", "--train_steps=600"],
        chief=1, worker=1, ps=1)
    assert "of its time for input" in log and "one step in a session run" not in log
    assert "AutoGraph" not in log  # A strategy has it read this program's functions.
    assert 600 <= variables["global_step"] <= 601


@pytest.mark.any_tensorflow
@pytest.mark.soak
def test_loop_of_an_all_reduce_ends_at_one_step_on_request(tmp_path, data_dir):
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1), [
            "--model_fn=linear", f"--param=data_dir={data_dir}", f"--model_dir={tmp_path}/model",
            "--train_distribute=multi_worker_mirrored", "--train_steps=100000000",
            "--exporters=none", "--log_every_steps=100"]) as tasks:
        jobs.wait_for(lambda: len(tasks["chief:0"].losses) > 3, 60)
        tasks["worker:0"].process.send_signal(signal.SIGTERM)
        jobs.wait_for(lambda: all(task.code is not None for task in tasks.values()), 40)
        steps = [re.findall(r"status=\w+ step=(\d+)", task.last_line) for task in tasks.values()]
        assert steps[0] == steps[1] and int(steps[0][0]) == jobs.saved_step(tmp_path / "model")
        assert "one step in a session run" not in tasks["chief:0"].log


def test_loop_unsupported_starts_the_same_model_by_the_same_seed(tmp_path, data_dir):
    (tmp_path / "hooked.py").write_text(textwrap.dedent("""
        import tensorflow as tf
        from model_fns import mlp
        DEFAULT_PARAMS = {**mlp.DEFAULT_PARAMS}
        def model_fn(features, labels, mode, params):
            spec = mlp.model_fn(features, labels, mode, params)
            return spec._replace(training_hooks=[tf.estimator.SessionRunHook()])
        """))
    flags = [f"--model_fn={tmp_path}/hooked.py", "--train_steps=5"]
    log, one = _train(tmp_path / "one", data_dir, *flags, "--steps_per_loop=1")
    fallen_back, many = _train(tmp_path / "many", data_dir, *flags, "--steps_per_loop=0")
    assert "one step in a session run: " in fallen_back and "one step in" not in log
    for key, value in one.items():
        np.testing.assert_array_equal(many[key], value, err_msg=key)


def test_the_empty_dataset_beside_a_loop_needs_no_array_of_the_graph():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        features = {"text": ["a", "b", "c"], "image": np.ones([3, 2, 2], np.float32)}
        dataset = tf.data.Dataset.from_tensor_slices((features, [1, 2, 3])).batch(2)
        empty = loop.hold(dataset)
        assert empty.element_spec == dataset.element_spec
        iterator = tf.compat.v1.data.make_initializable_iterator(empty)
        source = tf.data.experimental.to_variant(dataset).op
        assert source not in operations.up_to(iterator.initializer)
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(iterator.get_next())
