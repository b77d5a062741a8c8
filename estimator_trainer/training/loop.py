"""Several training steps in one session run: a loop in the graph, around any model_fn.

A session run costs tens of microseconds to milliseconds besides its step, and more in a cluster.
"""

from typing import Any, Callable, Iterable, NamedTuple
import weakref

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.graph import graph_names, graph_state, operations
from estimator_trainer.input import batches, prefetch
from estimator_trainer.patches import private_api, training_patches
from estimator_trainer.training import loop_unsupported, stop_consensus

# The graph around each loop's body.
_AROUND: weakref.WeakKeyDictionary[tf.Graph, tf.Graph] = weakref.WeakKeyDictionary()


class Step(NamedTuple):
    """A training step, or the last one of a loop over steps.

    Attributes:
      train_op: The operation that makes the step, or all steps of the loop.
      loss: A float scalar.
      is_last: Whether the input is known to end with the batch, a bool scalar.
      is_missing: Whether this process has run out of data before the others; None for a loop.
      examples: Number of examples in the batch, an int64 scalar; for a loop, the mean per step.
      counts: The result of `stop_consensus.counts` if the trainers make a step together, or None.
      scaffold: The Scaffold of the model; None in a replica whose loop another one builds.
      is_loss_scaled: Whether the optimizer of a loop divides the loss by the number of replicas.
    """

    train_op: Any
    loss: tf.Tensor
    is_last: tf.Tensor
    is_missing: tf.Tensor | None
    examples: tf.Tensor
    counts: tf.Tensor | None = None
    scaffold: tf.compat.v1.train.Scaffold | None = None
    is_loss_scaled: bool = False

    def make_known(self) -> None:
        """Adds to the current graph's state what the hooks fetch in each session run."""
        graph_state.TRAIN_OPS.add(self.train_op)
        graph_state.LOSSES.add(self.loss)
        graph_state.IS_LAST.add(self.is_last)
        graph_state.EXAMPLES.add(self.examples)
        if self.counts is not None:
            graph_state.COUNTS.add(self.counts)


class _State(NamedTuple):
    """The loop variables that each step computes for the next."""

    count: tf.Tensor
    global_step: tf.Tensor
    is_last: tf.Tensor
    counts: tf.Tensor
    loss: tf.Tensor
    examples: tf.Tensor
    waited_secs: tf.Tensor
    summary: tf.Tensor


