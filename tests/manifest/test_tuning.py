"""`manifest --tune` writes tuning jobs that fit the services' schemas and gcloud."""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import Any

import pytest

from estimator_trainer import errors
from estimator_trainer.settings import command_line
from tests.manifest import test_google_cloud
from tests.support import platform_schemas
from tests.support.manifests import documents, write

pytestmark = pytest.mark.usefixtures("own_folder")
_SEARCH = ["--tune=learning_rate=0.0001..0.1:log", "--tune=hidden_units=16..256",
           "--tune=optimizer=adam,sgd", "--trials=9", "--parallel_trials=3"]
_METRIC = ["--model_fn=mlp", "--trial_metric=accuracy", "--best_metric=accuracy",
           "--best_mode=max"]


def _job(platform: str, *job_flags: str) -> tuple[str, dict[str, Any]]:
    """Returns what `manifest` prints, and the job that it writes."""
    text = write(f"--platform={platform}", *_SEARCH, *job_flags, flags=_METRIC)
    (job,) = documents()
    return text, job


def test_vertex_gets_a_tuning_job_of_the_custom_job() -> None:
    text, job = _job("vertex", "--worker=2", "--ps=1")
    platform_schemas.check_google(
        "aiplatform.v1", "GoogleCloudAiplatformV1HyperparameterTuningJob", job)
    assert (job["maxTrialCount"], job["parallelTrialCount"]) == (9, 3)
    assert job["studySpec"] == {
        "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
        "parameters": [
            {"parameterId": "learning_rate", "scaleType": "UNIT_LOG_SCALE",
             "doubleValueSpec": {"minValue": 0.0001, "maxValue": 0.1}},
            {"parameterId": "hidden_units", "scaleType": "UNIT_LINEAR_SCALE",
             "integerValueSpec": {"minValue": 16, "maxValue": 256}},
            {"parameterId": "optimizer", "categoricalValueSpec": {"values": ["adam", "sgd"]}}]}
    write("--platform=vertex", "--worker=2", "--ps=1", flags=_METRIC)
    assert [job["trialJobSpec"]] == documents()
    assert "gcloud ai hp-tuning-jobs create" in text and "--max-trial-count=9" in text


def test_a_tuning_job_with_an_empty_pool_goes_to_the_service_itself() -> None:
    text = write("--platform=vertex", "--worker=2", "--evaluator=1", *_SEARCH,
                 flags=[*_METRIC, "--train_distribute=multi_worker_mirrored"])
    job = json.loads(pathlib.Path("manifest/job.json").read_text())
    platform_schemas.check_google(
        "aiplatform.v1", "GoogleCloudAiplatformV1HyperparameterTuningJob", job)
    assert job["trialJobSpec"]["workerPoolSpecs"][2] == {}
    assert "/hyperparameterTuningJobs" in text


def test_ai_platform_gets_hyperparameters() -> None:
    _, job = _job("ai-platform", "--worker=2", "--ps=1")
    platform_schemas.check_google("ml.v1", "GoogleCloudMlV1__Job", job)
    search = job["trainingInput"]["hyperparameters"]
    assert (search["goal"], search["hyperparameterMetricTag"], search["maxTrials"]) == (
        "MAXIMIZE", "accuracy", 9)
    assert search["params"][1:] == [
        {"parameterName": "hidden_units", "type": "INTEGER", "minValue": 16, "maxValue": 256,
         "scaleType": "UNIT_LINEAR_SCALE"},
        {"parameterName": "optimizer", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]}]


@pytest.mark.cluster
@pytest.mark.skipif(not shutil.which("gcloud"), reason="no gcloud here")
@pytest.mark.parametrize("platform", ["vertex", "ai-platform"])
def test_gcloud_sends_the_search_whole(platform: str, tmp_path: pathlib.Path) -> None:
    text, written = _job(platform, "--worker=2", "--ps=1", "--evaluator=1")
    sent = test_google_cloud.sent_by_gcloud(text, tmp_path, "hyperparameterTuningJobs")
    if platform == "ai-platform":
        search = "hyperparameters"
        assert sent["trainingInput"][search] == written["trainingInput"][search]
    else:
        assert test_google_cloud.integers_as_text(sent) == test_google_cloud.integers_as_text(
            written)


