"""How many records of a training set that is handed out were trained on, and how many were lost."""

import math
from typing import Any, Callable, Sequence

import tensorflow as tf

from estimator_trainer.coordination.job_state import Trained
from estimator_trainer.graph import graph_state


class TrainedRecords(tf.estimator.SessionRunHook):
    """Counts what this trainer trains on, and passes it to `report` when its session ends.

    Attributes:
      trained: What it has trained on until now.
    """

    def __init__(self, report: Callable[[Trained], None] = lambda trained: None):
        self._report = report
        self.trained = Trained()

    def begin(self) -> None:
        made = graph_state.MADE.all()
        self._fetches = (tf.add_n(graph_state.RECORDS.all() or graph_state.EXAMPLES.all()),
                         tf.add_n(made) if made else tf.constant(1, tf.int64))

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        return tf.estimator.SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        records, steps = map(int, run_values.results)
        self.trained += Trained(records, steps, math.ceil(records / max(1, steps)))

    def end(self, session: tf.compat.v1.Session) -> None:
        self._report(self.trained)


def described(reports: Sequence[Trained], steps: int, size: tuple[int, int],
              is_at_end: bool) -> str:
    """Returns a sentence on the records of a job.

    A trainer that was killed reports nothing; the job's steps tell how many it has made.

    Args:
      reports: Those of the trainers that have ended by themselves.
      steps: Steps of all trainers, by the global step.
      size: Records of one pass, 0 if unknown, and passes, -1 for no end.
      is_at_end: Whether training has ended with its input.
    """
    reported = sum(reports, Trained())
    unreported = max(0, steps - reported.steps)
    count = reported.records + unreported * reported.batch
    shown = f"{'about ' * bool(unreported)}{count:,}"
    of_pass, passes = size
    if not of_pass:
        return (f"trained on {shown} records; how many were lost is unknown, unless data_params of"
                " the input_fn returns train_examples")
    if not is_at_end or passes < 0:
        return f"trained on {shown} records, {count / of_pass:.3g} passes over {of_pass:,}"
    total = of_pass * passes
    all_passes = f"{passes} pass{'es' * (passes != 1)} over {of_pass:,}"
    if count >= total:
        return f"trained on all {total:,} records, {all_passes}"
    return (f"trained on {shown} of {total:,} records, {all_passes}; {total - count:,} were lost"
            " with tasks that ended, or cut off with an incomplete batch")
