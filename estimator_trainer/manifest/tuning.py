"""The search of a tuning job: the params to choose, from --tune, and the metric that is compared.

    --tune=learning_rate=0.0001..0.1:log     a number from a range, by its logarithm
    --tune=hidden_units=16..256              an integer, because both ends are
    --tune=optimizer=adam,sgd                one of several values

A service writes the same in its own words, and passes a choice as a flag: `--learning_rate=0.01`.
"""

import dataclasses
import re
import shlex
from typing import Any, Iterator, Mapping, Sequence

from estimator_trainer import redaction
from estimator_trainer.checks.plan import Plan
from estimator_trainer.errors import near_match, Problem, Setting
from estimator_trainer.manifest.platform import does_predict
from estimator_trainer.settings.job_config import JobConfig
from estimator_trainer.settings.trainer_config import TrainerConfig

_SPEC = re.compile(r"(?P<name>[A-Za-z]\w*)=(?P<values>.+)")
_RANGE = re.compile(r"(?P<low>[-+.\w]+?)\.\.(?P<high>[-+.\w]+?)(?P<log>:log)?")
_TRIAL = "trialName"
_INTEGER = re.compile(r"[-+]?\d+")
_EXAMPLE = Setting("tune", "learning_rate=0.0001..0.1:log")
PLATFORMS = ("ai-platform", "tfjob", "vertex")
# Katib's own filter takes names of letters, digits, `_`, `|` and `-`; the name of a metric of an
# evaluation set has a slash.
_KATIB_FILTER = r"([\w|/.-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)"


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


def problems(job: JobConfig, plan: Plan, flags: Sequence[str]) -> Iterator[Problem]:
    """Yields what is wrong with a job's search, and with `flags`, which all trials have."""
    config = plan.config
    if not job.tune:
        return
    if does_predict(flags):
        yield Problem("tune", job.tune[0], "and the tasks predict",
                      "flags of a training after `--`", "-- --model_dir=gs://bucket/job")
        return
    if job.platform == "tfjob":
        yield from _katib_problems(job, plan, flags)
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
        elif plan.params is not None:
            yield from _param_problems(found, text, plan.params.values)


def _katib_problems(job: JobConfig, plan: Plan, flags: Sequence[str]) -> Iterator[Problem]:
    """Yields what a trial of Katib cannot have.

    Its webhook joins the words of the container that it reads, without quotes, for `sh -c`.
    """
    if plan.script:
        yield Problem("tune", job.tune[0], "and the trials of a script would share one model_dir",
                      "plug-ins, or a platform with a model_dir for each trial",
                      Setting("platform", "vertex"))
    for flag in (*flags, *(value for each in of_job(job) for value in each.values)):
        if shlex.quote(flag) != flag:
            yield Problem("flag", redaction.masked_words([flag])[0],
                          "which Katib passes through a shell without quotes",
                          "letters, digits and _@%+=:,./-", source="the words after `--`")


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


def of_katib(job: JobConfig, config: TrainerConfig, trial: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the spec of an Experiment of Katib, whose trials are of the spec of a TFJob.

    https://www.kubeflow.org/docs/components/katib/user-guides/hp-tuning/configure-experiment/
    """
    parameters = []
    for each in of_job(job):
        kind = "categorical" if each.values else "int" if each.is_integer else "double"
        space: dict[str, Any] = {"list": list(each.values)} if each.values else {
            "min": str(_ends(each)["minValue"]), "max": str(_ends(each)["maxValue"])}
        if each.is_log:
            space["distribution"] = "logUniform"
        parameters.append({"name": each.name, "parameterType": kind, "feasibleSpace": space})
    # The task that evaluates reports the metric.
    role = "evaluator" if job.evaluator else "chief" if job.chief else "worker"
    pod = {"training.kubeflow.org/replica-type": role}
    if role == "worker":
        pod["training.kubeflow.org/replica-index"] = "0"
    most = min(job.parallel_trials, job.trials)
    return {
        "objective": {"type": "minimize" if is_minimized(config) else "maximize",
                      "objectiveMetricName": config.trial_metric},
        "algorithm": {"algorithmName": "tpe"},
        "maxTrialCount": job.trials, "parallelTrialCount": most, "maxFailedTrialCount": most,
        "metricsCollectorSpec": {"collector": {"kind": "StdOut"},
                                 "source": {"filter": {"metricsFormat": [_KATIB_FILTER]}}},
        "parameters": parameters,
        "trialTemplate": {
            "primaryContainerName": "tensorflow", "primaryPodLabels": pod,
            "trialParameters": [
                *({"name": each.name, "reference": each.name} for each in of_job(job)),
                {"name": _TRIAL, "reference": "${trialSpec.Name}"}],
            "trialSpec": {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "spec": trial}}}


def katib_flags(job: JobConfig, config: TrainerConfig) -> list[str]:
    """Returns the flags of a trial, in which Katib replaces the names."""
    settings = {field.name for field in dataclasses.fields(TrainerConfig)}
    folder = config.model_dir.rstrip("/")
    return [f"--model_dir={folder}/${{trialParameters.{_TRIAL}}}",
            *(f"--{'' if each.name in settings else 'param='}{each.name}"
              f"=${{trialParameters.{each.name}}}" for each in of_job(job))]


def _goal(config: TrainerConfig) -> str:
    return "MINIMIZE" if is_minimized(config) else "MAXIMIZE"


def _scale(each: Searched) -> str:
    return "UNIT_LOG_SCALE" if each.is_log else "UNIT_LINEAR_SCALE"


def _ends(each: Searched) -> dict[str, float]:
    kind = int if each.is_integer else float
    return {"minValue": kind(each.low), "maxValue": kind(each.high)}
