"""Every private name of TensorFlow that estimator_trainer uses, with the reason.

USED must exist. If a TensorFlow moves one, `tests/patches/test_private_api.py` and a ConfigError
name it. ATTRIBUTES are private attributes of Estimator's objects, which `estimator_training.py`
reads and sets, and PARTS those that `part` and `set_part` read and set in the user's Estimator.
SUPPLIED is imported by tensorflow-estimator 2.15.0 and missing in TensorFlow 2.16 and later. The
other modules of `patches/` have the replaced methods.
"""

import copy
import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

from estimator_trainer.errors import ConfigError

_COORDINATOR = "tensorflow.python.distribute.distribute_coordinator"
_CONTEXT = "tensorflow.python.distribute.distribute_coordinator_context"
_EXPORT = "tensorflow.python.util.tf_export"
_API = "tensorflow_estimator.python.estimator.api"
_TRAINING = "tensorflow_estimator.python.estimator.training"
_ESTIMATOR_LIB = "tensorflow_estimator.python.estimator.estimator_lib"
_QUEUES = "tensorflow_estimator.python.estimator.inputs.queues.feeding_functions"
_STEP = "tensorflow.python.training.training_util"
_GRAPH_FILES = "tensorflow.python.framework.graph_io"
_SEEDS = "tensorflow.python.framework.random_seed"
_OP_DEFS = "tensorflow.python.framework.op_def_registry"
_COLUMNS = "tensorflow.python.feature_column.feature_column_v2"
_VARIABLES = "tensorflow.python.ops.resource_variable_ops"
_ARRAYS = "tensorflow.python.ops.tensor_array_ops"
_CONVERSION = "tensorflow.python.autograph.core.config"
_SCRIPTS = "tensorflow.python.ops.script_ops"
_TPU = "tensorflow_estimator.python.estimator.tpu.tpu_estimator"

