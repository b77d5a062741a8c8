"""Where TensorFlow is bent: each method that is replaced, and each value that has no public name.

`cluster_patches.py` has those of what reads TF_CONFIG. Nothing else in this package outside
`compat/` changes how TensorFlow works. Each function says why; a test in
`tests/estimator/test_upstream_bends.py` fails when a TensorFlow no longer needs it, or no longer
takes it. The private names that are read are in `patches/private_api.py`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any, Callable, Iterable, Iterator, Sequence

import tensorflow as tf

from estimator_trainer import storage
from estimator_trainer.patches import private_api, replacement

POLL_SECS = 1
_RENAMES = 5
# Values of tensorflow.RewriterConfig.Toggle, an enum that TensorFlow exports under no name.
REWRITER_ON, REWRITER_OFF = 1, 2

Train = Callable[..., tf.estimator.Estimator]
Values = list[Any]


def poll_every_second() -> None:
    """Makes every session that is created from now on wait in steps of POLL_SECS for its model.

    A trainer looks this often whether the chief has initialized or restored the model. The default
    is 30 seconds, at the start and after a ps came back, and is out of reach: it is neither in
    RunConfig nor in a Scaffold (tensorflow/tensorflow#10679, whose maintainers agree).
    """
    manager = tf.compat.v1.train.SessionManager
    if inspect.signature(manager.__init__).parameters["recovery_wait_secs"].default != POLL_SECS:
        manager.__init__ = functools.partialmethod(
            manager.__init__, recovery_wait_secs=POLL_SECS)


@contextlib.contextmanager
def naming_event_files(task_name: str) -> Iterator[None]:
    """Ends the names of event files with the name of the task that writes, within a `with`.

    TensorFlow names a file after the second and the host, so two tasks of one machine may write
    into one file, which is then corrupt. So did every job with a `master`: Estimator lets worker 0
    write the summaries, and the master the marks of checkpoints. No setting of a RunConfig, a hook
    or FileWriterCache reaches FileWriter's `filename_suffix`. What gives one has its own.
    """
    writer = tf.compat.v1.summary.FileWriter
    named = functools.partialmethod(
        writer.__init__, filename_suffix=f".{task_name.replace(':', '_')}")
    with replacement.attributes([(writer, "__init__", named)]):
        yield


@contextlib.contextmanager
def synchronizing_with(make_hook: Callable[..., Any]) -> Iterator[None]:
    """Makes a SyncReplicasOptimizer's hook with another function, within a `with` statement.

    The thread of its own hook waits for gradients at the end of a session, which waits for the
    thread, 120 seconds long. A trainer that waits for a step is not woken by anything.

    Args:
      make_hook: Takes the optimizer and the arguments of `make_session_run_hook`.
    """
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer

    def make_session_run_hook(self: Any, is_chief: bool, num_tokens: int = -1) -> Any:
        return make_hook(self, is_chief, num_tokens)

    with replacement.attributes([(optimizer, "make_session_run_hook", make_session_run_hook)]):
        yield


@contextlib.contextmanager
def saving_by_time_too(secs: float | None) -> Iterator[None]:
    """Makes what saves every so many steps save after `secs` without a checkpoint, too.

    CheckpointSaverHook, and so a RunConfig, takes steps or seconds; for both it raises ValueError.
    """
    saver, made = tf.estimator.CheckpointSaverHook, tf.estimator.CheckpointSaverHook.__init__

    def made_with_both(hook: Any, *args: Any, **kwargs: Any) -> None:
        made(hook, *args, **kwargs)
        timer = getattr(hook, private_api.SAVER_TIMER)
        by_steps = timer.should_trigger_for_step
        by_secs = tf.estimator.SecondOrStepTimer(every_secs=secs)

        def is_due(step: int) -> bool:
            last = timer.last_triggered_step()
            if last != by_secs.last_triggered_step():
                by_secs.update_last_triggered_step(last)
            return bool(by_steps(step) or by_secs.should_trigger_for_step(step))

        timer.should_trigger_for_step = is_due

    with replacement.functions_of_this_thread(
            [(saver, "__init__", made_with_both)] if secs else []):
        yield


@contextlib.contextmanager
def saving_with(listener: tf.estimator.CheckpointSaverListener | None) -> Iterator[None]:
    """Makes every CheckpointSaverHook call a listener, within a `with` statement; None: no change.

    Under a strategy in a cluster the Estimator refuses the listeners of a TrainSpec, or drops them
    (TensorFlow 2.15), and makes the hook by itself.
    """
    saver, made = tf.estimator.CheckpointSaverHook, tf.estimator.CheckpointSaverHook.__init__
    signature = inspect.signature(made)

    def made_with_listener(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        own = bound.arguments.get("listeners") or ()
        bound.arguments["listeners"] = [listener, *own]
        made(*bound.args, **bound.kwargs)

    with replacement.functions_of_this_thread(
            [(saver, "__init__", made_with_listener)] if listener else []):
        yield


@contextlib.contextmanager
def saving_apart() -> Iterator[None]:
    """Lets a Saver that goes on from a checkpoint delete none of those before, within a `with`.

    Every trainer of an all-reduce saves, all but the chief into a folder that nothing reads. Each
    begins with the chief's list of checkpoints, and would delete the chief's to keep its own
    number: with one to keep, the only checkpoint of the job.
    """
    def forget(saver: tf.compat.v1.train.Saver, checkpoint_paths: Sequence[str]) -> None:
        pass

    with replacement.functions_of_this_thread(
            [(tf.compat.v1.train.Saver, "recover_last_checkpoints", forget)]):
        yield


def train_with(estimator: tf.estimator.Estimator, train: Train) -> None:
    """Makes an Estimator train with `train`.

    The class of the object is changed. The Estimator refuses to be constructed as a subclass that
    overrides one of its methods. An attribute of the object, as in `evaluating_with`, would not do:
    under a strategy a copy of the Estimator trains.

    Args:
      estimator: The Estimator.
      train: Takes the Estimator, its class's own `train`, and the arguments of that.
    """
    class Training(type(estimator)):  # type: ignore[misc]
        """An Estimator with another `train`."""

        def train(self, *args: Any, **kwargs: Any) -> tf.estimator.Estimator:
            """Trains."""
            return train(self, super().train, *args, **kwargs)

    estimator.__class__ = Training


@contextlib.contextmanager
def evaluating_with(estimators: Iterable[tf.estimator.Estimator],
                    evaluate: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Makes Estimators evaluate with `evaluate`, within a `with` statement.

    It is an attribute of each object, since the Estimator refuses a subclass that overrides it,
    and `train_and_evaluate`, which calls it, takes no other kind of object.
    """
    estimators = list(estimators)
    for estimator in estimators:
        estimator.evaluate = evaluate
    try:
        yield
    finally:
        for estimator in estimators:
            del estimator.evaluate


@contextlib.contextmanager
def writing_evaluations_of(is_wanted: Callable[[int], bool]) -> Iterator[None]:
    """Makes evaluations leave events for some global steps alone, within a `with` statement.

    `Estimator.evaluate` adds an event to `eval/` at every call, so that a second evaluation of a
    checkpoint shows as a second point of its step. No argument of it leaves the event out.
    """
    module, names = private_api.evaluation_writers()

    def only_wanted(write: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(write)

        # The Estimator passes the arguments by name, `private_api.write_evaluation` by position.
        def written(*args: Any, **kwargs: Any) -> None:
            step = signature.bind(*args, **kwargs).arguments[private_api.EVALUATED_STEP]
            if is_wanted(int(step)):
                write(*args, **kwargs)

        return written

    with replacement.attributes([(module, each, only_wanted(getattr(module, each)))
                                 for each in names]):
        yield


@contextlib.contextmanager
def renaming_again() -> Iterator[None]:
    """Makes `gfile.Rename`, with which an export ends, try again in a bucket, within a `with`.

    TensorFlow first asks the bucket whether the name is a folder. If the answer is 429 or 503, it
    takes the folder for an object, which is not there, and raises NotFoundError
    (`GcsFileSystem::RenameFile`); after an error at any other request it tries again by itself.
    """
    gfile = tf.compat.v1.gfile
    rename = gfile.Rename

    def renamed(old: Any, new: Any, overwrite: bool = False) -> None:
        path = tf.compat.as_str_any(old)
        for _ in range(_RENAMES - 1):
            try:
                return rename(old, new, overwrite)
            except tf.errors.NotFoundError:
                if not storage.is_object_store(path) or not tf.io.gfile.glob(f"{path}/*"):
                    raise
                overwrite = True  # A part may have its new name.
        return rename(old, new, overwrite)

    with replacement.attributes([(gfile, "Rename", renamed)]):
        yield


@contextlib.contextmanager
def iterating_with(iterate: Callable[..., Any], enqueue: Callable[..., Any]) -> Iterator[None]:
    """Makes iterators of datasets, and queues of arrays, by other functions, within a `with`.

    An input_fn that returns tensors has no other trace of the dataset that they come from.

    Args:
      iterate: Takes a dataset, TensorFlow's own function that makes an iterator of it, whether
        that one needs no initializer, and the further arguments.
      enqueue: Takes Estimator's own `_enqueue_data`, and the arguments of that.
    """
    data = tf.compat.v1.data
    iterators = [
        (owner, name, _iterating(iterate, getattr(owner, name), "one_shot" in name))
        for owner in (data, data.Dataset)
        for name in ("make_one_shot_iterator", "make_initializable_iterator")]
    queues, name = private_api.array_queues()
    filled = functools.partial(enqueue, getattr(queues, name))
    with replacement.functions_of_this_thread([*iterators, (queues, name, filled)]):
        yield


def _iterating(iterate: Callable[..., Any], make: Callable[..., Any],
               is_one_shot: bool) -> Callable[..., Any]:
    """Returns what stands for TensorFlow's `make`, as a function and as a method."""
    def made(dataset: tf.data.Dataset, *args: Any, **kwargs: Any) -> Any:
        return iterate(dataset, make, is_one_shot, *args, **kwargs)

    return made


def convert_gradients(strategy: tf.distribute.Strategy, sent: Callable[[Values], Values],
                      received: Callable[[Values, Values], Values]) -> None:
    """Makes a strategy convert what an all-reduce sends.

    Every optimizer of TensorFlow hands its gradients to `StrategyExtended.batch_reduce_to`. No
    option of a strategy cuts them or sets their dtype, and its class is not the user's to choose.
    The class of the object is changed, since a copy of the strategy trains.

    Args:
      strategy: The strategy.
      sent: Makes of the values of one replica what the all-reduce gets.
      received: Makes the sums of what the all-reduce returns, and of the values.
    """
    class Converting(type(strategy.extended)):  # type: ignore[misc]
        """A StrategyExtended that converts what it reduces."""

        def batch_reduce_to(self, reduce_op: tf.distribute.ReduceOp,
                            value_destination_pairs: Iterable[Any], options: Any = None) -> Any:
            """Reduces each value to its destination."""
            values, destinations = zip(*value_destination_pairs)
            packs = self.call_for_each_replica(sent, args=(list(values),))
            reduced = super().batch_reduce_to(
                reduce_op, [(pack, destinations[0]) for pack in packs], options)
            return self.call_for_each_replica(received, args=(list(reduced), list(values)))

    strategy.extended.__class__ = Converting


@contextlib.contextmanager
def seeding_as(graph_of: Callable[[tf.Graph], tf.Graph]) -> Iterator[None]:
    """Gives the random ops of a graph the seeds that they would have in another one.

    A graph numbers its random ops, and derives the seed of each from its number. A loop's body is a
    graph of its own, whose numbers begin at 0, while the variables that are made in it have their
    initializers in the graph around it. No public name sets the number. It holds within a `with`.

    Args:
      graph_of: Takes the graph of a random op, and returns the graph that numbers the op.
    """
    module = private_api.seeds()
    derive = module.get_seed

    @functools.wraps(derive)
    def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
        graph = tf.compat.v1.get_default_graph()
        numbering = graph_of(graph)
        if numbering is graph:
            return derive(op_seed)
        with numbering.as_default():
            return derive(op_seed)

    with replacement.attributes([(module, "get_seed", get_seed)]):
        yield


@contextlib.contextmanager
def applying_gradients_with(apply: Callable[..., Any] | None) -> Iterator[None]:
    """Makes optimizers apply gradients by `apply`, within a `with` statement.

    A model_fn makes its optimizer by itself, and hands it gradients by `minimize`, `get_updates` or
    `apply_gradients`, with variables of its own choice; all of them end in `apply_gradients`.

    Args:
      apply: Takes the optimizer's own `apply_gradients`, whether that is the base class's, the
        pairs of gradients and variables, and the further arguments. None changes nothing.
    """
    bases = (tf.compat.v1.train.Optimizer, tf.keras.optimizers.legacy.Optimizer,
             tf.keras.optimizers.Optimizer)
    kinds = {kind for base in bases for kind in _with_subclasses(base)
             if "apply_gradients" in vars(kind)} if apply else set()

    def applied(kind: type) -> Callable[..., Any]:
        own = vars(kind)["apply_gradients"]

        @tf.autograph.experimental.do_not_convert
        @functools.wraps(own)
        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            assert apply is not None
            return apply(functools.partial(own, optimizer), kind in bases, grads_and_vars, *args,
                         **kwargs)

        return apply_gradients

    with replacement.attributes([(kind, "apply_gradients", applied(kind)) for kind in kinds]):
        yield


def _with_subclasses(base: type) -> set[type]:
    subclasses: list[type] = base.__subclasses__()
    return {base}.union(*map(_with_subclasses, subclasses))


@contextlib.contextmanager
def initializing_outside() -> Iterator[None]:
    """Makes `tf.train.init_from_checkpoint` work in a loop's body, within a `with` statement.

    It makes the operations that initialize variables where it is called. In the body no session
    reaches them; the variables themselves are in the graph around it.
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
            # Another training, in a thread of its own, has called `outside` of this one.
            original(*args, **kwargs)
        else:
            # A replica cannot leave its graph; what calls the replicas can.
            replica.merge_call(outside)

    with replacement.attributes([(train, "init_from_checkpoint", init_from_checkpoint)]):
        yield
