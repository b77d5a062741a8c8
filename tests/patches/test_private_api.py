"""Every private name of TensorFlow that is touched is listed, and is still there."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pathlib

import pytest

from estimator_trainer.compat import estimator_training  # Before TensorFlow.
from estimator_trainer.errors import ConfigError
from estimator_trainer.patches import private_api

# isort: split
import tensorflow as tf

_ROOT = pathlib.Path(estimator_training.__file__).parents[1]
# Public names of Python and its named tuples.
_PUBLIC = {"_exit", "_replace", "_make", "_asdict", "_fields", "_getframe"}
# tf.contrib extends TensorFlow's optimizers, heads, bijectors and queues by their private methods;
# the programs in tests/oracle notice when one of them moves.
_EXTENSIONS = _ROOT / "compat" / "contrib"


def _private_attributes(path):
    """Returns the names of private attributes of other objects than `self`."""
    return {node.attr for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute) and node.attr.startswith("_")
            and not node.attr.startswith("__") and node.attr not in _PUBLIC
            and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))}


@pytest.mark.parametrize("name", private_api.USED)
def test_a_private_name_in_use_is_still_in_tensorflow(name):
    try:
        private_api.use(name)
    except ConfigError as error:
        pytest.fail(f"{error}; change estimator_trainer/patches/private_api.py", pytrace=False)


def test_use_names_a_private_name_that_moved(monkeypatch):
    monkeypatch.setitem(private_api.USED, "tensorflow.python.moved.thing", "does a thing")
    with pytest.raises(ConfigError, match=r"no longer has tensorflow.python.moved.thing \(does a"):
        private_api.use("tensorflow.python.moved.thing")


def test_run_coordinator_takes_and_gives_what_is_used():
    from tensorflow.python.distribute import distribute_coordinator

    run = private_api.use(f"{distribute_coordinator.__name__}.run_distribute_coordinator")
    used = {"worker_fn", "strategy", "eval_fn", "eval_strategy", "mode", "cluster_spec",
            "session_config"}
    assert used <= set(inspect.signature(run).parameters)
    mode = private_api.coordinator_mode()
    assert mode.STANDALONE_CLIENT != mode.INDEPENDENT_WORKER
    context = distribute_coordinator._WorkerContext
    for attribute in ("task_type", "task_id", "is_chief", "master_target", "session_config",
                      "cluster_spec", "distributed_mode"):
        assert hasattr(context, attribute), f"the worker context lost {attribute}"


def test_step_read_is_the_name_of_tensorflows_collection(tmp_path):
    name = "tensorflow.python.training.training_util.GLOBAL_STEP_READ_KEY"
    assert private_api.use(name) == private_api.STEP_READ
    with tf.Graph().as_default() as graph:
        tf.compat.v1.train.create_global_step()
        # A hook of TensorFlow makes the op that reads the step, where there is none.
        tf.estimator.StepCounterHook(output_dir=str(tmp_path)).begin()
        assert len(graph.get_collection(private_api.STEP_READ)) == 1


def test_set_input_changes_the_input_of_an_operation():
    with tf.Graph().as_default():
        one, two = tf.constant(1), tf.constant(2)
        negative = tf.negative(one)
        private_api.set_input(negative.op, 0, two)
        with tf.compat.v1.Session() as session:
            assert session.run(negative) == -2


def test_is_in_branch_finds_the_branches_of_tensorflow_1():
    was_v2 = tf.compat.v1.control_flow_v2_enabled()
    tf.compat.v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph:
            tf.cond(tf.constant(True), lambda: tf.constant(1, name="in"), lambda: tf.constant(2))
            beside = tf.constant(3)
        assert private_api.is_in_branch(graph.get_operation_by_name("cond/in"))
        assert not private_api.is_in_branch(beside.op)
    finally:
        if was_v2:
            tf.compat.v1.enable_control_flow_v2()


def test_set_request_stop_takes_the_request_of_a_hook():
    class Requests(tf.estimator.SessionRunHook):
        """Requests a stop in each run; the first one is taken."""

        taken = 0

        def before_run(self, run_context):
            if not self.taken:
                private_api.set_request_stop(run_context, self.take)

        def after_run(self, run_context, run_values):
            run_context.request_stop()

        def take(self):
            self.taken += 1

    with tf.Graph().as_default():
        zero, hook = tf.constant(0), Requests()
        with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
            session.run(zero)
            assert hook.taken == 1 and not session.should_stop()
            session.run(zero)
            assert hook.taken == 1 and session.should_stop()


@pytest.mark.parametrize("strategy", [False, True], ids=["no strategy", "a strategy"])
def test_a_private_attribute_in_use_is_still_that_of_estimator(strategy, monkeypatch, tmp_path):
    cluster = {"chief": ["h:1"], "ps": ["h:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps(
        {"cluster": cluster, "task": {"type": "chief", "index": 0}}))
    if strategy:
        monkeypatch.delenv("TF_CONFIG")
    config = tf.estimator.RunConfig(str(tmp_path), train_distribute=(
        tf.distribute.OneDeviceStrategy("/cpu:0") if strategy else None))
    estimator = tf.estimator.Estimator(lambda features: None, config=config)
    for each in (config, estimator):
        kind = "RunConfig" if each is config else "Estimator"
        lost = [name for name in private_api.ATTRIBUTES[kind] if not hasattr(each, name)]
        # TensorFlow sets it where there is a strategy to coordinate.
        assert lost == ([] if strategy or each is estimator else ["_distribute_coordinator_mode"])


def test_a_private_part_in_use_is_still_on_the_users_estimator():
    tpu = tf.compat.v1.estimator.tpu
    estimator = tpu.TPUEstimator(lambda features, params: None, config=tpu.RunConfig(),
                                 train_batch_size=1, use_tpu=False)
    executor = private_api.executor()(
        estimator, tf.estimator.TrainSpec(lambda: None), tf.estimator.EvalSpec(lambda: None))
    lost = [name for name in private_api.PARTS if name != "_use_tpu"
            and not any(hasattr(each, name) for each in (estimator, executor))]
    assert not lost and private_api.part(executor, "_estimator") is estimator
    assert private_api.part(private_api.part(estimator, "_ctx"), "_use_tpu") is False
    with pytest.raises(ValueError, match="not in private_api.PARTS"):
        private_api.part(estimator, "_other")


@pytest.mark.cluster
def test_private_attributes_are_used_in_one_module():
    listed = {name for names in private_api.ATTRIBUTES.values() for name in names}
    for path in {*_ROOT.rglob("*.py")} - {*_EXTENSIONS.rglob("*.py")}:
        is_listed_of = listed if path.samefile(estimator_training.__file__) else set()
        assert _private_attributes(path) == is_listed_of, path


def test_supply_module_makes_an_old_name_importable():
    for name in private_api.SUPPLIED:
        module_name, _, attribute = name.rpartition(".")
        module = __import__(module_name, fromlist=[attribute])
        assert getattr(module, attribute)
    with pytest.raises(ValueError, match="not in private_api.SUPPLIED"):
        private_api.supply_module("tensorflow.python.other", module)


def test_a_module_that_moved_is_importable_by_its_old_name():
    for name, home in private_api.MOVED_MODULES.items():
        assert importlib.import_module(name) is importlib.import_module(home)


@pytest.mark.cluster
def test_estimator_finds_every_private_name_that_it_imports():
    import tensorflow_estimator

    missing = set()
    for path in pathlib.Path(tensorflow_estimator.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.startswith("tensorflow.python"):
                for alias in node.names:
                    try:
                        source = __import__(module, fromlist=[alias.name])
                        getattr(source, alias.name)
                    except (ImportError, AttributeError):
                        missing.add(f"{module}.{alias.name} ({path.name})")
    assert not missing, f"TensorFlow {tf.__version__} no longer has {sorted(missing)}"


def test_is_loss_scaled_finds_a_scaled_loss():
    with tf.Graph().as_default() as graph:
        loss = tf.compat.v1.get_variable("w", []) ** 2
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
        setattr(graph, private_api.LOSS_SCALED, True)
        optimizer.minimize(loss)
        # There is one replica.
        assert not private_api.is_loss_scaled(graph)


def test_collective_keys_are_numbered_where_expected():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    keys = private_api.CollectiveKeys(strategy)
    numbering = getattr(strategy.extended, private_api.COLLECTIVE_KEYS[0])
    group = numbering.get_group_key(["/device:CPU:0"])
    first = numbering.get_instance_key(group, "/device:CPU:0")
    keys.pass_over(1000)
    later = numbering.get_group_key(["/device:CPU:0"])
    assert later == group + 1000
    assert numbering.get_instance_key(later, "/device:CPU:0") == first
    again = private_api.CollectiveKeys(strategy)
    again.pass_over(1000)
    assert numbering.get_group_key(["/device:CPU:0"]) == later
    assert numbering.get_instance_key(later, "/device:CPU:0") == first + 1 + 1000