USED = {
    f"{_COORDINATOR}.run_distribute_coordinator": "starts a task, and runs a function",
    f"{_COORDINATOR}.CoordinatorMode": "whether each task runs this program, or one client all",
    f"{_CONTEXT}.get_current_worker_context": "the task of the function that it runs",
    f"{_EXPORT}.API_ATTRS": "the decorator of Estimator's public names reads `estimator` there",
    f"{_EXPORT}.API_ATTRS_V1": "the same for the names of TensorFlow 1",
    f"{_TRAINING}.train_and_evaluate": "where a script's call of it arrives",
    f"{_TRAINING}._TrainingExecutor": "a script that starts its roles by itself, as EasyRec does",
    f"{_ESTIMATOR_LIB}.train_and_evaluate": "another name of the same",
    f"{_API}._v1.estimator": "the public names of `tf.compat.v1.estimator`",
    f"{_API}._v2.estimator": "the public names of `tf.estimator`",
    f"{_QUEUES}._enqueue_data": "fills the queues of numpy_input_fn and pandas_input_fn",
    f"{_STEP}.GLOBAL_STEP_READ_KEY": "names the collection in which hooks find the global step",
    f"{_GRAPH_FILES}.text_format": "makes the text of graph.pbtxt",
    f"{_SEEDS}.get_seed": "derives the seeds of an op from the graph that the op is made in",
    f"{_OP_DEFS}.get": "the definition of an op of a name, in a function's body",
    f"{_COLUMNS}.IdentityCategoricalColumn": "in old programs it rejects a number out of range",
    "tensorflow.python.ops.math_ops._ReductionDims": "the axes of a sum of all elements",
    f"{_VARIABLES}.BaseResourceVariable": "looks up rows by its method `sparse_read`",
    f"{_ARRAYS}._GraphTensorArray": "asked for its size, TensorFlow 1 made an operation",
    f"{_CONVERSION}.CONVERSION_RULES": "the modules whose functions autograph leaves as they are",
    f"{_CONVERSION}.DoNotConvert": "a rule of that list",
    f"{_SCRIPTS}._py_funcs": "the Python functions that a dataset calls, by the names in its graph",
    f"{_TPU}.ExamplesPerSecondHook": "the hook that TPUEstimator adds to each model",
}
# By class. Estimator has no public setting for a copy that does another task's work.
ATTRIBUTES = {
    "RunConfig": {
        "_experimental_distribute": "the DistributeConfig that the user gave",
        "_train_distribute": "the strategy of training, configured for the task",
        "_eval_distribute": "the strategy of evaluation, configured for the task",
        "_distribute_coordinator_mode": "whether the coordinator is still to run",
        "_init_distributed_setting_from_environment_var": "takes role and cluster from TF_CONFIG",
        "_maybe_overwrite_session_config_for_distributed_training": "sets the device filters",
        "_cluster_spec": "the cluster",
        "_task_type": "the role",
        "_task_id": "the index within the role",
        "_is_chief": "whether the task saves checkpoints",
        "_master": "the server that a session of training runs on",
        "_evaluation_master": "the server that a session of evaluation runs on",
        "_session_config": "the ConfigProto of each session",
        "_num_ps_replicas": "number of ps",
        "_num_worker_replicas": "number of trainers",
        "_global_id_in_cluster": "the number of the task among all",
    },
    "Estimator": {
        "_config": "the RunConfig itself; `config` returns a copy",
        "_session_config": "the ConfigProto of each session",
        "_train_distribution": "the strategy of training, as the Estimator took it",
        "_eval_distribution": "the strategy of evaluation, as the Estimator took it",
    },
}
# No public name returns the arguments of an Estimator, or gives its model_fn other params; those
# of an executor are TensorFlow's own.
PARTS = {
    "_model_fn": "the model_fn that an Estimator got or made",
    "_params": "the params of the model_fn",
    "_config": "the RunConfig itself; `config` returns a copy",
    "_session_config": "the ConfigProto of each session",
    "_device_fn": "where an Estimator places variables",
    "_warm_start_settings": "the warm start of a fresh run, or None",
    "_ctx": "the batch sizes of a TPUEstimator",
    "_use_tpu": "whether that context is for a TPU",
    "_is_input_fn_invoked": "whether a TPUEstimator's model_fn is called after its input_fn",
    "_estimator": "the Estimator of an executor",
    "_train_spec": "the TrainSpec of an executor",
    "_eval_spec": "the EvalSpec of an executor",
}
# CheckpointSaverHook makes its timer by itself, of steps or of seconds.
SAVER_TIMER = "_timer"
# The attribute of that object.
PYTHON_FUNCTIONS = "_funcs"
# FileWriterCache has no public way to forget one folder's writer of event files.
EVENT_WRITERS = "_cache"
# An optimizer of TensorFlow 1 that divides the loss by the number of replicas sets this attribute
# of the graph, and the Estimator then reports the mean of the replicas' losses, not their sum.
LOSS_SCALED = "_is_loss_scaled_by_optimizer"
# A strategy numbers its collective operations as it makes them, and processes match them by number.
COLLECTIVE_KEYS = ("_collective_keys", "_group_key", "_known_groups", "_instance_key_table")
# The method with which an Estimator builds each model, where its class has its own `train` too.
CALL_MODEL_FN = "_call_model_fn"
# The only way to change an operation's input.
UPDATE_INPUT = "_update_input"
# The place of a part within the tensor that a checkpoint holds. Optimizers of TensorFlow 1 set it
# for their slots, those of Keras do not.
SLICE = ("_get_save_slice_info", "_set_save_slice_info")
# The branch or loop of TensorFlow 1's control flow that an operation is made in, or None.
BRANCH = "_get_control_flow_context"
# Adds to an error the operation, and where the program makes it, as `Session.run` does. A callable
# that `Session.make_callable` returns raises errors without.
CALL_IN_SESSION = "_do_call"
SUPPLIED = {
    "tensorflow.python.distribute.estimator_training": "imported by RunConfig and Estimator",
    "tensorflow.python.tpu.tpu_embedding": "imported by TPUEstimator, which Estimator imports",
    "tensorflow.python.tpu.tpu_embedding_gradient": "imported by TPUEstimator",
    "tensorflow.python.tpu.session_support": "imported by TPUEstimator",
    f"{_EXPORT}.ESTIMATOR_API_NAME": "read by the decorator of Estimator's public names",
}
# Programs import Estimator's modules by these names, which TensorFlow 2.16 removed.
ESTIMATOR_MODULES = {
    "tensorflow.python.estimator": "tensorflow_estimator.python.estimator",
    "tensorflow.python.estimator.keras": "tensorflow_estimator.python.estimator.keras_lib",
    **{f"tensorflow.python.tpu.{name}": f"tensorflow_estimator.python.estimator.tpu.{name}"
       for name in ("error_handling", "tpu_config", "tpu_context", "tpu_estimator", "util")},
}
# Moved before TensorFlow 2.15; adanet's last release, which is older, imports these names.
MOVED_MODULES = {
    "tensorflow.python.training.tracking": "tensorflow.python.trackable",
    "tensorflow.python.training.tracking.graph_view": "tensorflow.python.checkpoint.graph_view",
    "tensorflow.python.training.tracking.tracking": "tensorflow.python.trackable.autotrackable",
}
# The value of GLOBAL_STEP_READ_KEY: the collection of the op that reads the global step for hooks.
STEP_READ = "global_step_read_op_cache"


