"""Measures loss curves of mathematically equal modes: one global batch, one seed.

All-reduce and synchronous ps read the same batches, so at every step their chiefs have the same
loss, except for rounding. One process with the whole batch reads the data in another order, so its
loss on the test set is compared.
"""

from __future__ import annotations

import json
from typing import Any, Iterator

from benchmarks.scaling import pinned_job
from benchmarks.scaling.pinned_job import Job
from tests.support import jobs

_STEPS = 200
_BATCH_SIZE = 64
_TIMEOUT_SECS = 300


def measure(data: list[str]) -> Iterator[dict[str, Any]]:
    """Trains to the end at 2 and 4 trainers in each mode.

    Args:
      data: The flags that read the data.

    Yields:
      A curve for each mode and number of trainers: `losses`, [[step, loss of the chief's batch],
      ...], and `test_loss` and `accuracy` on the test set.
    """
    for trainers in (2, 4):
        for mode in ("local", "all_reduce", "sync_ps"):
            is_local = mode == "local"
            job = Job(mode, 1 if is_local else trainers,
                      _BATCH_SIZE * (trainers if is_local else 1),
                      ("--model_fn=cnn", "--param=learning_rate=0.01", "--seed=1",
                       f"--train_steps={_STEPS}", "--log_every_steps=10", "--eval_steps=0",
                       *data))
            curve = _train(job)
            print(f"curve     {mode:12} {trainers} test loss {curve['test_loss']:.4f}", flush=True)
            yield {"mode": mode, "trainers": trainers, "global_batch": trainers * _BATCH_SIZE,
                   **curve}


def _train(job: Job) -> dict[str, Any]:
    with pinned_job.running(job) as tasks:
        jobs.wait(tasks, _TIMEOUT_SECS)
        chief = tasks[0]
        result = json.loads((chief.log_path.parent / "model-0" / "result.json").read_text())
        return {"losses": chief.losses, "test_loss": result["metrics"]["loss"],
                "accuracy": result["metrics"]["accuracy"]}
