"""Ragged and sparse features train, are evaluated and exported, and predict the same everywhere."""

from __future__ import annotations

import textwrap

import pytest

from tests.support import jobs

pytestmark = pytest.mark.cluster

_PLUGIN = """
    import tensorflow as tf
    v1 = tf.compat.v1
    def input_fn(mode):
        words = tf.ragged.constant([list(range(i % 5)) for i in range(41)], dtype=tf.int64)
        dataset = tf.data.Dataset.from_tensor_slices(
            ({"words": words, "tags": words.to_sparse(), "id": [str(i) for i in range(41)]},
             [i % 5 // 3 for i in range(41)]))
        return (dataset.repeat(10) if mode == "train" else dataset).batch(8)
    def model_fn(features, labels, mode):
        table = v1.get_variable("table", [5, 3], use_resource=True)
        of_words = tf.reduce_sum(tf.nn.embedding_lookup(table, features["words"]), 1)
        of_tags = tf.nn.safe_embedding_lookup_sparse(table, features["tags"])
        scores = tf.concat([of_words, of_tags], 1) @ v1.get_variable("w", [6, 2], use_resource=True)
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"scores": scores}, export_outputs={
                "serving_default": tf.estimator.export.PredictOutput({"scores": scores})})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
        train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
            "accuracy": v1.metrics.accuracy(labels, tf.argmax(scores, 1))})
"""


@pytest.mark.parametrize("kind, flags", [
    pytest.param("raw", [], marks=pytest.mark.soak),
    ("example", ["--steps_per_loop=1"]),
    pytest.param("example", ["--train_distribute=mirrored", "--eval_distribute=mirrored",
                             "--num_replicas=2"], marks=pytest.mark.soak)])
def test_every_command_takes_them(kind, flags, tmp_path):
    (tmp_path / "plugin.py").write_text(textwrap.dedent(_PLUGIN))
    common = [f"--model_fn={tmp_path}/plugin.py", f"--input_fn={tmp_path}/plugin.py",
              f"--model_dir={tmp_path}/model"]
    ran = jobs.trainer(*common, f"--serving_input={kind}", "--forward_key=id", *flags)
    assert ran.returncode == 0, ran.stderr
    is_looped = "--steps_per_loop=1" not in flags
    assert ("of its time for input" in ran.stderr) == is_looped, ran.stderr
    result = jobs.result(tmp_path / "model")
    # The end of the input was marked: no step was lost, none was made in vain.
    assert result["reason"] == "input_exhausted" and result["metrics"]["accuracy"] == 1.0
    assert result["step"] == (26 if flags[1:] else 52)
    lines = [jobs.trainer("predict", *common, "--forward_key=id", *more).stdout for more in (
        [], [f"--export_dir={result['exports'][0]}"])]
    assert lines[0].count("\n") == 41
    names = [sorted(eval(line)) for line in lines[0].splitlines()]
    assert names == [["id", "label", "scores"]] * 41
    for one, other in zip(*(text.splitlines() for text in lines)):
        one, other = eval(one), eval(other)
        assert one["id"] == other["id"] and one["scores"] == pytest.approx(other["scores"], 1e-4)