def use(name: str) -> Any:
    """Returns the object, or the module, of a dotted name in USED."""
    module_name, _, attribute = name.rpartition(".")
    try:
        module = importlib.import_module(module_name)
        return (getattr(module, attribute) if hasattr(module, attribute)
                else importlib.import_module(name))
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"TensorFlow {sys.modules['tensorflow'].__version__} (installed) no "
                          f"longer has {name} ({USED[name]}); expected a version that "
                          "estimator_trainer was tested on, see README.md") from error


def graph_files() -> Any:
    """Returns the module that writes graph.pbtxt, with `text_format`."""
    use(f"{_GRAPH_FILES}.text_format")
    return importlib.import_module(_GRAPH_FILES)


def seeds() -> Any:
    """Returns the module whose `get_seed` every random op calls."""
    use(f"{_SEEDS}.get_seed")
    return importlib.import_module(_SEEDS)


def keep_from_autograph(module: str) -> None:
    """Lets autograph leave a module, and those below it, as they are."""
    rules = use(f"{_CONVERSION}.CONVERSION_RULES")
    config = importlib.import_module(_CONVERSION)
    setattr(config, "CONVERSION_RULES", (use(f"{_CONVERSION}.DoNotConvert")(module), *rules))


def is_stateful(op_type: str) -> bool:
    """Returns whether ops of a type have state, or change some; True for an unknown type."""
    found = use(f"{_OP_DEFS}.get")(op_type)
    return found is None or bool(found.is_stateful)


def estimator_api(version: str) -> Any:
    """Returns the module of Estimator's public names; `version` is "_v1" or "_v2"."""
    return use(f"{_API}.{version}.estimator")


def homes_of_train_and_evaluate() -> list[Any]:
    """Returns the modules that have the function `train_and_evaluate`."""
    tf = sys.modules["tensorflow"]
    return [use(_TRAINING), use(_ESTIMATOR_LIB), estimator_api("_v1"), estimator_api("_v2"),
            tf.estimator, tf.compat.v1.estimator, tf.compat.v2.estimator]


def executor() -> Any:
    """Returns the class that `train_and_evaluate` starts a role with."""
    return use(f"{_TRAINING}._TrainingExecutor")


def coordinator_mode() -> Any:
    """Returns the class that names the modes of the distribute coordinator."""
    return use(f"{_COORDINATOR}.CoordinatorMode")


def examples_hook() -> Any:
    """Returns the class of the hook that TPUEstimator adds to each model."""
    return use(f"{_TPU}.ExamplesPerSecondHook")


def part(owner: Any, name: str) -> Any:
    """Returns one of the PARTS of an Estimator, of its context or of an executor."""
    return getattr(owner, _listed(name))


def set_part(owner: Any, name: str, value: Any) -> None:
    """Sets one of the PARTS of an Estimator."""
    setattr(owner, _listed(name), value)


def _listed(name: str) -> str:
    if name not in PARTS:
        raise ValueError(f"{name} is not in private_api.PARTS")
    return name


def resource_variable() -> Any:
    """Returns the class of resource variables, of which a lookup calls `sparse_read`."""
    return use(f"{_VARIABLES}.BaseResourceVariable")


def is_loss_scaled(graph: Any) -> bool:
    """Returns whether an optimizer in the graph divides the loss by the number of replicas."""
    return bool(getattr(graph, LOSS_SCALED))


class CollectiveKeys:
    """The numbers of a strategy's next collective operations, when the object was made."""

    def __init__(self, strategy: Any):
        """Copies the numbers of a strategy; None has none."""
        keys, *names = COLLECTIVE_KEYS
        self._keys = getattr(getattr(strategy, "extended", None), keys, None)
        self._state = {name: copy.deepcopy(getattr(self._keys, name))
                       for name in names if self._keys}

    def pass_over(self, most: int) -> None:
        """Skips `most` numbers in each process, of which fewer were used since."""
        _, group, _, instances = COLLECTIVE_KEYS
        for name, value in self._state.items():
            setattr(self._keys, name, value)
        if self._keys:
            setattr(self._keys, group, self._state[group] + most)
            for numbers in getattr(self._keys, instances).values():
                numbers.update({device: number + most for device, number in numbers.items()})


