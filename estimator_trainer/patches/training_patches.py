"""Patches of what builds the graph of a training step, and of the sessions that run it."""

import contextlib
import functools
from typing import Any, Callable, Iterable, Iterator

import tensorflow as tf

from estimator_trainer.patches import op_seeds, private_api, replacement

Values = list[Any]
POLL_SECS = 1
# Values of RewriterConfig.Toggle, an enum without a public name.
REWRITER_ON, REWRITER_OFF = 1, 2


@contextlib.contextmanager
def iterating_with(iterate: Callable[..., Any], enqueue: Callable[..., Any]) -> Iterator[None]:
    """Replaces the makers of iterators and of queues of arrays, within a `with` statement.

    An input_fn that returns tensors leaves no other trace of their dataset. `iterate` takes a
    dataset, TensorFlow's own maker of its iterator, whether that iterator needs no initializer, and
    further arguments; `enqueue` takes Estimator's own `_enqueue_data`, and its arguments.
    """
    def made_by(make: Callable[..., Any], is_one_shot: bool) -> Callable[..., Any]:
        def made(dataset: tf.data.Dataset, *args: Any, **kwargs: Any) -> Any:
            return iterate(dataset, make, is_one_shot, *args, **kwargs)

        return made

    data = tf.compat.v1.data
    iterators = [
        (owner, name, made_by(getattr(owner, name), "one_shot" in name))
        for owner in (data, data.Dataset)
        for name in ("make_one_shot_iterator", "make_initializable_iterator")]
    queues, name = private_api.array_queues()
    filled = functools.partial(enqueue, getattr(queues, name))
    with replacement.functions_of_this_thread([*iterators, (queues, name, filled)]):
        yield


@contextlib.contextmanager
def seeding_as(graph_of: Callable[[tf.Graph], tf.Graph]) -> Iterator[None]:
    """Gives random ops the seeds that they would have in another graph, within a `with` statement.

    A graph numbers its random ops, and derives their seeds from the numbers. A loop's body is a
    separate graph, whose numbers begin at 0, while the initializers of its variables are in the
    graph around it. No public name sets the number. `graph_of` takes the graph of a random op, and
    returns the graph that numbers the op.
    """
    module = private_api.seeds()
    derive = module.get_seed

    @functools.wraps(derive)
    def get_seed(op_seed: int | None) -> Any:
        graph = tf.compat.v1.get_default_graph()
        numbering = graph_of(graph)
        if numbering is graph:
            return derive(op_seed)
        with op_seeds.also_in(graph), numbering.as_default():
            return derive(op_seed)

    with replacement.attributes([(module, "get_seed", get_seed)]):
        yield


@contextlib.contextmanager
def entering_at_once(graph: tf.Graph) -> Iterator[None]:
    """Makes `graph.as_default()` cost nothing where the graph is the default one already.

    Every operation enters its graph while it is made, which takes a twentieth of the time of
    building a loop's body. Within a `with` statement, and not twice at a time.
    """
    enter, is_entered = graph.as_default, contextlib.nullcontext(graph)

    def as_default() -> Any:
        is_default = not tf.executing_eagerly() and tf.compat.v1.get_default_graph() is graph
        return is_entered if is_default else enter()

    graph.as_default = as_default
    try:
        yield
    finally:
        del graph.as_default


@contextlib.contextmanager
def initializing_outside() -> Iterator[None]:
    """Makes `tf.train.init_from_checkpoint` work in a loop's body, within a `with` statement.

    Its initializers of variables are made in the current graph, but no session reaches those of a
    loop's body; the variables are in the graph around it.
    """
    train = tf.compat.v1.train
    original = train.init_from_checkpoint

    @functools.wraps(original)
    def init_from_checkpoint(*args: Any, **kwargs: Any) -> None:
        def outside(_: Any) -> None:
            with tf.init_scope():
                original(*args, **kwargs)

        replica = tf.distribute.get_replica_context()
        if replica is None:
            # The training of another thread, which replaced the function later, calls it there.
            original(*args, **kwargs)
        else:
            # A replica cannot leave its graph; the caller of the replicas can.
            replica.merge_call(outside)

    with replacement.attributes([(train, "init_from_checkpoint", init_from_checkpoint)]):
        yield


@contextlib.contextmanager
def looking_up_with(look_up: Callable[..., tf.Tensor]) -> Iterator[None]:
    """Makes this thread look up rows of resource variables by `look_up`, within a `with` statement.

    `look_up` takes the variable's own method, the variable, and the arguments of the method.
    """
    kind, name = private_api.resource_variable(), "sparse_read"
    read = getattr(kind, name)

    def sparse_read(self: tf.Variable, *args: Any, **kwargs: Any) -> tf.Tensor:
        return look_up(read, self, *args, **kwargs)

    with replacement.functions_of_this_thread([(kind, name, sparse_read)]):
        yield


