"""Several training steps in one session run: a loop in the graph, around any model_fn.

A session run costs tens of microseconds to milliseconds beside the step it makes, more where other
processes take part in it.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.steps import ballots
from estimator_trainer.steps import batches
from estimator_trainer.steps import feed

# Graph collections: the placeholder of how many steps a session run makes, how many it made, and
# for how many seconds of it they waited for a batch.
STEPS, MADE, WAITED = (f"estimator_trainer/{name}" for name in ("steps", "made", "waited"))
_DATASET = "estimator_trainer/dataset"
# TensorFlow's own: the op that its hooks read the global step with (training_util.py).
_STEP_READ = "global_step_read_op_cache"
_LARGE_SUMMARIES = {"HistogramSummary", "ImageSummary", "AudioSummary"}


class Obstacle(Exception):
    """Why the steps of a model cannot, or had better not, be looped over."""


class Step(NamedTuple):
    """What a step gives, or the last step of a loop.

    Attributes:
      train_op: What makes it.
      loss: Its loss, a scalar.
      is_last: Whether the input ends with its batch, a bool scalar.
      examples: Of its batch, an int64 scalar; of a loop, their mean.
      counts: Of the trainers, who make it together, see `ballots.counts`; None for a trainer by
        itself.
    """

    train_op: Any
    loss: tf.Tensor
    is_last: tf.Tensor
    examples: tf.Tensor
    counts: tf.Tensor | None = None


class _State(NamedTuple):
    """What one step of the loop hands on to the next."""

    count: tf.Tensor
    global_step: tf.Tensor
    is_last: tf.Tensor
    counts: tf.Tensor
    loss: tf.Tensor
    examples: tf.Tensor
    waited_secs: tf.Tensor
    summary: tf.Tensor


def hold(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Keeps the training set for the loop of the current graph.

    Returns:
      A dataset of the same elements, and of none of them: what the Estimator gets to iterate.
    """
    tf.compat.v1.get_collection_ref(_DATASET)[:] = [dataset]
    return dataset.take(0)


def is_wanted() -> bool:
    """Returns whether the current graph holds a training set to loop over."""
    return bool(tf.compat.v1.get_collection(_DATASET))


def build(step: Callable[[Any], Step], config: TrainerConfig, num_trainers: int,
          ballot: tf.Tensor | None) -> Step:
    """Builds the loop, in one replica for all of this process.

    Args:
      step: Makes a replica's step with an element of the dataset.
      config: Tells `max_steps`.
      num_trainers: How many train.
      ballot: By which they agree to end (ballots.py) if they make each step together, or None.

    Raises:
      Obstacle: if a step cannot be made in a loop.
    """
    [dataset] = tf.compat.v1.get_collection_ref(_DATASET)
    steps = tf.compat.v1.placeholder_with_default(tf.constant(1, tf.int64), [], "steps")
    # Each has timed its own steps, and all must make as many.
    agreed = (steps,) if ballot is None else ballots.agree(
        steps, not batches.is_endless(dataset), ballot, num_trainers)

    def build_for_all(strategy: tf.distribute.Strategy, *per_replica: Any) -> Step:
        tf.compat.v1.add_to_collection(STEPS, steps)
        agreed = [strategy.experimental_local_results(each)[0] for each in per_replica]
        try:
            return _build(strategy, step, agreed, config.max_steps)
        except (Obstacle, errors.TrainerError):
            raise
        except Exception as error:
            # Of the loop or of the model; the same step by itself, which is tried next, will tell.
            raise Obstacle(f"in a loop it raises {type(error).__name__}: {error}") from error

    return tf.distribute.get_replica_context().merge_call(build_for_all, args=agreed)


def check(spec: tf.estimator.EstimatorSpec, config: TrainerConfig,
          known: dict[str, int]) -> None:
    """Looks at a step made in the loop.

    Args:
      spec: Of the step.
      config: Whether the user asks for a loop.
      known: What `things` said before it was made.

    Raises:
      Obstacle: if there is one.
    """
    if spec.training_hooks or spec.training_chief_hooks:
        raise Obstacle("its EstimatorSpec has training hooks, which are called once a session run")
    new = things()
    for name, count in new.items():
        if count > known[name]:
            raise Obstacle(f"it makes {name.replace('_', ' ')}, which cannot be made in a loop")
    operations = tf.compat.v1.get_default_graph().get_operations()
    large = {op.type for op in operations} & _LARGE_SUMMARIES
    if large and not config.steps_per_loop:
        raise Obstacle(
            f"it has summaries ({', '.join(sorted(large))}) that each step would compute")


