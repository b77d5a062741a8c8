"""Evaluations in one kept session: the same as the Estimator's own, checkpoint after checkpoint."""

from __future__ import annotations

import functools
import textwrap

import pytest
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.evaluation import evaluation_log
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from tests.evaluation import comparison

pytestmark = pytest.mark.cluster


class _Raising(tf.estimator.SessionRunHook):
    """Fails at a batch of its choice; notes the session it saw."""

    def __init__(self):
        self.at, self.session = 0, None

    def begin(self):
        self._one = tf.constant(1)

    def after_create_session(self, session, coord):
        self.session, self._batches = session, 0

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(self._one)

    def after_run(self, run_context, run_values):
        self._batches += run_values.results
        if self._batches == self.at:
            raise errors.Interrupted("stopped", "SIGTERM", "local")


@pytest.fixture
def job(tmp_path, data_dir):
    """Trains a model a little; returns its Estimator, input_fn and checkpoints, oldest first."""
    return functools.partial(comparison.train, tmp_path, data_dir)


@pytest.mark.soak
def test_kept_evaluation_counts_batches_exactly(job):
    single, input_fn, paths = job("linear")
    for steps, examples in ((1, 64), (3, 192), (1000, 355), (None, 355)):
        assert comparison.compare(single, input_fn, paths, steps).examples == examples
    with KeptEvaluation(single, input_fn, []).used_by(single):
        with pytest.raises(ValueError, match="steps is 0"):
            single.evaluate(input_fn, steps=0)


def test_kept_evaluation_opens_another_session_after_a_failure(job):
    single, input_fn, paths = job("linear")
    expected = single.evaluate(input_fn, checkpoint_path=paths[1])
    hook = _Raising()
    with KeptEvaluation(single, input_fn, [hook]).used_by(single):
        single.evaluate(input_fn, hooks=[hook], checkpoint_path=paths[0])
        first, hook.at = hook.session, 2
        with pytest.raises(errors.Interrupted):
            single.evaluate(input_fn, hooks=[hook], checkpoint_path=paths[0])
        assert hook.session is first
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            single.evaluate(input_fn, hooks=[hook], checkpoint_path=f"{paths[0]}0")
        hook.at = 0
        assert single.evaluate(input_fn, hooks=[hook], checkpoint_path=paths[1]) == expected
        second = hook.session
        assert second is not first
    for session in (first, second):
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run(session.graph.get_operations()[0])


def test_kept_evaluation_leaves_another_input_to_the_estimator(job):
    single, input_fn, paths = job("linear")
    hook = evaluation_log.EvaluationProgress()

    def half(mode, params):
        return input_fn(mode, params).take(2)

    with KeptEvaluation(single, input_fn, [hook]).used_by(single):
        for each, examples in ((input_fn, 355), (half, 128), (input_fn, 355)):
            single.evaluate(each, hooks=[hook], checkpoint_path=paths[0])
            assert hook.examples == examples


def test_kept_evaluation_repeats_the_first_input(job, tmp_path):
    (tmp_path / "my_model.py").write_text(textwrap.dedent("""
        import tensorflow as tf
        def model_fn(features, labels, mode):
            v1 = tf.compat.v1
            w = v1.get_variable("w", [])
            step = v1.train.get_global_step()
            place = v1.get_variable("place", [], collections=["local_variables"],
                                    initializer=v1.zeros_initializer(), trainable=False)
            weighted = tf.reduce_sum(features) * place.assign_add(1.0)
            return tf.estimator.EstimatorSpec(
                mode, loss=w * tf.reduce_sum(features), train_op=step.assign_add(1),
                eval_metric_ops={"order": v1.metrics.mean(weighted)})
        """))
    (tmp_path / "my_input.py").write_text(textwrap.dedent("""
        import tensorflow as tf
        def input_fn(mode, params):
            files = tf.data.Dataset.list_files("FILES", shuffle=False)
            lines = tf.data.TextLineDataset(files).map(tf.strings.to_number)
            return lines.shuffle(100, seed=3).batch(2).map(lambda x: (x, x)).repeat(
                None if mode == "train" else 1)
        """.replace("FILES", f"{tmp_path}/*.txt")))
    (tmp_path / "a.txt").write_text("\n".join(map(str, range(20))))
    single, input_fn, paths = job(f"{tmp_path}/my_model.py", seed=5,
                                  input_fn=f"{tmp_path}/my_input.py")
    own = tf.estimator.Estimator.evaluate
    with KeptEvaluation(single, input_fn, []).used_by(single):
        assert "evaluate" in vars(single)
        before = [single.evaluate(input_fn, checkpoint_path=path)["order"] for path in paths]
        assert before == [own(single, input_fn, checkpoint_path=path)["order"] for path in paths]
        (tmp_path / "b.txt").write_text("100")
        assert single.evaluate(input_fn, checkpoint_path=paths[0])["order"] == before[0]
        assert own(single, input_fn, checkpoint_path=paths[0])["order"] != before[0]
