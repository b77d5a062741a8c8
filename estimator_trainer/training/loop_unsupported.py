"""The reason why a session run makes a single step of a model, not a loop over steps."""

from __future__ import annotations

import collections
import contextlib
import re
from typing import Any, Callable, Iterator

import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.graph import operations
from estimator_trainer.patches import private_api, training_patches

_CHECKPOINT_OPS = {"SaveV2", "RestoreV2"}
# Operations that change something outside the loop, or keep their state between steps in a loop as
# in single session runs. Random ops draw the same numbers in both.
_SAFE_OPS = re.compile(
    r"(ReadVariableOp|VarIsInitializedOp|VariableShape|DisableCopyOnRead"
    r"|Assign(Add|Sub)?VariableOp|Resource(Sparse)?Apply\w+|Resource(Gather|GatherNd|CountUpTo)"
    r"|ResourceScatter\w+|ResourceStridedSliceAssign"
    r"|Random(Uniform|UniformInt|StandardNormal|Gamma|Poisson|PoissonV2|Shuffle|Crop)"
    r"|(Parameterized)?TruncatedNormal|Multinomial|\w+CandidateSampler"
    r"|SampleDistortedBoundingBox(V2)?"
    r"|Collective\w+|Nccl\w+|Assert|Print(V2)?|CheckNumerics(V2)?|(Eager)?PyFunc|Timestamp"
    r"|DeepCopy|Empty|GuaranteeConst|CudnnRNN\w*|TensorArray\w*|Stack((Push|Pop|Close)?V2)?"
    r"|LookupTable(Find|Size)V2|IteratorGetNext\w*|MultiDeviceIteratorGetNextFromShard"
    r"|If|While|Case|StatefulPartitionedCall)")
_MANY_LOOKUPS = 10
_CALLS = {"If", "While", "Case", "StatefulPartitionedCall"}
_REFERENCES = ("it has reference variables, which TensorFlow's loops cannot change; resource"
               " variables can be (use_resource=True, tf.compat.v1.enable_resource_variables())")


class LoopUnsupported(Exception):
    """The reason why the steps of a model cannot, or should not, be looped over."""

    def __str__(self) -> str:
        # Where a strategy calls the model_fn, TensorFlow puts a traceback in front.
        return super().__str__().rpartition(f"{LoopUnsupported.__name__}: ")[2].strip()


def check_process() -> None:
    """Raises LoopUnsupported if no graph of this process can have a loop, whatever the model."""
    if not tf.compat.v1.control_flow_v2_enabled():
        raise LoopUnsupported("TensorFlow 1's control flow is on, whose loops make no variables")


def check(spec: tf.estimator.EstimatorSpec, known: dict[str, int]) -> None:
    """Raises LoopUnsupported if the current graph, a loop's body, cannot hold the model's step.

    `known` is the result of `things` before the step was made.
    """
    for name, count in things().items():
        if count > known[name]:
            raise LoopUnsupported(
                f"it makes {name.replace('_', ' ')}, which cannot be made in a loop")
    kinds = {op.type for op in tf.compat.v1.get_default_graph().get_operations()}
    # A Saver finds its operations by name; in the graph around the loop others have these names.
    if kinds & _CHECKPOINT_OPS:
        raise LoopUnsupported(
            "it makes operations that read or write checkpoints, as a Saver does, which"
            " no session reaches in a loop")
    _check_state()
    if spec.scaffold.local_init_op is not None:
        raise LoopUnsupported(
            "its Scaffold has a local_init_op in place of the one that starts a loop's input")
    graph = tf.compat.v1.get_default_graph()
    for name in ("init_op", "ready_op", "ready_for_local_init_op", "summary_op"):
        if getattr(getattr(spec.scaffold, name), "graph", None) is graph:
            raise LoopUnsupported(f"its Scaffold has a {name}, which no session reaches in a loop")
    if _moves_of_global_step(spec.train_op) > 1:
        raise LoopUnsupported(
            "its train_op moves the global step by more than one, and a loop would skip"
            " what is due at a step")


@contextlib.contextmanager
def refusing_tables() -> Iterator[None]:
    """Raises LoopUnsupported if a loop would be slower for the lookups of the current graph's step.

    In each iteration every ps waits for the loop's condition, and a step that looks up rows of many
    tables does little else: benchmarks.sparse with one ps and with two. The last lookup of too many
    raises, so that the rest of the model and its gradients are not built in vain.
    """
    unsupported = LoopUnsupported(
        f"it looks up rows in {_MANY_LOOKUPS} or more tables on ps, which a loop makes slower")
    looked_up: list[tf.Variable] = []

    def look_up(read: Callable[..., tf.Tensor], table: tf.Variable, *args: Any,
                **kwargs: Any) -> tf.Tensor:
        if _is_on_ps(table):
            looked_up.append(table)
            if len(looked_up) == _MANY_LOOKUPS:
                raise unsupported
        return read(table, *args, **kwargs)

    with training_patches.looking_up_with(look_up):
        yield
    # A program may catch what a lookup raises, or look up rows in another thread.
    graph = tf.compat.v1.get_default_graph()
    outside = operations.outside(graph)
    found = sum(op.type == "ResourceGather" and _is_on_ps(operations.variable_of(op, outside))
                for op in graph.get_operations())
    if max(found, len(looked_up)) >= _MANY_LOOKUPS:
        raise unsupported