@contextlib.contextmanager
def making_tables_with(make: Callable[..., None]) -> Iterator[None]:
    """Makes lookup tables and their initializers by `make`, within a `with` statement.

    A table's initializer is made in the current graph, but no session reaches those of a loop's
    body. `make` takes a constructor, and its arguments.
    """
    def made(kind: type) -> Callable[..., None]:
        own = vars(kind)["__init__"]

        @functools.wraps(own)
        def construct(self: Any, *args: Any, **kwargs: Any) -> None:
            make(functools.partial(own, self), *args, **kwargs)

        return construct

    kinds = (tf.lookup.KeyValueTensorInitializer, tf.lookup.TextFileInitializer,
             tf.lookup.StaticHashTable)
    with replacement.attributes([(kind, "__init__", made(kind)) for kind in kinds]):
        yield


def convert_gradients(strategy: tf.distribute.Strategy, sent: Callable[[Values], Values],
                      received: Callable[[Values, Values], Values]) -> None:
    """Makes a strategy convert what an all-reduce sends.

    Every optimizer of TensorFlow passes its gradients to `StrategyExtended.batch_reduce_to`, and no
    option of a strategy splits them or sets their dtype. A copy of the strategy trains, so this
    changes the object's class. `sent` returns what the all-reduce gets for the values of a replica,
    and `received` the sums, from the results of the all-reduce and the values.
    """
    class Converting(type(strategy.extended)):  # type: ignore[misc]
        def batch_reduce_to(self, reduce_op: tf.distribute.ReduceOp,
                            value_destination_pairs: Iterable[Any], options: Any = None) -> Any:
            values, destinations = zip(*value_destination_pairs)
            packs = self.call_for_each_replica(sent, args=(list(values),))
            reduced = super().batch_reduce_to(
                reduce_op, [(pack, destinations[0]) for pack in packs], options)
            return self.call_for_each_replica(received, args=(list(reduced), list(values)))

    strategy.extended.__class__ = Converting


@contextlib.contextmanager
def applying_gradients_with(apply: Callable[..., Any]) -> Iterator[None]:
    """Makes optimizers apply gradients by `apply`, within a `with` statement.

    A model_fn makes its optimizer, and calls `minimize`, `get_updates` or `apply_gradients` with
    variables of its choice; all of them end in `apply_gradients`. `apply` takes the optimizer's own
    `apply_gradients`, whether it is the base class's, the pairs, and further arguments.
    """
    bases = (tf.compat.v1.train.Optimizer, tf.keras.optimizers.legacy.Optimizer,
             tf.keras.optimizers.Optimizer)
    kinds = {kind for base in bases for kind in _with_subclasses(base)
             if "apply_gradients" in vars(kind)}

    def applied(kind: type) -> Callable[..., Any]:
        own = vars(kind)["apply_gradients"]

        @tf.autograph.experimental.do_not_convert
        @functools.wraps(own)
        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            return apply(functools.partial(own, optimizer), kind in bases, grads_and_vars, *args,
                         **kwargs)

        return apply_gradients

    with replacement.attributes([(kind, "apply_gradients", applied(kind)) for kind in kinds]):
        yield


def _with_subclasses(base: type) -> set[type]:
    subclasses: list[type] = base.__subclasses__()
    return {base}.union(*map(_with_subclasses, subclasses))


@contextlib.contextmanager
def creating_columns_with(create: Callable[..., Any]) -> Iterator[None]:
    """Makes DenseFeatures make the variables of its columns by `create`, within a `with` statement.

    The layer, and so every canned Estimator, makes them as Keras does, without the partitioner of a
    variable scope. `create` is a creator for `tf.variable_creator_scope`.
    """
    layer = tf.keras.layers.DenseFeatures
    original = layer.build

    @functools.wraps(original)
    def build(self: Any, *args: Any, **kwargs: Any) -> None:
        with tf.variable_creator_scope(create):
            original(self, *args, **kwargs)

    with replacement.functions_of_this_thread([(layer, "build", build)]):
        yield


@contextlib.contextmanager
def polling_every_second() -> Iterator[None]:
    """Makes sessions that are created within a `with` poll for their model every POLL_SECS.

    A trainer polls until the chief has initialized or restored the model, at the start and when a
    ps is back. TensorFlow's 30 seconds are a setting of neither RunConfig nor Scaffold
    (tensorflow/tensorflow#10679, whose maintainers agree).
    """
    manager = tf.compat.v1.train.SessionManager
    polling = functools.partialmethod(manager.__init__, recovery_wait_secs=POLL_SECS)
    with replacement.attributes([(manager, "__init__", polling)]):
        yield


@contextlib.contextmanager
def synchronizing_with(make_hook: Callable[..., Any]) -> Iterator[None]:
    """Makes SyncReplicasOptimizers use another hook, within a `with` statement.

    At the end of a session the thread of TensorFlow's own hook waits for gradients, and the session
    waits 120 seconds for the thread. Nothing wakes a trainer that waits for a step. `make_hook`
    takes the optimizer and the arguments of `make_session_run_hook`.
    """
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer

    def make_session_run_hook(self: Any, is_chief: bool, num_tokens: int = -1) -> Any:
        return make_hook(self, is_chief, num_tokens)

    with replacement.attributes([(optimizer, "make_session_run_hook", make_session_run_hook)]):
        yield
