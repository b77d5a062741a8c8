"""`evaluate` does what training's evaluation does, with the same numbers."""

from __future__ import annotations

import json
import textwrap

import pytest

import estimator_trainer
from tests.support import jobs

pytestmark = pytest.mark.cluster

_HEAD = """
    import numpy as np
    import tensorflow as tf
    v1 = tf.compat.v1
    X = np.random.RandomState(0).rand(210, 3).astype(np.float32)
    Y = (X.sum(1) > 1.5).astype(np.int32)
    def dataset():
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    def input_fn(mode):
        return (dataset().repeat() if mode == "train" else dataset()).batch(20)
    def spec(features, labels, mode, hooks=(), metrics=None):
        logits = tf.keras.layers.Dense(2)(features["x"])
        predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(
            loss, v1.train.get_global_step()) if mode == "train" else None
        recalls = v1.metrics.recall_at_thresholds(labels, predictions["probabilities"][:, 1],
                                                  [0.25, 0.5, 0.75])
        return tf.estimator.EstimatorSpec(
            mode, predictions, loss, train_op, {"recalls": recalls, **(metrics or {})},
            evaluation_hooks=hooks)
"""
_NOISY = """
    def model_fn(features, labels, mode):
        noise = tf.random.normal([3]) + tf.random.normal([3], seed=7)
        return spec({"x": features["x"] + noise}, labels, mode)
"""
_PLAIN = """
    def model_fn(features, labels, mode):
        return spec(features, labels, mode)
"""
# For each of these an evaluation is built again, or reaches the program in a shape of its own.
_PROGRAMS = {
    "plain": _PLAIN,
    "from_generator": _PLAIN + """
    def dataset():
        return tf.data.Dataset.from_generator(
            lambda: (({"x": x}, y) for x, y in zip(X, Y)), output_signature=(
                {"x": tf.TensorSpec([3], tf.float32)}, tf.TensorSpec([], tf.int32)))
""",
    "py_function": """
    def model_fn(features, labels, mode):
        doubled = tf.py_function(lambda x: 2 * x, [features["x"]], tf.float32)
        doubled.set_shape([None, 3])
        return spec({"x": doubled}, labels, mode)
""",
    "evaluation_hooks": """
    class Hook(tf.estimator.SessionRunHook):
        def end(self, session):
            print("the hook saw step", session.run(v1.train.get_global_step()))
    def model_fn(features, labels, mode):
        return spec(features, labels, mode, [Hook()] if mode == "eval" else [])
""",
    "seeds": _NOISY,
    "tensors": _PLAIN + """
    def input_fn(mode):
        batches = (dataset().repeat() if mode == "train" else dataset()).batch(20)
        return v1.data.make_one_shot_iterator(batches).get_next()
""",
    "numpy_input_fn": _PLAIN + """
    def input_fn(mode):
        return v1.estimator.inputs.numpy_input_fn(
            {"x": X}, Y, 20, num_epochs=None if mode == "train" else 1, shuffle=False)
""",
    "queues": _PLAIN + """
    def input_fn(mode):
        x, y = v1.train.slice_input_producer(
            [X, Y], num_epochs=None if mode == "train" else 1, shuffle=False)
        x, y = v1.train.batch([x, y], 20, allow_smaller_final_batch=True)
        return {"x": x}, y
""",
    "canned": """
    def model_fn(config):
        return tf.estimator.DNNClassifier(
            [4], [tf.feature_column.numeric_column("x", [3])], config=config, dropout=0.1)
""",
    "keras": """
    def model_fn():
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=[3]),
                                     tf.keras.layers.BatchNormalization(),
                                     tf.keras.layers.Dense(2)])
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      ["accuracy"])
        return model
""",
    "TPUEstimator": """
    def model_fn(model_dir):
        tpu = v1.estimator.tpu
        return tpu.TPUEstimator(
            lambda features, labels, mode, params: spec(features, labels, mode),
            config=tpu.RunConfig(model_dir=model_dir), use_tpu=False, train_batch_size=20,
            eval_batch_size=20, predict_batch_size=20)
""",
}
_REPLICAS = {"none": 0, "one_device": 0, "mirrored": 2, "central_storage": 2}


