"""A trace of steps becomes the parts of a step: own work, waits, bytes."""

from __future__ import annotations

import types

import pytest
import tensorflow as tf

from estimator_trainer import task_events
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import session_runs, step_samples
from estimator_trainer.training.loop_size import LoopSize

_LOOP = "estimator_trainer/while/LoopCond/_47"
_WORKER, _PS = "/job:worker/replica:0/task:1/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"


def _device(stats, name, *nodes):
    """Adds a device with nodes (name, type, start, end), or transfers (name, None, bytes...)."""
    device = stats.dev_stats.add(device=name)
    for number, (node_name, kind, *numbers) in enumerate(nodes):
        if kind is None:
            for size in numbers:
                node = device.node_stats.add(node_name=node_name,
                                             timeline_label=f"[{size}B] edge_{number} from a to b")
                node.output.add().tensor_description.allocation_description.requested_bytes = size
        else:
            node = device.node_stats.add(node_name=node_name)
            node.timeline_label = f"{node_name} = {kind}(x)"
            node.all_start_micros = numbers[0]
            node.all_end_rel_micros = numbers[1] - numbers[0]


def _divided(*devices):
    stats = tf.compat.v1.RunMetadata().step_stats
    for name, *nodes in devices:
        _device(stats, name, *nodes)
    return step_samples.divided(stats.dev_stats)


def test_divided_finds_own_work_and_waits_beside_ps():
    parts = _divided(
        (_WORKER, ("RecvTensor", None, 600)),
        (_PS, ("RecvTensor", None, 190, 0), ("RecvTensor", None, 10, 10)),
        (_PS, ("update", "ResourceApplyGradientDescent", 900, 5000)),
        (_WORKER, ("early", "MatMul", 0, 900), (_LOOP, "LoopCond", 990, 1000),
         ("split", "SplitV", 2000, 2100),  # 1,000 for the variables.
         ("a", "MatMul", 2110, 3000), ("b", "MatMul", 2500, 3100),
         ("IteratorGetNext", "IteratorGetNext", 1100, 5950), ("next", "Identity", 5960, 5990),
         ("Identity", "Identity", 4100, 4200),  # 1,000 for the ps to be done.
         (_LOOP, "LoopCond", 5990, 6000), ("late", "MatMul", 7000, 9000),
         (_LOOP, "LoopCond", 10990, 11000)))
    # The trace has two steps, from 1,000 to 11,000.
    assert (parts["received_bytes"], parts["sent_bytes"]) == (300, 200)
    assert parts["own_secs"] == pytest.approx((100 + 10 + 990 + 100 + 40 + 2000 + 10) / 2e6)
    assert parts["input_secs"] == pytest.approx(1760 / 2e6)
    assert parts["ps_secs"] == pytest.approx((1000 + 1000 + 1000 + 1990) / 2e6)
    assert "workers_secs" not in parts
    assert sum(parts[f"{name}_secs"] for name in ("own", "input", "ps")) == pytest.approx(0.005)


def test_divided_finds_the_wait_of_an_all_reduce_and_of_tokens():
    parts = _divided((_WORKER, ("RecvBuf", None, 800), ("a", "MatMul", 0, 1000),
                      ("CollectiveReduceV2", "CollectiveReduceV2", 900, 3000),
                      ("update", "Sub", 3010, 3500)))
    assert parts == {"received_bytes": 800, "own_secs": pytest.approx(0.00149),
                     "input_secs": 0.0, "workers_secs": pytest.approx(0.00201)}
    parts = _divided((_WORKER, ("a", "MatMul", 0, 1000), ("end", "Identity", 4000, 4000)),
                     (_PS, ("sync_token_q_Dequeue", "QueueDequeueV2", 50, 2050)))
    assert (parts["workers_secs"], parts["ps_secs"]) == pytest.approx((0.002, 0.001))


def test_divided_has_nothing_without_a_step():
    assert _divided() == {}
    assert _divided((_WORKER, (_LOOP, "LoopCond", 1, 2))) == {}


def test_step_samples_traces_few_steps_and_leaves_their_time_out(monkeypatch):
    emitted = []
    monkeypatch.setattr(task_events, "emit",
                        lambda kind, details=None, **values: emitted.append((kind, values)))
    monkeypatch.setattr(step_samples, "_FIRST_SECS", 0.0)
    config = TrainerConfig(train_steps=10**9, steps_per_loop=50)
    loop_size = LoopSize(config, is_exact=False)
    planned = []

    class Planner(tf.estimator.SessionRunHook):
        def before_run(self, run_context):
            planned.append(loop_size.plan(sum(planned)))

        def after_run(self, run_context, run_values):
            loop_size.made(planned[-1], 0.0)

    task = types.SimpleNamespace(num_trainers=2)
    hook = step_samples.StepSamples(task, loop_size)
    with tf.Graph().as_default():
        step = tf.compat.v1.train.create_global_step()
        train_op = tf.compat.v1.assign_add(step, 1)
        group = session_runs.HookGroup([Planner(), hook])
        with tf.compat.v1.train.SingularMonitoredSession([group]) as session:
            for _ in range(9):
                session.run(train_op)
    assert planned == [1, 1, *[50] * 3, 4, *[50] * 3]
    [(kind, values)] = emitted
    assert (kind, values) == ("sample", {"step": 152})
    assert loop_size.step_secs > 0