@pytest.mark.parametrize("evaluator, pod", [(1, "evaluator"), (0, "chief")])
def test_katib_gets_an_experiment_of_tfjobs(evaluator: int, pod: str) -> None:
    text = write("--platform=tfjob", "--worker=2", "--ps=1", f"--evaluator={evaluator}", *_SEARCH,
                 "--tune=train_steps=100..200", flags=_METRIC)
    policy, experiment = documents()
    template = experiment["spec"]["trialTemplate"]
    # Katib's webhook refuses a template with a name.
    trial = template.pop("trialSpec")
    assert "metadata" not in trial
    for each in (policy, experiment, {**trial, "metadata": {"name": "trial"}}):
        platform_schemas.check_kubernetes(each)
    assert template["primaryPodLabels"] == {"training.kubeflow.org/replica-type": pod}
    assert experiment["spec"]["objective"] == {
        "type": "maximize", "objectiveMetricName": "accuracy"}
    assert experiment["spec"]["parameters"][0] == {
        "name": "learning_rate", "parameterType": "double",
        "feasibleSpace": {"min": "0.0001", "max": "0.1", "distribution": "logUniform"}}
    # As Katib makes a trial (pkg/controller.v1beta1/experiment/manifest/generator.go).
    chosen = {"learning_rate": "0.01", "hidden_units": "32", "optimizer": "sgd",
              "train_steps": "150", "${trialSpec.Name}": "digits-x7"}
    spec = json.dumps(trial)
    for each in template["trialParameters"]:
        assert (name := "${trialParameters.%s}" % each["name"]) in spec
        spec = spec.replace(name, chosen[each["reference"]])
    assert "${" not in spec
    for role, replica in json.loads(spec)["spec"]["tfReplicaSpecs"].items():
        [container] = replica["template"]["spec"]["containers"]
        assert container["name"] == template["primaryContainerName"]
        line = command_line.parse(container["args"])
        assert line.config.model_dir == "gs://bucket/job/digits-x7"
        assert line.config.param == ("learning_rate=0.01", "hidden_units=32", "optimizer=sgd")
        assert line.config.train_steps == 150, role
        labels = policy["spec"]["podSelector"]["matchLabels"]
        assert replica["template"]["metadata"]["labels"] == labels
    assert "kubectl describe -n default experiment/estimator-trainer" in text


@pytest.mark.parametrize("flag", [
    "--freeze=a b", "--freeze=$HOME", "--param=password=a;b"])
def test_a_word_that_katibs_shell_would_change_is_refused(flag: str) -> None:
    with pytest.raises(errors.ConfigError, match="Katib passes through a shell") as raised:
        write("--platform=tfjob", *_SEARCH, flags=[*_METRIC, flag])
    assert "a;b" not in str(raised.value)


@pytest.mark.parametrize("tune, expected", [
    (["learning_rat=0.1..1.0"], "no plug-in has a param 'learning_rat'.*'learning_rate'"),
    (["learning_rate=1..10"], "is a fraction; expected a range of fractions. For example:"
     " --tune=learning_rate=1.0..10.0"),
    (["learning_rate=0.0..1.0:log"], "expected NAME=LOW..HIGH"),
    (["learning_rate=1.0..0.1"], "expected NAME=LOW..HIGH"),
    (["learning_rate"], "expected NAME=LOW..HIGH"),
    (["optimizer=adam"], "NAME=A,B,C"),
    (["hidden_units=0.5..1.5"], "is an integer; expected a range of integers"),
    (["optimizer=1..2"], "is not a number; expected values with commas"),
    (["train_steps=1..2", "train_steps=4..8"], "'train_steps' .*, which is named twice"),
])
def test_a_search_that_cannot_be_read_is_one_sentence(tune: list[str], expected: str) -> None:
    with pytest.raises(errors.ConfigError, match=expected):
        write("--platform=vertex", *(f"--tune={each}" for each in tune), flags=_METRIC)


@pytest.mark.parametrize("flags, expected", [
    ([], "trial_metric is missing .*For example: -- --trial_metric=loss"),
    (["--trial_metric=accuracy"], "-- --best_metric=accuracy --best_mode=max")])
def test_a_search_needs_a_metric_and_its_better_end(flags: list[str], expected: str) -> None:
    with pytest.raises(errors.ConfigError, match=expected):
        write("--platform=vertex", "--tune=learning_rate=0.1..1.0", flags=flags)


def test_a_platform_without_tuning_jobs_is_named() -> None:
    with pytest.raises(errors.ConfigError, match="slurm has no tuning jobs here"):
        write("--platform=slurm", *_SEARCH, flags=_METRIC)