def hold(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Keeps the training set for the loop of the current graph; returns an empty one to iterate."""
    graph_state.DATASET.put(dataset)
    with graph_names.own():
        return _empty(dataset)


def _empty(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns a dataset of the same element_spec without elements.

    `take(0)` would copy the arrays in the graph once more, for its initializer alone, so it is used
    for other elements than tensors of a known rank only.
    """
    spec = dataset.element_spec
    if tf.distribute.has_strategy() or not all(map(_is_array, tf.nest.flatten(spec))):
        return dataset.take(0)
    nothing = tf.nest.map_structure(lambda each: tf.zeros(
        [0, *(size or 0 for size in each.shape.as_list())], each.dtype), spec)
    return tf.data.experimental.from_variant(tf.data.experimental.to_variant(
        tf.data.Dataset.from_tensor_slices(nothing)), spec)


def _is_array(spec: Any) -> bool:
    return (type(spec) is tf.TensorSpec and spec.shape.rank is not None
            and (spec.dtype.is_floating or spec.dtype.is_integer
                 or spec.dtype in (tf.bool, tf.string)))


def is_wanted() -> bool:
    """Returns whether the current graph holds a training set to loop over."""
    return bool(graph_state.DATASET.all())


def graph_around(graph: tf.Graph) -> tf.Graph:
    """Returns the graph around a loop if `graph` is the loop's body, else `graph`."""
    return _AROUND.get(graph, graph)


def make_outside(make: Callable[..., None], *args: Any, **kwargs: Any) -> None:
    """Calls `make` in the graph around a loop if the current graph is the loop's body.

    Arguments that are tensors of the body are made again outside.

    Raises:
      LoopUnsupported: if such a tensor depends on a batch, on a state or on the order of steps.
    """
    body = tf.compat.v1.get_default_graph()
    around = graph_around(body)
    if around is body:
        make(*args, **kwargs)
        return
    inside = [each for each in (*args, *kwargs.values()) if isinstance(each, tf.Tensor)
              and each.graph is body]
    scope = body.get_name_scope()
    with around.as_default(), tf.control_dependencies(None), tf.name_scope(scope and f"{scope}/"):
        needed = operations.reached([each.op for each in inside], operations.before)
        if not all(operations.is_movable(each) for each in needed):
            raise loop_unsupported.LoopUnsupported(
                "it makes a lookup table of what a step computes, in each step")
        moved = {id(old): new for old, new in zip(inside, operations.copies(inside, needed))}
        make(*(moved.get(id(each), each) for each in args),
             **{name: moved.get(id(each), each) for name, each in kwargs.items()})


def build(step: Callable[[Any], Step], max_steps: int | None, num_trainers: int,
          stop_vote: tf.Tensor | None,
          settle: Callable[[loop_unsupported.LoopUnsupported | None], None]) -> Step:
    """Builds the loop, in one replica for all of this process, and makes it known to the hooks.

    Args:
      step: Makes a replica's step with an element of the dataset.
      max_steps: The global step at which the loop ends, or None.
      num_trainers: Number of processes that train.
      stop_vote: The placeholder of `stop_consensus` if the trainers make steps together, or None.
      settle: Called once in each process, with the reason why its loop is unsupported, or None;
        raises LoopUnsupported if no process is to loop.

    Raises:
      LoopUnsupported: if a step cannot be made in a loop.
    """
    [dataset] = graph_state.DATASET.all()
    with graph_names.own():
        steps = tf.compat.v1.placeholder_with_default(tf.constant(1, tf.int64), [], "steps")
        # Each trainer chooses by its own clock, and all must make the same number of steps.
        agreed = (steps,) if stop_vote is None else stop_consensus.agree(
            steps, not batches.is_endless(dataset), stop_vote, num_trainers)
    loop = _Loop(step, max_steps, is_alone=num_trainers == 1 or stop_vote is not None)

    @batches.as_it_is
    def build_for_all(strategy: tf.distribute.Strategy, *per_replica: Any) -> Step:
        graph_state.STEPS.add(steps)
        agreed = [strategy.experimental_local_results(each)[0] for each in per_replica]
        found = made = None
        try:
            made = loop.build(strategy, *agreed)
        except loop_unsupported.LoopUnsupported as error:
            found = error
        except errors.TrainerError:
            raise
        except Exception as error:
            # Single steps, which are tried next, fail too if the model is the cause.
            found = loop_unsupported.explain(error)
            found.__cause__ = error
        settle(found)
        assert made is not None
        return made

    made: Step = tf.distribute.get_replica_context().merge_call(build_for_all, args=agreed)
    return made._replace(scaffold=loop.scaffold)


class _Loop:
    """The loop of one process; each replica has an object, and the first replica's is built."""

    def __init__(self, step: Callable[[Any], Step], max_steps: int | None, is_alone: bool):
        """Makes the loop; `is_alone`: no other loop moves the same global step."""
        # Without a loop no model_fn is converted by autograph.
        self._step, self._max_steps = batches.as_it_is(step), max_steps
        self._is_alone = is_alone
        self.scaffold: tf.compat.v1.train.Scaffold | None = None
        self._is_loss_scaled = False
        self._summary_name: graph_names.SummaryName | None = None

    def build(self, strategy: tf.distribute.Strategy, steps: tf.Tensor,
              *together: tf.Tensor) -> Step:
        self._strategy, self._steps, self._together = strategy, steps, together
        self._graph = tf.compat.v1.get_default_graph()
        self._taken_names = graph_names.of_graph(self._graph)
        with graph_names.own():
            end = self._loop()
        # No session can fetch what is inside the loop.
        for name in self._graph.get_all_collection_keys():
            entries = self._graph.get_collection_ref(name)
            entries[:] = [each for each in entries if getattr(each, "graph", self._graph)
                          is self._graph]
        loop_unsupported.check_variables()
        graph_state.MADE.add(end.count)
        graph_state.WAITED.add(end.waited_secs)
        graph_state.RECORDS.add(end.examples)
        assert self._summary_name is not None
        summary = self._summary_name.taken_outside(end.summary)
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.SUMMARIES, summary)
        with graph_names.own():
            examples = end.examples // tf.maximum(end.count, 1)
        made = Step(end.count.op, end.loss, end.is_last, None, examples,
                    end.counts if together else None, is_loss_scaled=self._is_loss_scaled)
        made.make_known()
        return made

    def _loop(self) -> _State:
        """Builds the loop; returns the loop variables after its last step."""
        dataset = graph_state.DATASET.take()
        assert dataset is not None
        self._source = prefetch.build(self._strategy, dataset)
        # TensorFlow's hooks expect the global step before the session run.
        with tf.control_dependencies(graph_state.STEP_READ.all()):
            zero = tf.identity(tf.constant(0, tf.int64))
        first, waited_secs = self._source.first()
        start = _State(zero, tf.constant(-1, tf.int64), tf.constant(False),
                       tf.zeros([3], tf.int32), tf.constant(0.0), zero, waited_secs,
                       tf.constant(b""))
        shapes = _State(*(tensor.shape for tensor in start)), self._source.shapes
        end, _ = tf.while_loop(self._goes_on, self._body, (start, first), shapes,
                               parallel_iterations=1)
        return end

    def _goes_on(self, state: _State, loop_vars: Any) -> tf.Tensor:
        is_ending = tf.reduce_any(state.counts > 0) if self._together else state.is_last
        goes = tf.logical_and(state.count < self._steps, tf.logical_not(is_ending))
        # Another trainer may have made the last step.
        return (tf.logical_and(goes, state.global_step < self._max_steps) if self._max_steps
                else goes)

    def _body(self, state: _State, loop_vars: Any) -> tuple[_State, Any]:
        with graph_names.own():
            batch, waited_secs = self._source.batch(loop_vars)
        train_ops, losses, lasts, missing, examples = self._made_in_replicas(batch)
        is_last = tf.reduce_any(tf.stack(lasts))
        counts = (_counts(self._strategy, is_last, tf.reduce_any(tf.stack(missing)),
                          *self._together) if self._together else state.counts)
        with tf.control_dependencies(train_ops):
            global_step = tf.identity(tf.compat.v1.train.get_global_step().read_value())
        # A ps then sends this value alone, and no further message that the step is done.
        with tf.control_dependencies([global_step]):
            done = tf.timestamp()
        following, late_secs, has_ended = self._source.following(
            loop_vars, tf.logical_and(state.count + 1 < self._steps, tf.logical_not(is_last)), done)
        loss = tf.add_n([tf.cast(loss, tf.float32) for loss in losses]) / len(losses)
        graph = tf.compat.v1.get_default_graph()
        # The next step must begin later.
        with tf.control_dependencies([global_step]):
            made = _State(
                state.count + 1, global_step, tf.logical_or(is_last, has_ended),
                tf.identity(counts),
                # A NaN of any step ends training, and the session sees the last step's loss.
                tf.where(tf.math.is_nan(state.loss), state.loss, loss),
                state.examples + tf.add_n(examples),
                state.waited_secs + waited_secs + late_secs, state.summary)
        own = [summary for summary in tf.compat.v1.get_collection(
            tf.compat.v1.GraphKeys.SUMMARIES) if summary.graph is graph]
        self._summary_name = graph_names.SummaryName.beside(own)
        kept = (*train_ops, *losses, *lasts, *missing, *examples)
        return made._replace(summary=self._summary(state, made, own, kept)), following

    def _summary(self, state: _State, made: _State, own: list[tf.Tensor],
                 kept: Iterable[Any]) -> tf.Tensor:
        """Returns the summaries of a session run's last step, where alone they may be due.

        `kept` is what else the step computes. All that only summaries need is inside the condition.
        """
        if not own:
            return state.summary
        # A lone trainer ends a session run where a summary is due, and so knows this from the
        # beginning. Variables then are read early, as in a single step.
        is_wanted = (state.count + 1 >= self._steps if self._is_alone else
                     tf.logical_not(self._goes_on(made, ())))
        moved = operations.movable_before(
            [each.op for each in own], [getattr(each, "op", each) for each in kept])
        return tf.cond(is_wanted, lambda: tf.compat.v1.summary.merge(
            operations.copies(own, moved)), lambda: state.summary)

    def _made_in_replicas(self, batch: Any) -> list[tuple[Any, ...]]:
        """Returns the fields of a `Step` that the loop needs, each a list over the replicas."""
        body = tf.compat.v1.get_default_graph()
        _AROUND[body] = self._graph
        with (graph_names.shared(self._taken_names, self._graph),
              training_patches.entering_at_once(body)):
            made = self._strategy.extended.call_for_each_replica(self._step, args=(batch,))
        self._is_loss_scaled = private_api.is_loss_scaled(body)
        runs_per_step = graph_state.RUNS_PER_STEP.all()
        with self._graph.as_default():
            graph_state.RUNS_PER_STEP.put(*runs_per_step)
        if self.scaffold is None:
            # Loop variables are tensors.
            scaffold = self._strategy.experimental_local_results(made.scaffold)[0]
            self.scaffold = loop_unsupported.GuardedScaffold(copy_from_scaffold=scaffold)
        return [self._strategy.experimental_local_results(each) for each in (
            made.train_op, made.loss, made.is_last, made.is_missing, made.examples)]


def _counts(strategy: tf.distribute.Strategy, is_last: tf.Tensor, is_missing: tf.Tensor,
            may_end: tf.Tensor, stop_requests: tf.Tensor) -> tf.Tensor:
    """Returns what `stop_consensus.counts` does, with no all-reduce if no input may end."""
    def request_end() -> tf.Tensor:
        counted = strategy.extended.call_for_each_replica(
            stop_consensus.counts, args=(is_last, is_missing, tf.constant(0)))
        return strategy.experimental_local_results(counted)[0]

    counts = tf.cond(may_end, request_end, lambda: tf.zeros([3], tf.int32))
    return counts + tf.stack([0, 0, stop_requests])
