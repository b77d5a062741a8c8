"""The search of a tuning job: the params to choose, from --tune, and the metric that is compared.

    --tune=learning_rate=0.0001..0.1:log     a number from a range, by its logarithm
    --tune=hidden_units=16..256              an integer, because both ends are
    --tune=optimizer=adam,sgd                one of several values

A service writes the same in its own words, and passes a choice as a flag: `--learning_rate=0.01`.
"""

import dataclasses
import re
from typing import Any, Iterator, Mapping

from estimator_trainer.errors import near_match, Problem, Setting
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_SPEC = re.compile(r"(?P<name>[A-Za-z]\w*)=(?P<values>.+)")
_RANGE = re.compile(r"(?P<low>[-+.\w]+?)\.\.(?P<high>[-+.\w]+?)(?P<log>:log)?")
_INTEGER = re.compile(r"[-+]?\d+")
_EXAMPLE = Setting("tune", "learning_rate=0.0001..0.1:log")
PLATFORMS = ("ai-platform", "vertex")


@dataclasses.dataclass(frozen=True)
class Searched:
    """One param that a tuning service chooses: from `low` to `high`, or one of `values`."""

    name: str
    low: float = 0
    high: float = 0
    is_integer: bool = False
    is_log: bool = False
    values: tuple[str, ...] = ()


def searched(text: str) -> Searched | None:
    """Returns the param of one --tune, or None if the text cannot be read."""
    spec = _SPEC.fullmatch(text)
    if not spec:
        return None
    found = _RANGE.fullmatch(spec["values"])
    if not found:
        values = tuple(spec["values"].split(","))
        return Searched(spec["name"], values=values) if len(set(values)) > 1 and all(
            values) and len(set(values)) == len(values) else None
    try:
        low, high = float(found["low"]), float(found["high"])
    except ValueError:
        return None
    is_integer = all(_INTEGER.fullmatch(found[end]) for end in ("low", "high"))
    is_log = bool(found["log"])
    if not low < high < float("inf") or low == -float("inf") or is_log and low <= 0:
        return None
    return Searched(spec["name"], low, high, is_integer, is_log)


def of_job(job: JobConfig) -> list[Searched]:
    """Returns the params of a job without problems."""
    return [each for each in map(searched, job.tune) if each]


def is_minimized(config: TrainerConfig) -> bool | None:
    """Returns whether a low value of --trial_metric is better; None: no setting says so."""
    if config.trial_metric == config.best_metric:
        return config.best_mode == "min"
    return True if config.trial_metric == "loss" else None


def problems(job: JobConfig, config: TrainerConfig,
             params: Mapping[str, Any] | None) -> Iterator[Problem]:
    """Yields what is wrong with a job's search.

    Args:
      params: The params of the plug-ins; None for a script, whose flags only the script knows.
    """
    if not job.tune:
        return
    if job.platform not in PLATFORMS:
        yield Problem("tune", job.tune[0], f"and {job.platform} has no tuning jobs here",
                      f"one of {', '.join(PLATFORMS)}", Setting("platform", "vertex"))
    if not config.trial_metric:
        yield Problem("trial_metric", beside=Setting("tune", job.tune[0]),
                      expected="the metric that trials report",
                      example=f"-- {Setting('trial_metric', 'loss')}",
                      source="--trial_metric after `--`")
    elif is_minimized(config) is None:
        yield Problem(
            "trial_metric", config.trial_metric, "and no setting says whether high is better",
            f"{Setting('best_metric')} of the same name, and {Setting('best_mode')}",
            f"-- {Setting('best_metric', config.trial_metric)} {Setting('best_mode', 'max')}",
            "--trial_metric after `--`")
    names = [text.partition("=")[0] for text in job.tune]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Problem("tune", name, "which is named twice", "each param once", _EXAMPLE)
    for text in job.tune:
        found = searched(text)
        if not found:
            yield Problem("tune", text, example=_EXAMPLE,
                          expected="NAME=LOW..HIGH, NAME=LOW..HIGH:log above 0, or NAME=A,B,C")
        elif params is not None:
            yield from _param_problems(found, text, params)


def _param_problems(found: Searched, text: str, params: Mapping[str, Any]) -> Iterator[Problem]:
    flags = {field.name: field.default for field in dataclasses.fields(TrainerConfig)}
    if found.name not in params and found.name not in flags:
        yield Problem("tune", text, f"and no plug-in has a param {found.name!r}",
                      f"one of {', '.join(sorted(params))}", _EXAMPLE,
                      advice=near_match(found.name, params))
        return
    default = params.get(found.name, flags.get(found.name))
    is_number = isinstance(default, (int, float)) and not isinstance(default, bool)
    if found.values or default is None:
        return
    if not is_number:
        yield Problem("tune", text, f"and {found.name} is not a number", "values with commas",
                      Setting("tune", f"{found.name}=A,B"))
    elif isinstance(default, int) and not found.is_integer:
        yield Problem("tune", text, f"and {found.name} is an integer", "a range of integers",
                      Setting("tune", f"{found.name}=16..256"))
    elif isinstance(default, float) and found.is_integer:
        # A service would try integers alone.
        yield Problem("tune", text, f"and {found.name} is a fraction", "a range of fractions",
                      Setting("tune", f"{found.name}={found.low}..{found.high}"
                              f"{':log' if found.is_log else ''}"))


def of_vertex(job: JobConfig, config: TrainerConfig, trial: dict[str, Any]) -> dict[str, Any]:
    """Returns a HyperparameterTuningJob of Vertex AI, whose trials are of a CustomJobSpec.

    https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.hyperparameterTuningJobs
    """
    parameters = []
    for each in of_job(job):
        spec: dict[str, Any] = {"parameterId": each.name}
        if each.values:
            spec["categoricalValueSpec"] = {"values": list(each.values)}
        else:
            spec["integerValueSpec" if each.is_integer else "doubleValueSpec"] = _ends(each)
            spec["scaleType"] = _scale(each)
        parameters.append(spec)
    return {"displayName": job.name, "maxTrialCount": job.trials,
            "parallelTrialCount": min(job.parallel_trials, job.trials),
            "studySpec": {"metrics": [{"metricId": config.trial_metric, "goal": _goal(config)}],
                          "parameters": parameters},
            "trialJobSpec": trial}


def of_ai_platform(job: JobConfig, config: TrainerConfig) -> dict[str, Any]:
    """Returns a HyperparameterSpec of AI Platform.

    https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#hyperparameterspec
    """
    params = []
    for each in of_job(job):
        spec: dict[str, Any] = {"parameterName": each.name}
        if each.values:
            spec |= {"type": "CATEGORICAL", "categoricalValues": list(each.values)}
        else:
            spec |= {"type": "INTEGER" if each.is_integer else "DOUBLE", **_ends(each),
                     "scaleType": _scale(each)}
        params.append(spec)
    return {"goal": _goal(config), "hyperparameterMetricTag": config.trial_metric,
            "maxTrials": job.trials, "maxParallelTrials": min(job.parallel_trials, job.trials),
            "params": params}


def _goal(config: TrainerConfig) -> str:
    return "MINIMIZE" if is_minimized(config) else "MAXIMIZE"


def _scale(each: Searched) -> str:
    return "UNIT_LOG_SCALE" if each.is_log else "UNIT_LINEAR_SCALE"


def _ends(each: Searched) -> dict[str, float]:
    kind = int if each.is_integer else float
    return {"minValue": kind(each.low), "maxValue": kind(each.high)}
