"""The speed in the log is the whole job's; a launcher's row has the task's own share."""

from __future__ import annotations

import re

import pytest
import tensorflow as tf

from estimator_trainer import task_events
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.steps import graph_state
from estimator_trainer.steps import progress
from estimator_trainer.steps.pace import Pace


def test_a_row_of_launch_has_the_tasks_own_share(monkeypatch, caplog):
    told = []
    monkeypatch.setattr(task_events, "tell", lambda kind, details=None, **values: told.append((kind, values)))
    with tf.Graph().as_default(), caplog.at_level("INFO"):
        step = tf.compat.v1.train.create_global_step()
        graph_state.LOSSES.add(tf.constant(1.0))
        graph_state.EXAMPLES.add(tf.constant(16, tf.int64))
        # The batches of four trainers make one global step.
        hook = progress.TrainingProgress(2, None, 4, 0, Pace(TrainerConfig(), is_exact=True))
        train_op = tf.compat.v1.assign_add(step, 1)
        with tf.compat.v1.train.SingularMonitoredSession([hook]) as session:
            for _ in range(2):
                session.run(train_op)
    [own] = [values["examples_per_sec"] for kind, values in told if kind == "progress"]
    [shown] = re.findall(r"([\d,]+) examples/s", caplog.text)
    assert int(shown.replace(",", "")) / own == pytest.approx(4, rel=0.01)
