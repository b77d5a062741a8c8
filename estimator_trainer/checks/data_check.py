"""Looks into the data of a run: a part of them without TensorFlow, or with it as training does."""

from estimator_trainer import errors, storage
from estimator_trainer.checks.plan import Findings, Plan
from estimator_trainer.plugins import inspection, loader
from estimator_trainer.plugins.plugin import Plugin

NUMBERS = "numbers"


def examine(plan: Plan, is_quick: bool) -> Findings:
    """Returns what is in the training data, and whether the model can learn their label.

    `is_quick` takes part of a second and no TensorFlow; otherwise `start.prepare` comes first.
    """
    data = plan.train_data or plan.data
    if data is None or plan.params is None or not data.inspection:
        return Findings()
    texts = [value for value in plan.params.values.values() if isinstance(value, str)]
    if is_quick and any(map(storage.scheme, texts)):
        return Findings()  # A bucket needs TensorFlow, and seconds: `probe` reads it.
    try:
        found = inspection.described(data, plan.params.values, is_quick)
    except errors.ConfigError as error:
        return Findings(problems=list(error.problems))
    problems = [_label_problem(plan.model)] if plan.model and _is_of_classes_alone(
        plan.model) and found.num_classes == -1 else []
    return Findings([*problems], list(found.warnings), dict(found.facts))


def _is_of_classes_alone(model: Plugin) -> bool:
    return bool(model.labels) and NUMBERS not in model.labels


def _label_problem(model: Plugin) -> errors.Problem:
    others = [name for name in loader.available("model_fn")
              if NUMBERS in loader.find("model_fn", name).labels]
    return errors.Problem(
        "model_fn", model.name, "which learns classes, and the label is a number",
        f"one that learns numbers: {', '.join(others)}", errors.Setting("model_fn", others[0]))
