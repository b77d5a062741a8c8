"""A model_dir knows what wrote it: what is not given comes from there, and changes are told."""

from __future__ import annotations

import json
import os
import shutil

import pytest

import estimator_trainer
from estimator_trainer import cli
from tests.support import line_model

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def _trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("line")
    path = line_model.write(folder)
    estimator_trainer.train(str(path), str(path), folder / "model", train_steps=200,
                            num_evaluations=0, params={"scale": 4.0, "api_key": "hunter2"})
    return folder / "model", path


@pytest.fixture
def trained(_trained, tmp_path):
    """Trains a line with another scale than the default's; returns its model_dir and plug-in."""
    model_dir, path = _trained
    shutil.copytree(model_dir, tmp_path / "model")
    yield tmp_path / "model", path
    line_model.write(path.parent)


def _record(model_dir):
    return json.loads((model_dir / "record.json").read_text())


def test_evaluate_alone_takes_plugins_and_params_of_the_training(trained, tmp_path, monkeypatch,
                                                                 capfd):
    model_dir, _ = trained
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(estimator_trainer.ConfigError,
                       match=r"api_key was \*\*\*\* in training, and .*record.json does not hold"):
        estimator_trainer.evaluate(model_dir)
    metrics = estimator_trainer.evaluate(model_dir, params={"api_key": "hunter2"})
    assert metrics["loss"] < 1e-3
    changed = estimator_trainer.evaluate(model_dir, params={"scale": 1.0, "api_key": "x"})
    assert changed["loss"] > 0.1
    assert "changed: scale is 1.0, and was 4.0" in capfd.readouterr().err


def test_a_resume_refuses_another_model_and_names_another_rate(trained, capfd):
    model_dir, _ = trained
    key = {"api_key": "hunter2"}
    with pytest.raises(estimator_trainer.ConfigError) as raised:
        estimator_trainer.train(model_dir=model_dir, train_steps=210, params={**key, "scale": 1.0})
    assert "scale is 1.0, and was 4.0" in str(raised.value)
    assert "allow_changed=['scale']" in str(raised.value)
    resumed = estimator_trainer.train(model_dir=model_dir, train_steps=210, allow_changed=["scale"],
                                      params={**key, "scale": 1.0, "learning_rate": 0.2})
    assert resumed.step == 210
    log = capfd.readouterr().err
    assert "changed: learning_rate is 0.2, and was 0.1" in log
    assert "changed: scale is 1.0, and was 4.0" in log
    record = _record(model_dir)
    assert record["params"]["scale"] == 1.0
    assert [run["from_step"] for run in record["runs"]] == [0, 200]
    assert "scale is 1.0, and was 4.0" in record["runs"][1]["changes"]
    assert record["runs"][1]["status"] == "done" and record["runs"][1]["step"] == 210


def test_a_misspelt_allowance_is_an_error(trained):
    with pytest.raises(estimator_trainer.ConfigError, match="Did you mean 'scale'"):
        estimator_trainer.train(model_dir=trained[0], params={"api_key": ""},
                                allow_changed=["skale"])


def test_other_data_are_refused_and_an_edited_source_is_named(trained, capfd):
    model_dir, path = trained
    path.write_text(line_model.SOURCE.replace('{"x": x}', '{"x": x, "w": x}'))
    with pytest.raises(estimator_trainer.ConfigError, match=r"allow_changed=\['features'\]"):
        estimator_trainer.train(model_dir=model_dir, train_steps=210, params={"api_key": ""})
    estimator_trainer.train(model_dir=model_dir, train_steps=210, params={"api_key": ""},
                            allow_changed=["features"])
    assert "source of --model_fn is not what wrote the checkpoints: line.py changed" in (
        capfd.readouterr().err)
    assert "w" in _record(model_dir)["data"]["features"]


def test_the_record_has_no_secret_and_no_environment(trained, monkeypatch):
    model_dir, path = trained
    text = (model_dir / "record.json").read_text()
    assert "hunter2" not in text and _record(model_dir)["unrecorded"] == {"api_key": "****"}
    assert not [name for name in os.environ if f'"{name}"' in text]
    entry = _record(model_dir)["plugins"]["model_fn"]
    assert entry["path"] == str(path) and list(entry["sources"]) == ["line.py"]


def test_without_a_checkpoint_training_starts_over(trained, tmp_path):
    _, path = trained
    model_dir = tmp_path / "new"
    model_dir.mkdir()
    (model_dir / "record.json").write_text((trained[0] / "record.json").read_text())
    ended = estimator_trainer.train(str(path), str(path), model_dir, train_steps=5,
                                    params={"scale": 2.0})
    assert ended.step == 5 and len(_record(model_dir)["runs"]) == 1


def test_a_damaged_record_is_one_sentence(trained):
    (trained[0] / "record.json").write_text('{"params": 1')
    with pytest.raises(estimator_trainer.ConfigError, match="is damaged: the file is not JSON"):
        estimator_trainer.evaluate(trained[0])


def test_show_prints_what_a_model_dir_holds(trained, capsys):
    model_dir, path = trained
    assert cli.main(["show", f"--model_dir={model_dir}"]) == 0
    shown = capsys.readouterr().out
    for text in (f"--model_fn={path}", "scale=4.0 (user-set)", "api_key=****", "from step 0: done",
                 "step 200  loss", "checkpoints  step 0", "of step 200", "done at step 200"):
        assert text in shown, text
    assert cli.main(["show", f"--model_dir={model_dir}", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content == estimator_trainer.show(model_dir)
    assert [each["step"] for each in content["checkpoints"]] == [0, 200]
    assert cli.main(["show", f"--model_dir={model_dir / 'none'}"]) == 2
