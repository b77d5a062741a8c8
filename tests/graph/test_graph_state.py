"""A thing that modules share in a graph has one name, known writers and known readers."""

from __future__ import annotations

import ast
import collections
import json

import pytest
import tensorflow as tf

from estimator_trainer.cluster import task_config
from estimator_trainer.graph import graph_state
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import train_op
from model_fns.training import update
from tests.support import jobs

_ROOT = jobs.REPO / "estimator_trainer"
_KNOWN = {name: value for name, value in vars(graph_state).items()
          if isinstance(value, graph_state.Collection)}
_WRITING, _READING = {"add", "put", "take"}, {"all", "first", "take"}


def _used(path, module):
    """Yields the name of a collection and the method, for each use in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and
                isinstance(node.value.value, ast.Name) and node.value.value.id == module):
            yield node.value.attr, node.attr


def test_collection_names_are_spelt_in_one_module():
    names = [each.name for each in _KNOWN.values()]
    assert len(set(names)) == len(names)
    for path in _ROOT.rglob("*.py"):
        if path.stem not in ("graph_state", "private_api"):
            for name in names:
                # "sync_replicas" of the contract is also the name of a flag.
                assert f'"{name}"' not in path.read_text() or "/" not in name, (path, name)


@pytest.mark.cluster
def test_collection_writers_and_readers_are_those_in_the_code():
    writers, readers = collections.defaultdict(set), collections.defaultdict(set)
    for path in _ROOT.rglob("*.py"):
        module = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        for name, method in _used(path, "graph_state"):
            for users, methods in ((writers, _WRITING), (readers, _READING)):
                if method in methods:
                    users[name].add(module)
    for name, each in _KNOWN.items():
        assert set(each.writers) - {"model_fn"} == writers[name], name
        assert set(each.readers) - {"model_fn"} == readers[name], name


def test_collection_names_are_those_of_model_fns_training():
    contract = {name: value.name for name, value in _KNOWN.items()
                if value in graph_state.CONTRACT}
    assert contract == {name: getattr(update, name) for name in contract}
    assert contract.keys() == {name for name, value in _KNOWN.items()
                               if "model_fn" in (*value.writers, *value.readers)}


@pytest.mark.parametrize("sync_replicas", [0, 2])
def test_collection_of_a_train_op_of_model_fns_training(sync_replicas):
    config, task = TrainerConfig(sync_replicas=sync_replicas), task_config.parse(json.dumps({
        "cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
        "task": {"type": "chief", "index": 0}}))
    with tf.Graph().as_default():
        train_op.request(config, task)
        weight = tf.compat.v1.get_variable("w", [], use_resource=True)
        spec = update.spec(tf.square(weight), {"learning_rate": 0.1})
        optimizers = graph_state.SYNC_OPTIMIZER.all()
        assert len(optimizers) == bool(sync_replicas)
        assert graph_state.SYNC_REPLICAS.all() == [2, 2][:2 * len(optimizers)]
        hooks = train_op.complete(spec, config, task).training_hooks
        for hook in hooks:
            hook.begin()
        assert len(graph_state.WAKE.all()) == len(hooks) == len(optimizers)
        # A checkpoint's graph could not hold an optimizer.
        assert not graph_state.SYNC_OPTIMIZER.all()


def test_collection_keeps_its_order_and_belongs_to_one_graph():
    numbers = graph_state.Collection[int]("tests/numbers", "a number", (), ())
    with tf.Graph().as_default() as graph:
        assert numbers.first() is None and numbers.take() is None
        numbers.put(3, 4)
        numbers.add(5)
        assert numbers.all() == [3, 4, 5] and numbers.first() == 3
    with tf.Graph().as_default():
        assert numbers.all() == [] and numbers.all(graph) == [3, 4, 5]
    with graph.as_default():
        assert numbers.take() == 5 and numbers.all() == []
