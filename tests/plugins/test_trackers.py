"""A tracker that is not there is a mistake before training, in the task that would call it."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from estimator_trainer import errors
from estimator_trainer.checks import run_plan
from estimator_trainer.environment import Environment
from estimator_trainer.plugins import source_files, trackers
from estimator_trainer.settings import command_line
from estimator_trainer.settings.trainer_config import TrainerConfig

pytestmark = [pytest.mark.usefixtures("own_folder"), pytest.mark.any_tensorflow]


@pytest.fixture(name="own_folder")
def fixture_own_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("my_tracker.py").write_text("def send(event): pass\n")


def _found(*track: str) -> list[str]:
    return list(map(str, trackers.problems(track)))


@pytest.fixture(name="without_packages")
def fixture_without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    found = trackers.importlib.util.find_spec
    monkeypatch.setattr(trackers.importlib.util, "find_spec",
                        lambda name: None if name in trackers.REQUIREMENTS else found(name))


@pytest.mark.usefixtures("without_packages")
def test_a_missing_package_is_named_before_training_with_what_to_install(run):
    _, err = run("--model_dir=model", "--track=mlflow", expected_code=2)
    assert ("track is 'mlflow' (from --track), and the package mlflow is not installed; expected"
            " an installed one. For example: pip install 'mlflow>=3.17,<4'") in err
    assert not os.path.exists("model")


@pytest.mark.usefixtures("without_packages")
def test_a_missing_package_is_named_before_a_script_runs():
    script = source_files.find_script("my_tracker.py", ())
    plan = run_plan.for_script(script, TrainerConfig(track=("wandb",)), Environment())
    assert "the package wandb is not installed" in str(plan.problems[0])


@pytest.mark.usefixtures("without_packages")
def test_check_names_each_tracker_that_is_missing(run):
    out, _ = run("check", "--json", "--track=wandb,./other.py:send", expected_code=2)
    problems = json.loads(out)["problems"]
    assert "the package wandb is not installed" in problems[0]
    assert "track is './other.py:send' (from --track), and there is no such file" in problems[1]


@pytest.mark.usefixtures("without_packages")
def test_only_the_chief_needs_the_package():
    for role, is_named in (("chief", True), ("worker", False), ("ps", False)):
        cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}
        tf_config = json.dumps({"cluster": cluster, "task": {"type": role, "index": 0}})
        plan = run_plan.for_training(TrainerConfig(model_dir="m", track=("mlflow",)),
                                     Environment(tf_config=tf_config))
        assert any("mlflow" in str(problem) for problem in plan.problems) == is_named


def test_a_function_is_found_in_a_file_and_in_a_module():
    assert not _found("./my_tracker.py:send", "my_tracker:send")
    assert [function.function for function in trackers.functions(
        ["mlflow", "./my_tracker.py:send"])] == ["send"]


def test_a_function_that_is_not_there_is_named_with_the_near_one():
    [problem] = _found("./my_tracker.py:sent")
    assert "my_tracker.py defines no 'sent'" in problem and "Did you mean 'send'?" in problem
    [problem] = _found("no_such_module:send")
    assert "and there is no such module" in problem


def test_a_module_of_a_tracker_that_cannot_be_imported_is_named():
    pathlib.Path("broken.py").write_text("def send(event:\n")
    pathlib.Path("needs.py").write_text("import no_such_package\ndef send(event): pass\n")
    assert "is not valid Python" in _found("broken.py:send")[0]
    assert "imports 'no_such_package', which is not there" in _found("needs.py:send")[0]


def test_track_takes_commas_and_repeated_flags():
    line = command_line.parse(["--track=mlflow", "--track=wandb,./my_tracker.py:send"])
    assert line.config.track == ("mlflow", "wandb", "./my_tracker.py:send")
    assert command_line.parse(["--track="]).config.track == ()


@pytest.mark.parametrize("name, answer", [
    ("mlfow", "Did you mean 'mlflow'?"), ("my_tracker.py", "--track=my_tracker.py:function")])
def test_an_unknown_tracker_is_a_mistake_with_what_to_type(name, answer):
    with pytest.raises(errors.ConfigError) as raised:
        TrainerConfig(track=(name,))
    text = str(raised.value)
    assert answer in text
    assert f"track is {name!r} (from --track); expected some of mlflow, wandb, FILE.py:f" in text