def things() -> dict[str, int]:
    """Returns how many there are of what cannot be made in a loop."""
    keys = tf.compat.v1.GraphKeys
    return {name: len(tf.compat.v1.get_collection(name)) for name in (
        keys.TABLE_INITIALIZERS, keys.QUEUE_RUNNERS)}


def _build(strategy: tf.distribute.Strategy, step: Callable[[Any], Step],
           agreed: Sequence[tf.Tensor], max_steps: int | None) -> Step:
    """Builds the loop; `agreed` is what `ballots.agree` returns, or the steps alone."""
    source = feed.build(strategy, _taken())
    steps, *together = agreed

    def body(state: _State, carried: Any) -> tuple[_State, Any]:
        batch, waited_secs = source.batch(carried)
        made = strategy.extended.call_for_each_replica(step, args=(batch,))
        train_ops, losses, lasts, examples = (
            strategy.experimental_local_results(each) for each in made[:-1])
        is_last = tf.reduce_any(tf.stack(lasts))
        counts = (_counts(strategy, is_last, tf.reduce_any(tf.equal(examples, 0)), *together)
                  if together else state.counts)
        with tf.control_dependencies(train_ops):
            done = tf.timestamp()
        following, late_secs = source.following(
            carried, tf.logical_and(state.count + 1 < steps, tf.logical_not(is_last)), done)
        # The next step must not begin before.
        with tf.control_dependencies(train_ops):
            return _State(
                state.count + 1,
                tf.identity(tf.compat.v1.train.get_global_step().read_value()),
                tf.identity(is_last), tf.identity(counts),
                tf.add_n([tf.cast(loss, tf.float32) for loss in losses]) / len(losses),
                state.examples + tf.add_n(examples),
                state.waited_secs + waited_secs + late_secs, _merged_summaries()), following

    def goes_on(state: _State, carried: Any) -> tf.Tensor:
        is_ending = tf.reduce_any(state.counts > 0) if together else state.is_last
        goes = tf.logical_and(state.count < steps, tf.logical_not(is_ending))
        # Another trainer may have made the last one.
        return tf.logical_and(goes, state.global_step < max_steps) if max_steps else goes

    # TensorFlow's hooks take the step that they fetch for the one before the run.
    with tf.control_dependencies(tf.compat.v1.get_collection(_STEP_READ)):
        zero = tf.identity(tf.constant(0, tf.int64))
    first, waited_secs = source.first()
    start = _State(zero, tf.constant(-1, tf.int64), tf.constant(False), tf.zeros([3], tf.int32),
                   tf.constant(0.0), zero, waited_secs, tf.constant(b""))
    shapes = _State(*(tensor.shape for tensor in start)), source.shapes
    end, _ = tf.while_loop(goes_on, body, (start, first), shapes, parallel_iterations=1)
    _leave_out_inner_ops()
    _make_known(end)
    return Step(end.count.op, end.loss, end.is_last, end.examples // tf.maximum(end.count, 1),
                end.counts if together else None)


def _make_known(end: _State) -> None:
    """Puts into collections what the hooks of the current graph are to know of a session run."""
    for name, value in ((MADE, end.count), (WAITED, end.waited_secs),
                        (tf.compat.v1.GraphKeys.SUMMARIES, end.summary)):
        tf.compat.v1.add_to_collection(name, value)


def _taken() -> tf.data.Dataset:
    """Returns the training set, and forgets it: a checkpoint's graph could not hold it."""
    [dataset] = tf.compat.v1.get_collection_ref(_DATASET)
    tf.compat.v1.get_collection_ref(_DATASET).clear()
    return dataset


def _counts(strategy: tf.distribute.Strategy, is_last: tf.Tensor, is_empty: tf.Tensor,
            may_end: tf.Tensor, asked: tf.Tensor) -> tf.Tensor:
    """Returns what `ballots.counts` does; asks the other trainers only if an input may end."""
    def ask() -> tf.Tensor:
        counted = strategy.extended.call_for_each_replica(
            ballots.counts, args=(is_last, is_empty, tf.constant(0)))
        return strategy.experimental_local_results(counted)[0]

    return tf.cond(may_end, ask, lambda: tf.zeros([3], tf.int32)) + tf.stack([0, 0, asked])


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
