"""Graphs, patched: each patch is still needed, works, and ends."""

from __future__ import annotations

import contextlib

import numpy as np
import tensorflow as tf

from estimator_trainer.patches import graph_patches


def test_iterating_with_replaces_iterators_and_queues_of_arrays():
    data = tf.compat.v1.data
    owners = [(data, "make_one_shot_iterator"), (data.Dataset, "make_one_shot_iterator"),
              (data, "make_initializable_iterator"),
              (data.Dataset, "make_initializable_iterator")]
    before = [getattr(*each) for each in owners]
    seen = []

    def iterate(dataset, make, is_one_shot, *args):
        seen.append(is_one_shot)
        return make(dataset, *args)

    def enqueue(make, arrays, *args, **kwargs):
        seen.append(list(arrays))
        return make(arrays, *args, **kwargs)

    with tf.Graph().as_default(), graph_patches.iterating_with(iterate, enqueue):
        dataset = data.Dataset.range(3)
        data.make_one_shot_iterator(dataset), dataset.make_one_shot_iterator()
        data.make_initializable_iterator(dataset), dataset.make_initializable_iterator("shared")
        tf.compat.v1.estimator.inputs.numpy_input_fn(
            {"x": np.arange(3)}, batch_size=1, shuffle=False)()
    assert seen == [True, True, False, False, ["x"]]
    assert [getattr(*each) for each in owners] == before


def test_seeding_as_gives_a_loop_the_seeds_of_the_outer_graph():
    def seeds(graph_of):
        with tf.Graph().as_default() as around:
            tf.compat.v1.set_random_seed(5)
            tf.random.uniform([])
            made = []

            def body(i):
                with graph_patches.seeding_as(lambda graph: graph_of(graph, around)):
                    made.append(tf.random.uniform([]).op.get_attr("seed2"))
                return i + 1

            tf.while_loop(lambda i: i < 3, body, [0])
            return [*made, tf.random.uniform([]).op.get_attr("seed2")]

    assert seeds(lambda graph, around: graph) == [0, 1]
    assert seeds(lambda graph, around: around) == [1, 2]


def test_initializing_outside_moves_initializers_out_of_a_loop(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saved = tf.compat.v1.get_variable("saved", initializer=7.0)
        session.run(saved.initializer)
        path = tf.compat.v1.train.Saver([saved]).save(session, str(tmp_path / "model"))

    def initial_value(context):
        def body(i):
            weight = tf.compat.v1.get_variable("weight", [], use_resource=True)
            tf.compat.v1.train.init_from_checkpoint(path, {"saved": weight})
            return i + 1

        with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
            with context:
                tf.while_loop(lambda i: i < 1, body, [0])
            [weight] = tf.compat.v1.global_variables()
            if weight.initializer.graph is not graph:
                return None
            session.run(weight.initializer)
            return session.run(weight)

    original = tf.compat.v1.train.init_from_checkpoint
    assert initial_value(contextlib.nullcontext()) is None
    assert initial_value(graph_patches.initializing_outside()) == 7.0
    assert tf.compat.v1.train.init_from_checkpoint is original