def set_input(operation: Any, index: int, tensor: Any) -> None:
    """Gives an operation of a graph another input."""
    getattr(operation, UPDATE_INPUT)(index, tensor)


def name_python_function(token: str, name: str) -> None:
    """Gives the Python function of an operation a second name, by which graphs may call it."""
    functions = getattr(use(f"{_SCRIPTS}._py_funcs"), PYTHON_FUNCTIONS)
    functions[name] = functions[token]


def slice_of(variable: Any) -> Any:
    """Returns the place of a part within the tensor that a checkpoint holds, or None."""
    return getattr(variable, SLICE[0])()


def set_slice(variable: Any, full_name: str, like: Any) -> None:
    """Makes checkpoints hold a variable as a part of `full_name`, at the place of another part."""
    place = slice_of(like)
    getattr(variable, SLICE[1])(type(place)(
        full_name, place.full_shape, place.var_offset, place.var_shape))


def is_in_branch(operation: Any) -> bool:
    """Returns whether an operation is in a branch, or a loop, of TensorFlow 1's control flow."""
    return getattr(operation, BRANCH)() is not None


def call_in_session(session: Any, function: Any, *args: Any) -> Any:
    """Calls a function that runs a session; its errors are those of `session.run`."""
    return getattr(session, CALL_IN_SESSION)(function, *args)


def set_request_stop(run_context: Any, function: Any) -> None:
    """Makes `function` what a hook's `run_context.request_stop()` calls, in one session run."""
    run_context.request_stop = function


def request_stop(run_context: Any) -> None:
    """Requests the stop of a session, also after `set_request_stop`."""
    type(run_context).request_stop(run_context)


def run_coordinator(worker_fn: Any, strategy: Any, **options: Any) -> Any:
    """Runs `worker_fn(strategy)` as the task, or the tasks, of a cluster."""
    return use(f"{_COORDINATOR}.run_distribute_coordinator")(worker_fn, strategy, **options)


def worker_context() -> Any:
    """Returns the coordinator's description of the task that runs in this thread."""
    return use(f"{_CONTEXT}.get_current_worker_context")()


def array_queues() -> tuple[ModuleType, str]:
    """Returns the module and the name of the function that fills queues with arrays."""
    use(f"{_QUEUES}._enqueue_data")
    return sys.modules[_QUEUES], "_enqueue_data"


def imported_with_legacy_keras(default: bool) -> bool:
    """Returns whether the imported TensorFlow took Keras 2; `default` if that is unknown."""
    return bool(getattr(sys.modules["tensorflow"], "_tf_uses_legacy_keras", default))


def keras_seeds() -> list[Any]:
    """Returns where each imported Keras 2 has the `generator` of its initializers' seeds.

    `tf.keras.utils.set_random_seed` makes one. Without it, Python's random numbers seed them.
    """
    backends = (sys.modules.get(f"{package}.src.backend") for package in ("keras", "tf_keras"))
    return [holder for holder in (getattr(each, "_SEED_GENERATOR", None) for each in backends)
            if holder is not None]


def supply_module(name: str, module: ModuleType) -> None:
    """Puts `module` where Estimator imports `name` from, unless TensorFlow has that module."""
    if name not in SUPPLIED:
        raise ValueError(f"{name} is not in private_api.SUPPLIED")
    if importlib.util.find_spec(name) is None:
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        setattr(importlib.import_module(parent), child, module)


def supply_export_names() -> None:
    """Gives TensorFlow's export decorator back the API name `estimator`."""
    export = importlib.import_module(_EXPORT)
    if hasattr(export, "ESTIMATOR_API_NAME"):
        return
    for name, suffix in (("API_ATTRS", ""), ("API_ATTRS_V1", "_v1")):
        table = use(f"{_EXPORT}.{name}")
        # The attributes in which TensorFlow's decorator keeps the public names of a symbol.
        table["estimator"] = type(table["tensorflow"])(
            f"_estimator_api_names{suffix}", f"_estimator_api_constants{suffix}")
    setattr(export, "ESTIMATOR_API_NAME", "estimator")
