"""The state of a graph: the collections through which modules share tensors and numbers.

The graph is all that a model_fn, the hooks and the input_fn of an Estimator share. Each collection
has its name here, with its writers and readers: modules of estimator_trainer, or "model_fn" for the
user's and for `model_fns/training/update.py`.
"""

import dataclasses
from typing import Any, Generic, TypeVar

import tensorflow as tf

from estimator_trainer.patches import private_api

Entry = TypeVar("Entry")


@dataclasses.dataclass(frozen=True)
class Collection(Generic[Entry]):
    """A list that belongs to a graph; the methods use the current graph.

    Attributes:
      holds: The meaning of an entry, with its dtype and shape.
      writers: The modules that add or remove entries.
      readers: The modules that read entries.
    """

    name: str
    holds: str
    writers: tuple[str, ...]
    readers: tuple[str, ...]

    def add(self, entry: Entry) -> None:
        """Appends an entry."""
        tf.compat.v1.add_to_collection(self.name, entry)

    def put(self, *entries: Entry) -> None:
        """Replaces all entries."""
        tf.compat.v1.get_collection_ref(self.name)[:] = entries

    def all(self, graph: tf.Graph | None = None) -> list[Entry]:
        """Returns the entries in order; `graph` defaults to the current one."""
        return list((graph or tf.compat.v1.get_default_graph()).get_collection(self.name))

    def first(self) -> Entry | None:
        """Returns the first entry, such as the first replica's, or None."""
        return next(iter(self.all()), None)

    def take(self) -> Entry | None:
        """Removes all entries, and returns the last one, or None.

        The graph of a checkpoint cannot hold entries other than tensors, operations and numbers.
        """
        entries = self.all()
        self.put()
        return entries[-1] if entries else None


# For the hooks, from each training step: each replica adds an entry, a loop adds one for all.
EXAMPLES = Collection[tf.Tensor](
    "estimator_trainer/examples", "int64 []: the examples of the batch",
    writers=("training.loop", "estimator.model_fn_adapter"),
    readers=("training.progress", "training.trained_records", "evaluation.evaluation_log"))
RECORDS = Collection[tf.Tensor](
    "estimator_trainer/records", "int64 []: the examples of all steps of a loop",
    writers=("training.loop",), readers=("training.trained_records",))
LOSSES = Collection[tf.Tensor]("estimator_trainer/losses", "float []: the loss of the batch",
                               writers=("training.loop",), readers=("training.progress",))
IS_LAST = Collection[tf.Tensor](
    "estimator_trainer/is_last", "bool []: whether the input ends with the batch",
    writers=("training.loop",), readers=("training.end_of_training",))
TRAIN_OPS = Collection[tf.Operation](
    "estimator_trainer/train_ops", "the operation that makes the step",
    writers=("training.loop",), readers=("training.end_of_training",))
STOP_VOTES = Collection[tf.Tensor](
    "estimator_trainer/ballots", "int32 []: the placeholder of a vote to end training",
    writers=("training.stop_consensus",), readers=("training.end_of_training",))
OWN_COUNTS = Collection[tf.Tensor](
    "estimator_trainer/own_counts", "int32 [3]: what a replica adds to COUNTS after the step",
    writers=("training.stop_consensus",), readers=("training.end_of_training",))
COUNTS = Collection[tf.Tensor](
    "estimator_trainer/counts", "int32 [3]: what `stop_consensus.counts` returns",
    writers=("training.loop",), readers=("training.end_of_training",))
LAST_HOOK = Collection[Any](
    "estimator_trainer/last_hook", "the hook that comes after all others",
    writers=("training.stop_consensus", "training.end_of_training"),
    readers=("training.stop_consensus", "training.end_of_training"))

IS_HANDED_OUT = Collection[int](
    "estimator_trainer/is_handed_out", "1, if a data worker of this process reads the training set",
    writers=("input.data_service",), readers=("training.end_of_training",))
OPTIMIZER_VARIABLES = Collection[str](
    "estimator_trainer/optimizer_variables", "the name of a variable that an optimizer has made",
    writers=("estimator.frozen",), readers=("estimator.starting_checkpoint",))

# For a loop over training steps.
DATASET = Collection[tf.data.Dataset](
    "estimator_trainer/dataset", "the training set, until the loop takes it",
    writers=("training.loop",), readers=("training.loop",))
STEPS = Collection[tf.Tensor](
    "estimator_trainer/steps", "int64 []: the placeholder of how many steps a session run makes",
    writers=("training.loop",), readers=("training.end_of_training",))
MADE = Collection[tf.Tensor](
    "estimator_trainer/made", "int64 []: how many steps the session run made",
    writers=("training.loop",), readers=("training.end_of_training", "training.trained_records"))
WAITED = Collection[tf.Tensor](
    "estimator_trainer/waited", "float64 []: the seconds for which these steps waited for batches",
    writers=("training.loop",), readers=("training.end_of_training",))
STEP_READ = Collection[tf.Tensor](
    private_api.STEP_READ, "int64 []: the global step, as TensorFlow's hooks read it",
    writers=(), readers=("training.loop",))

# For a class that runs its own iterations, and for synchronous training with ps.
FED_BATCH = Collection[tf.Tensor](
    "estimator_trainer/fed_batch", "float32 [batch]: in place of features that `train` feeds",
    writers=("estimator.model_class",), readers=("estimator.model_fn_adapter",))
WAKE = Collection[tf.Operation](
    "estimator_trainer/wake", "the operation that wakes trainers that wait for a step",
    writers=("training.train_op",), readers=("training.end_of_training",))

# The contract with model_fns, which do not import this package: these names are in `update.py`.
SYNC_REPLICAS = Collection[int](
    "sync_replicas", "two numbers, if enabled: gradients of a step, and trainers",
    writers=("training.train_op",), readers=("estimator.model_class", "model_fn"))
SYNC_OPTIMIZER = Collection[Any](
    "sync_replicas_optimizer", "the SyncReplicasOptimizer that the train op was made with",
    writers=("estimator.model_class", "model_fn", "training.train_op"),
    readers=("training.train_op",))
LOSS_SCALE = Collection[int]("loss_scale", "1, if the loss is to be scaled",
                             writers=("training.train_op",), readers=("model_fn",))
LOSS_SCALED = Collection[int]("loss_scaled", "1, if the loss is scaled",
                              writers=("model_fn",), readers=("training.train_op",))
RUNS_PER_STEP = Collection[int](
    "runs_per_step", "batches of a global step; 1 if there is no entry",
    writers=("model_fn", "training.loop"),
    readers=("training.end_of_training", "training.loop"))
CONTRACT = (SYNC_REPLICAS, SYNC_OPTIMIZER, LOSS_SCALE, LOSS_SCALED, RUNS_PER_STEP)


def step_read() -> tf.Tensor:
    """Returns the global step, an int64 scalar, as the tensor that TensorFlow's hooks fetch.

    A session prepares the graph for each new set of fetches, which takes tenths of a second.
    """
    read = STEP_READ.first()
    return tf.identity(tf.compat.v1.train.get_global_step()) if read is None else read