def _train(tmp_path, program, *flags):
    (tmp_path / "program.py").write_text(textwrap.dedent(_HEAD) + textwrap.dedent(program))
    ran = jobs.trainer("--model_fn=./program.py", "--input_fn=./program.py", "--model_dir=m",
                       "--train_steps=20", "--seed=3", "--eval_every_steps=10",
                       "--exporters=best", *flags, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    return jobs.result(tmp_path / "m")["metrics"]


def _evaluate(tmp_path, *flags, cwd=None):
    """Evaluates by what the record says; returns the metrics of each checkpoint."""
    ran = jobs.trainer("evaluate", f"--model_dir={tmp_path / 'm'}", *flags, cwd=cwd or tmp_path)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")], ran


def _events(tmp_path):
    return sorted(path.name for path in (tmp_path / "m" / "eval").glob("events*"))


@pytest.mark.parametrize("program, strategy", [
    ("seeds", "one_device"),
    *(pytest.param(*each, marks=pytest.mark.soak) for each in (
        (program, strategy) for strategy in _REPLICAS for program in _PROGRAMS)
      if each != ("queues", "one_device"))])
def test_each_strategy_and_kind_of_program_gives_the_numbers_of_training(
        program, strategy, tmp_path):
    if program == "queues" and strategy != "none":
        pytest.skip("a strategy needs a Dataset, with the plain Estimator too")
    replicas = [f"--num_replicas={_REPLICAS[strategy]}"] if _REPLICAS[strategy] else []
    trained = _train(tmp_path, _PROGRAMS[program], f"--eval_distribute={strategy}", *replicas)
    before, elsewhere = _events(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    [found], ran = _evaluate(tmp_path, cwd=elsewhere)
    assert {name: found[name] for name in trained} == trained
    if "recalls" in found:
        assert len(found["recalls"]) == 3
    assert _events(tmp_path) == before
    if program == "evaluation_hooks":
        assert "the hook saw step 20" in ran.stdout
    if strategy == "one_device":
        assert estimator_trainer.evaluate(tmp_path / "m") == found


@pytest.mark.soak
@pytest.mark.parametrize("command", ["predict", "export"])
@pytest.mark.parametrize("program", _PROGRAMS)
def test_every_kind_of_program_predicts_and_exports_with_a_strategy(command, program, tmp_path):
    _train(tmp_path, _PROGRAMS[program])
    ran = jobs.trainer(command, f"--model_dir={tmp_path / 'm'}", "--eval_distribute=mirrored",
                       "--num_replicas=2")
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == (1 if command == "export" else 210)


def test_each_checkpoint_has_its_numbers_and_only_new_ones_leave_events(tmp_path):
    trained = _train(tmp_path, _PROGRAMS["evaluation_hooks"], "--eval_steps=5")
    (first, second, third), _ = _evaluate(tmp_path, "--checkpoint=all")
    assert [each["global_step"] for each in (first, second, third)] == [0, 10, 20]
    assert {name: third[name] for name in trained} == trained
    # Training has not evaluated the first one.
    assert jobs.evaluated_steps(tmp_path / "m") == [0, 10, 20]
    [best], ran = _evaluate(tmp_path, "--checkpoint=best", "--eval_steps=0")
    assert best["global_step"] in (10, 20) and best["loss"] != second["loss"]
    assert "(210 examples" in ran.stderr
    assert jobs.evaluated_steps(tmp_path / "m") == [0, 10, 20]


@pytest.mark.soak
def test_relative_data_files_of_a_record_are_found_from_another_folder(tmp_path):
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    for folder in (data, elsewhere, elsewhere / "data"):
        folder.mkdir()
    for name in ("train", "eval"):
        (data / f"{name}.csv").write_text("x,label\n" + "1,a\n2,b\n" * 20)
    (elsewhere / "data" / "eval.csv").write_text("x,label\n" + "1,a\n2,b\n" * 3)
    ran = jobs.trainer("--model_fn=canned", "--input_fn=csv", "--model_dir=m", "--train_steps=10",
                       "--param=train_files=data/train.csv", "--param=eval_files=data/ev*.csv",
                       cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    trained = jobs.result(tmp_path / "m")["metrics"]
    [found], ran = _evaluate(tmp_path, cwd=elsewhere)
    assert found == trained and "changed:" not in ran.stderr
    ran = jobs.trainer(f"--model_dir={tmp_path / 'm'}", "--train_steps=20", cwd=elsewhere)
    assert ran.returncode == 0 and "changed: train_steps is 20" in ran.stderr
    assert ran.stderr.count("changed:") == 1
    [found], ran = _evaluate(tmp_path, "--param=eval_files=data/eval.csv", cwd=elsewhere)
    assert "(6 examples" in ran.stderr and "changed: eval_files is 'data/eval.csv'" in ran.stderr
