"""The speed in the log, the size of the model, and a launcher's row."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess

import pytest
import tensorflow as tf

from estimator_trainer import task_events
from estimator_trainer.graph import graph_state
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import progress
from estimator_trainer.training.loop_size import LoopSize
from tests.support import jobs


def test_training_progress_gives_launch_the_tasks_own_share(monkeypatch, caplog):
    events = []
    monkeypatch.setattr(task_events, "emit",
                        lambda kind, details=None, **values: events.append((kind, values)))
    with tf.Graph().as_default(), caplog.at_level("INFO"):
        step = tf.compat.v1.train.create_global_step()
        graph_state.LOSSES.add(tf.constant(1.0))
        graph_state.EXAMPLES.add(tf.constant(16, tf.int64))
        config = TrainerConfig(log_every_steps=2, train_steps=0)
        # The batches of four trainers make one global step.
        hook = progress.TrainingProgress(config, 4, 0, LoopSize(config, is_exact=True))
        train_op = tf.compat.v1.assign_add(step, 1)
        with tf.compat.v1.train.SingularMonitoredSession([hook]) as session:
            for _ in range(2):
                session.run(train_op)
    [own] = [values["examples_per_sec"] for kind, values in events if kind == "train"]
    [shown] = re.findall(r"([\d,]+) examples/s", caplog.text)
    assert int(shown.replace(",", "")) / own == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("first_step, expected", [(0, [3.0, 2.0, 1.0]), (5, [])])
def test_training_progress_keeps_the_losses_of_a_new_training(first_step, expected):
    with tf.Graph().as_default():
        step = tf.compat.v1.train.get_or_create_global_step()
        graph_state.LOSSES.add(3.0 - tf.cast(step - first_step, tf.float32) / 2)
        graph_state.EXAMPLES.add(tf.constant(16, tf.int64))
        config = TrainerConfig(log_every_steps=2, train_steps=0)
        hook = progress.TrainingProgress(config, 1, 0, LoopSize(config, is_exact=True))
        start = step.assign(first_step)
        scaffold = tf.compat.v1.train.Scaffold(init_op=tf.group(
            start, tf.compat.v1.global_variables_initializer()) if not first_step else start)
        with tf.control_dependencies(graph_state.LOSSES.all()):
            train_op = tf.compat.v1.assign_add(step, 1)
        with tf.compat.v1.train.SingularMonitoredSession([hook], scaffold=scaffold) as session:
            for _ in range(5):
                session.run(train_op)
    assert hook.losses == pytest.approx(expected, abs=0.6)


def _on_a_terminal(*args):
    """Runs the program on a terminal of its own; returns all that it draws there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*jobs.PROGRAM, *args], stdin=theirs, stdout=theirs, stderr=theirs,
                               env=jobs.environment(TERM="xterm"))
    os.close(theirs)
    drawn = b""
    with contextlib.suppress(OSError):  # The terminal's other end is closed.
        while chunk := os.read(ours, 65536):
            drawn += chunk
    os.close(ours)
    assert process.wait(60) == 0
    return drawn.decode()


@pytest.mark.soak
@pytest.mark.cluster
def test_training_progress_draws_a_bar_and_writes_the_history(tmp_path, data_dir):
    drawn = _on_a_terminal(f"--model_dir={tmp_path}/model", f"--param=data_dir={data_dir}",
                           "--model_fn=linear", "--train_steps=3000", "--num_evaluations=2")
    assert re.search(r"\| \d+/3000 steps \[.*loss", drawn)
    assert not re.search(r"local  step \d+/3000", drawn)  # The bar has it.
    history = (tmp_path / "model" / "history.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in history if '"kind": "train"' in line]
    assert steps == list(range(100, 3001, 100))


def test_model_size_counts_parameters_by_layer():
    with tf.Graph().as_default():
        for name, shape, trainable in (
                ("net/dense/kernel", [4, 3], True), ("net/dense/bias", [3], True),
                ("net/norm/mean", [3], False), ("slope", [], True),
                ("net/dense/kernel/replica_1", [4, 3], True),
                ("table/part_0", [5, 2], True), ("table/part_1", [5, 2], True)):
            tf.compat.v1.get_variable(name, shape, trainable=trainable)
        layers = progress.layers_of(tf.compat.v1.trainable_variables())
    assert [(layer["name"], layer["parameters"]) for layer in layers] == [
        ("net/dense", 15), ("slope", 1), ("table", 20)]
    assert layers[0]["shapes"] == {"kernel": [4, 3], "bias": [3]}