def _is_on_ps(variable: Any) -> bool:
    return tf.DeviceSpec.from_string(variable.device or "").job == "ps"


def of_one_trainer(spec: tf.estimator.EstimatorSpec) -> str:
    """Returns the reason against a loop that could be built for the current graph's step; or "".

    A single trainer of an all-reduce may have such a reason.
    """
    if spec.training_hooks or spec.training_chief_hooks:
        return "its EstimatorSpec has training hooks, which are called once a session run"
    return ""


def check_variables() -> None:
    """Raises LoopUnsupported if a loop's variables cannot be initialized, or are not shared."""
    graph = tf.compat.v1.get_default_graph()
    variables = tf.compat.v1.global_variables()
    if any(variable.initializer.graph is not graph for variable in variables):
        raise LoopUnsupported(
            "it replaces the initializer of a variable by an operation in the loop")
    if tf.distribute.get_strategy().num_replicas_in_sync > 1 and not all(
            hasattr(variable, "distribute_strategy") for variable in variables):
        raise LoopUnsupported(
            "each replica makes its own variables in a loop, as a Keras optimizer does")


def explain(error: Exception) -> LoopUnsupported:
    """Returns the reason that an error of building the loop stands for."""
    variables = tf.compat.v1.global_variables()
    if any(variable.op.type in operations.REFERENCE_VARIABLES for variable in variables):
        return LoopUnsupported(_REFERENCES)
    # Where a strategy calls the model_fn, TensorFlow puts a traceback in front.
    is_wrapped = str(error).startswith("in user code")
    text = str(error).strip().rpartition("\n")[2] if is_wrapped else errors.first_line(error)
    return LoopUnsupported(f"in a loop it raises {type(error).__name__}: {text.strip()}")


def things() -> dict[str, int]:
    """Returns the number of each kind of things that cannot be made in the current graph's loop."""
    keys, graph = tf.compat.v1.GraphKeys, tf.compat.v1.get_default_graph()
    return {name: sum(getattr(each, "graph", graph) is graph
                      for each in tf.compat.v1.get_collection(name)) for name in (
        keys.TABLE_INITIALIZERS, keys.QUEUE_RUNNERS, keys.INIT_OP, keys.LOCAL_INIT_OP,
        keys.READY_OP)}


class GuardedScaffold(tf.compat.v1.train.Scaffold):
    """A copy of a Scaffold whose init_fn raises LoopUnsupported if it needs what is in the loop.

    Only its call, before the first step, shows this.
    """

    @property
    def init_fn(self) -> Callable[[tf.compat.v1.Session], None] | None:
        """The user's init_fn as a function of the session, or None."""
        own = super().init_fn

        def init_fn(session: tf.compat.v1.Session) -> None:
            try:
                own(session)
            except Exception as error:
                raise LoopUnsupported(
                    f"its init_fn raises {type(error).__name__} outside a loop:"
                    f" {errors.first_line(error)}") from error

        return init_fn if own else None


def _check_state() -> None:
    graph = tf.compat.v1.get_default_graph()
    kinds = {op.type for op in graph.get_operations() if op.op_def.is_stateful}
    if kinds & _CALLS:
        kinds |= {node.op for node in operations.in_functions(graph.as_graph_def())
                  if private_api.is_stateful(node.op)}
    unsafe = sorted(kind for kind in kinds if not _SAFE_OPS.fullmatch(kind))
    if unsafe:
        raise LoopUnsupported(
            f"it has operations with a state of their own ({', '.join(unsafe)}), which"
            " a loop may not keep as single steps do")


def _moves_of_global_step(train_op: Any) -> int:
    """Returns how far the ops that run with `train_op` move the global step, as far as is known."""
    outside = operations.outside(tf.compat.v1.get_default_graph())
    step = tf.compat.v1.train.get_global_step()
    moves: collections.Counter[str] = collections.Counter()
    for op in operations.up_to(train_op):
        if op.type == "AssignAddVariableOp":
            variable = operations.variable_of(op, outside)
            added = tf.get_static_value(op.inputs[1])
            if operations.saved_name(variable) == operations.saved_name(step):
                moves[variable.name] += 1 if added is None else int(added)
    return max(moves.values(), default=0)
