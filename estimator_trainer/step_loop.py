"""Several training steps in one session run: a loop in the graph, around any model_fn.

A session run costs tens of microseconds to milliseconds beside the step it makes. Here it makes as
many as fit between two steps after which something else is due: a checkpoint, a summary, a line of
the log, the end.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Callable

import tensorflow as tf

from estimator_trainer import batches
from estimator_trainer.config import TrainerConfig

# Graph collection: the placeholder of how many steps a session run makes.
STEPS = "estimator_trainer/steps"
# Long enough for what a session run costs beside its steps, short enough for who waits for its end.
_RUN_SECS = 0.1
_MOST_STEPS = 1000
# Hooks of TensorFlow look at the step before a run, and count on it for the run after the next.
_SINGLE_RUNS = 2
_LARGE_SUMMARIES = {"HistogramSummary", "ImageSummary", "AudioSummary"}


@dataclasses.dataclass(frozen=True)
class Loop:
    """What a loop gives.

    Attributes:
      spec: Of all steps; its loss is that of the last one.
      is_last: Whether the last batch was the last of the input, a bool scalar.
      examples: Of a step, the mean, int64 scalar.
    """

    spec: tf.estimator.EstimatorSpec
    is_last: tf.Tensor
    examples: tf.Tensor


def puller(batch: Any) -> Callable[[], Any] | None:
    """Returns what takes another batch like `batch` out of the iterator that it comes from.

    None, if it does not come out of one as it is.
    """
    flat = tf.nest.flatten(batch)
    sources = {tensor.op for tensor in flat if isinstance(tensor, tf.Tensor)}
    if len(sources) != 1 or len(flat) != len([t for t in flat if isinstance(t, tf.Tensor)]):
        return None
    [source] = sources
    if source.type != "IteratorGetNext":
        return None

    def pull() -> Any:
        pulled = tf.raw_ops.IteratorGetNext(
            iterator=source.inputs[0], output_types=source.get_attr("output_types"),
            output_shapes=source.get_attr("output_shapes"))
        return tf.nest.map_structure(lambda tensor: pulled[tensor.value_index], batch)

    return pull


def obstacle(spec: tf.estimator.EstimatorSpec, config: TrainerConfig) -> str:
    """Returns why the steps of a model cannot, or had better not, be looped over; "" if they can.

    Args:
      spec: Of one step, made in the current graph.
      config: Whether the user asks for a loop.
    """
    graph = tf.compat.v1.get_default_graph()
    keys = tf.compat.v1.GraphKeys
    if spec.training_hooks or spec.training_chief_hooks:
        return "its EstimatorSpec has training hooks, which are called once a session run"
    if graph.get_collection(keys.TABLE_INITIALIZERS):
        return "it has tables, which cannot be made in a loop"
    if graph.get_collection(keys.LOCAL_VARIABLES):
        return "it has local variables, as of metrics and accumulated gradients"
    large = {op.type for op in graph.get_operations()} & _LARGE_SUMMARIES
    if large and not config.steps_per_loop:
        return f"it has summaries ({', '.join(sorted(large))}) that each step would compute"
    return ""


def build(pull: Callable[[], Any],
          step: Callable[[Any], tuple[tf.estimator.EstimatorSpec, Any, tf.Tensor]]) -> Loop:
    """Builds the loop.

    Args:
      pull: Returns a batch.
      step: Returns the spec of a training step with a batch, the features, and whether the batch
        is the last one.
    """
    specs = []

    def body(count: tf.Tensor, is_last: tf.Tensor, loss: tf.Tensor, examples: tf.Tensor,
             summary: tf.Tensor) -> list[tf.Tensor]:
        spec, features, is_last = step(pull())
        specs.append(spec)
        merged = _merged_summaries()
        with tf.control_dependencies([spec.train_op]):
            return [count + 1, tf.identity(is_last), tf.cast(spec.loss, tf.float32),
                    examples + batches.size(features),
                    merged]

    steps = tf.compat.v1.placeholder_with_default(tf.constant(1, tf.int64), [], "steps")
    tf.compat.v1.add_to_collection(STEPS, steps)
    zero = tf.constant(0, tf.int64)
    count, is_last, loss, examples, summary = tf.while_loop(
        lambda count, is_last, *_: tf.logical_and(count < steps, tf.logical_not(is_last)), body,
        [zero, tf.constant(False), tf.constant(0.0), zero, tf.constant(b"")],
        parallel_iterations=1)
    _leave_out_inner_ops()
    tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.SUMMARIES, summary)
    spec = specs[-1]._replace(loss=loss, train_op=count.op)
    return Loop(spec, is_last, examples // tf.maximum(count, 1))


def _merged_summaries() -> tf.Tensor:
    """Returns the summaries of the current graph, a string scalar."""
    graph = tf.compat.v1.get_default_graph()
    own = [summary for summary in tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)
           if summary.graph is graph]
    return tf.compat.v1.summary.merge(own) if own else tf.constant(b"")


def _leave_out_inner_ops() -> None:
    """Empties the collections of what is inside the loop, where no session can fetch it."""
    graph = tf.compat.v1.get_default_graph()
    for name in graph.get_all_collection_keys():
        entries = graph.get_collection_ref(name)
        entries[:] = [each for each in entries if getattr(each, "graph", graph) is graph]


class Pace:
    """Decides how many steps the next session run makes.

    Attributes:
      steps: Of the run that was planned last.
    """

    def __init__(self, config: TrainerConfig):
        """Makes it for the steps at which `config` has something due."""
        self.steps = 1
        self._most = config.steps_per_loop
        # A run shows no progress before its end.
        self._longest_secs = config.stall_timeout_secs / 4
        self._max_steps = config.max_steps
        self._every = [every for every in (
            config.checkpoint_every_steps, config.log_every_steps) if every]
        self._summary_steps = config.save_summary_steps
        self._profiled = config.profiled_steps or ()
        self._step_secs = 0.0
        self._started, self._first = 0.0, 0

    def start(self, step: int) -> None:
        """Takes note of the step that a session begins with, from which TensorFlow's hooks count.
        """
        self._first = step

    def plan(self, step: int) -> int:
        """Returns the steps of the run that begins at `step`."""
        due = [self._next(step, every, self._first) for every in self._every]
        due.append(self._next(step, self._summary_steps, self._first + 1))
        due += [at for edge in self._profiled for at in (edge - 1, edge) if at > step]
        if self._max_steps:
            due.append(self._max_steps)
        self.steps = max(1, min(self._fitting(), min(due) - _SINGLE_RUNS - step))
        self._started = time.monotonic()
        return self.steps

    def made(self) -> None:
        """Takes note of the time that the run took."""
        secs = (time.monotonic() - self._started) / self.steps
        self._step_secs = 0.5 * (self._step_secs + secs) if self._step_secs else secs

    def _fitting(self) -> int:
        """Returns the steps of a run that nothing else limits; 1 before any was timed."""
        if not self._step_secs:
            return 1
        return min(self._most or int(_RUN_SECS / self._step_secs) or 1, _MOST_STEPS,
                   int(self._longest_secs / self._step_secs))

    @staticmethod
    def _next(step: int, every: int, first: int) -> int:
        """Returns the first of first, first + every, ... that is above `step`."""
        return first + every * max(0, (step - first) // every + 1)
