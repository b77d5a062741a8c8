"""A trial of a tuning job reports its metric as the services read it, and takes their flags."""

from __future__ import annotations

import json
import re

import pytest

from estimator_trainer import environment, errors, task_events
from estimator_trainer.checks import run_plan
from estimator_trainer.result import Result
from estimator_trainer.roles import trial_metric
from estimator_trainer.settings import command_line
from estimator_trainer.settings.trainer_config import TrainerConfig
from tests.support import line_model

# From kubeflow/katib, pkg/metricscollector/v1beta1/common/const.go.
_KATIB_FILTER = re.compile(r"([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)")
# Written by cloudml-hypertune 0.1.0.dev6.
_HYPERTUNES = ('{"checkpoint_path": "", "global_step": "20", "loss": "0.25", "timestamp": TIME,'
               ' "trial": "7"}\n')


def _reported(evaluations, ended=None, **settings):
    """Emits the events of evaluations, and the end of a task, in a task with these settings."""
    plan = run_plan.for_training(TrainerConfig(**settings), environment.read())
    with trial_metric.reported(plan) as report_end:
        for step, metrics in evaluations:
            task_events.emit("evaluation", {"step": step, "metrics": metrics})
        if ended:
            report_end(ended)


def _of_service(monkeypatch, tmp_path):
    """Makes this process a trial of Vertex AI; returns the file that the service reads."""
    path = tmp_path / "of_service" / "output.metrics"
    monkeypatch.setenv("CLOUD_ML_TRIAL_ID", "7")
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(path))
    return path


def _without_times(text):
    return re.sub(r'(?<="timestamp": )[\d.]+', "TIME", text)


def test_the_file_has_the_lines_that_a_service_reads(monkeypatch, tmp_path):
    path = _of_service(monkeypatch, tmp_path)
    _reported([(step, {"loss": 5 / step, "global_step": step}) for step in range(1, 122)],
              trial_metric="loss")
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 100 and json.loads(lines[-1])["global_step"] == "121"
    _reported([(20, {"loss": 0.25})], trial_metric="loss")
    assert _without_times(path.read_text()) == _HYPERTUNES


def test_the_file_is_that_of_cloudml_hypertune(monkeypatch, tmp_path):
    hypertune = pytest.importorskip("hypertune", reason="cloudml-hypertune is not installed")
    path = _of_service(monkeypatch, tmp_path)
    evaluations = [(step, {"accuracy": 1 - 1 / step, "loss": 1}) for step in range(1, 122)]
    _reported(evaluations, trial_metric="accuracy")
    ours = path.read_text()
    theirs = hypertune.HyperTune()
    for step, metrics in evaluations:
        theirs.report_hyperparameter_tuning_metric("accuracy", metrics["accuracy"], step)
    assert _without_times(ours) == _without_times(path.read_text())


def test_standard_output_has_the_line_that_katibs_filter_finds(capfd):
    _reported([(5, {"loss": 0.5}), (10, {"loss": 1.5e-7})], trial_metric="loss")
    found = [_KATIB_FILTER.search(line) for line in capfd.readouterr().out.splitlines()]
    assert [(match[1], float(match[2])) for match in found] == [("loss", 0.5), ("loss", 1.5e-7)]


def test_the_end_reports_what_another_process_evaluated(capfd):
    ended = Result("local", "done", 20, "train_steps", {"loss": 0.25, "global_step": 20})
    _reported([], ended, trial_metric="loss")
    assert capfd.readouterr().out == "loss=0.25\n"
    _reported([(20, {"loss": 0.25})], ended, trial_metric="loss")
    assert capfd.readouterr().out == "loss=0.25\n"


def test_the_last_line_is_the_best_models_at_the_last_step(monkeypatch, tmp_path):
    path = _of_service(monkeypatch, tmp_path)
    ended = Result("local", "done", 20, "no_improvement", {"loss": 0.25, "global_step": 20})
    _reported([(20, {"loss": 0.25}), (40, {"loss": 0.5})], ended, trial_metric="loss")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["global_step"], line["loss"]) for line in lines] == [
        ("20", "0.25"), ("40", "0.5"), ("40", "0.25")]


def test_a_trial_without_a_metric_names_the_flag_and_writes_no_file(monkeypatch, tmp_path, caplog):
    path = _of_service(monkeypatch, tmp_path)
    with caplog.at_level("INFO"):
        _reported([(5, {"loss": 0.5})])
    assert "trial 7 of a tuning job reports no metric; to report one: --trial_metric=" in (
        caplog.text)
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_a_warning(monkeypatch, tmp_path, caplog):
    path = _of_service(monkeypatch, tmp_path)
    path.parent.write_text("not a directory")
    _reported([(5, {"loss": 0.5})], trial_metric="loss")
    assert f"cannot be written to {path}" in caplog.text


@pytest.mark.parametrize("name, value", [
    ("CLOUD_ML_TRIAL_ID", "7"),
    ("TF_CONFIG", '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0,'
                  ' "trial": "7"}}')])
def test_flags_of_a_tuning_service_are_params_in_a_trial(monkeypatch, name, value):
    argv = ["--param=points=8", "--train-steps=5", "--learning_rate=0.01", "--api-key=x=y",
            "--", "--hidden=3"]
    with pytest.raises(errors.ConfigError, match="by --param learning_rate=0.01"):
        command_line.parse(argv)
    monkeypatch.setenv(name, value)
    line = command_line.parse(argv)
    assert line.config.param == ("points=8", "learning_rate=0.01", "api_key=x=y")
    assert line.config.train_steps == 5 and line.config.plugin_flag == ("hidden=3",)
    [sentence] = line.sentences
    assert sentence.endswith("are read as --param learning_rate=0.01 --param api_key=****")


@pytest.mark.cluster
def test_a_trial_trains_with_its_flags_and_reports_each_evaluation(monkeypatch, tmp_path, run):
    path, line = _of_service(monkeypatch, tmp_path), line_model.write(tmp_path)
    flags = ["--train_steps=4", "--eval_every_steps=2", f"--model_dir={tmp_path}/job",
             f"--model_fn={line}", f"--input_fn={line}", "--exporters=none", "--noreport",
             "--learning_rate=0.05"]
    _, err = run(*flags, "--trial_metric=lost", expected_code=2)
    assert "trial_metric is 'lost'" in err and "Did you mean 'loss'?" in err
    out, err = run(*flags, "--trial_metric=loss")
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    assert [each["global_step"] for each in lines] == ["2", "4"]
    assert re.findall("^loss=(.*)$", out, re.M) == [each["loss"] for each in lines]
    assert "flags of the service are read as --param learning_rate=0.05" in err
    record = json.loads((tmp_path / "job" / "7" / "record.json").read_text())
    assert record["params"]["learning_rate"] == 0.05
