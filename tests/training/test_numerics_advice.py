"""A user whose CPU could be faster in bfloat16 is told so once, where steps are long enough."""

from __future__ import annotations

import pathlib
import time

import pytest
import tensorflow as tf

from estimator_trainer import machine
from estimator_trainer.cluster import task_config
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import numerics
from estimator_trainer.training.loop_size import LoopSize

pytestmark = pytest.mark.any_tensorflow


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


def test_long_steps_are_told_of_bfloat16_once(monkeypatch, caplog):
    assert _lines(monkeypatch, caplog, 0.05) == [
        "a step takes 50 ms, and this CPU multiplies in bfloat16 (avx512_bf16):"
        " --mixed_precision=bfloat16 is worth a try"]


@pytest.mark.parametrize("step_secs,waited_share", [(0.002, 0.0), (0.05, 0.5)],
                         ids=["short steps", "steps that wait for input"])
def test_steps_that_bfloat16_would_not_help_are_told_nothing(step_secs, waited_share, monkeypatch,
                                                             caplog):
    assert not _lines(monkeypatch, caplog, step_secs, waited_share)


def test_one_step_that_other_processes_delayed_is_no_reason(monkeypatch, caplog):
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


@pytest.mark.parametrize("flags,config,counts,index,is_told", [
    ("fma avx512_bf16 amx_bf16", {}, {"chief": 1}, 0, True),
    ("fma avx512_bf16", {}, {"chief": 1, "worker": 1}, 0, True),
    ("fma avx512f", {}, {"chief": 1}, 0, False),
    ("fma avx512_bf16", {"mixed_precision": "bfloat16"}, {"chief": 1}, 0, False),
    ("fma avx512_bf16", {}, {"chief": 1, "worker": 1}, 1, False),
    ("fma avx512_bf16", {}, {"chief": 1, "ps": 1}, 0, False)],
    ids=["amx", "all-reduce", "an older CPU", "done already", "a worker", "a ps"])
def test_the_chief_tells_it_where_the_cpu_can(flags, config, counts, index, is_told, monkeypatch):
    monkeypatch.setattr(pathlib.Path, "read_text", lambda *_, **__: f"flags\t\t: {flags}\n")
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda _: [])
    config = TrainerConfig(**config)
    task = task_config.of_counts(counts)[index]
    advice = numerics.for_training(config.mixed_precision, LoopSize(config, is_exact=True), task)
    assert (advice is not None) == is_told


def test_a_machine_that_tells_nothing_of_its_cpu_has_no_instructions(monkeypatch):
    def no_file(*_, **__):
        raise FileNotFoundError("no /proc")

    monkeypatch.setattr(pathlib.Path, "read_text", no_file)
    assert machine.bfloat16_instructions() == ""
