"""Evaluations by the Estimator itself and in a kept session, compared to the bit."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer import environment
from estimator_trainer.checks import run_plan
from estimator_trainer.estimator import builder, loaded_plugins
from estimator_trainer.evaluation import evaluation_log
from estimator_trainer.evaluation.kept_evaluation import KeptEvaluation
from estimator_trainer.settings.trainer_config import TrainerConfig

STEPS = (4, 8, 9)


def train(tmp_path, data_dir, model_fn, *param, seed=0, input_fn="digits"):
    """Trains a model a little; returns its Estimator, input_fn and checkpoints, oldest first."""
    if input_fn == "digits":
        param = (f"data_dir={data_dir}", *param)
    config = TrainerConfig(model_fn=model_fn, input_fn=input_fn, param=param, seed=seed,
                           model_dir=str(tmp_path / "model"), save_checkpoints_steps=4)
    planned = run_plan.ready(run_plan.for_one_process(config, environment.Environment()))
    parts = loaded_plugins.load(planned)
    single = builder.for_one_process(config, parts)
    single.train(parts.input_fn, steps=max(STEPS))
    return single, parts.input_fn, [f"{single.model_dir}/model.ckpt-{step}" for step in STEPS]


def events(folder):
    """Returns the steps and values of an evaluation's event files, in order."""
    return [(event.step, value.tag, value.simple_value or value.tensor.string_val)
            for path in sorted(tf.io.gfile.glob(f"{folder}/events*"))
            for event in tf.compat.v1.train.summary_iterator(path)
            for value in event.summary.value]


def compare(single, input_fn, paths, steps=None):
    """Evaluates as the Estimator does and with a kept session, and compares to the bit."""
    paths = [*paths, paths[0]]
    expected = [single.evaluate(input_fn, steps, checkpoint_path=path, name="own")
                for path in paths]
    hook = evaluation_log.EvaluationProgress()
    with KeptEvaluation(single, input_fn, [hook]).used_by(single):
        assert "evaluate" in vars(single)
        found = [single.evaluate(input_fn, steps, [hook], path, "kept") for path in paths]
    assert "evaluate" not in vars(single)
    assert [list(metrics.items()) for metrics in found] == [
        list(metrics.items()) for metrics in expected]
    assert len({metrics["loss"] for metrics in found}) == len(paths) - 1
    assert events(single.eval_dir("kept")) == events(single.eval_dir("own"))
    return hook
