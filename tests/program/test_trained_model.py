"""The README's first command trains a model that evaluates, predicts and exports."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from tests.support import jobs

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def trained(tmp_path_factory, data_dir):
    """Runs the README's first command in a process; returns model_dir and what was printed."""
    model_dir = tmp_path_factory.mktemp("digits")
    ran = jobs.trainer(f"--model_dir={model_dir}", f"--param=data_dir={data_dir}")
    assert ran.returncode == 0, ran.stderr
    return model_dir, ran


def _export(model_dir):
    [path] = pathlib.Path(model_dir, "export", "final").iterdir()
    return path


def test_the_main_job_learns_the_digits_evaluates_and_exports(trained):
    model_dir, ran = trained
    result = jobs.result(model_dir)
    assert result["status"] == "done" and result["reason"] == "train_steps"
    assert result["step"] == 1000 and result["metrics"]["global_step"] == 1000
    assert result["metrics"]["accuracy"] >= 0.95
    assert result["exports"] == [str(_export(model_dir))]
    assert ran.stderr.rstrip().rpartition("\n")[2] == (
        "role=local status=done step=1000 reason=train_steps")


def test_the_log_can_be_followed_by_a_person(trained):
    lines = trained[1].stderr.splitlines()
    assert len(lines) <= 45
    assert not [line for line in lines if "deprecat" in line.lower() or "Traceback" in line]
    assert not [a for a, b in zip(lines, lines[1:]) if a == b]
    for phase in ("reads shard 1/1", "training from step 0 to 1000", "step 1000/1000  loss",
                  "steps/s", "examples/s", "Saving checkpoints", "evaluated step 1000",
                  "exported step 1000"):
        assert phase in trained[1].stderr
    assert trained[1].stdout == ""


def test_the_export_predicts_what_predict_predicts_in_another_process(trained, run, tmp_path):
    model_dir, _ = trained
    run("predict", f"--model_dir={model_dir}", f"--output={tmp_path}/checkpoint.jsonl")
    run("predict", f"--export_dir={_export(model_dir)}", f"--output={tmp_path}/export.jsonl")
    from_checkpoint, from_export = (
        [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        for name in ("checkpoint", "export"))
    assert [p["key"] for p in from_export] == list(range(len(from_export)))
    assert [p["classes"] for p in from_export] == [p["classes"] for p in from_checkpoint]
    np.testing.assert_allclose([p["probabilities"] for p in from_export],
                               [p["probabilities"] for p in from_checkpoint], atol=1e-6)
    image = np.zeros((3, 8, 8, 1), np.float32)
    program = textwrap.dedent("""
        import sys, json, tensorflow as tf
        signature = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
        print(json.dumps(signature(image=tf.zeros([3, 8, 8, 1]))["probabilities"].numpy().tolist()))
    """)
    ran = subprocess.run([sys.executable, "-c", program, str(_export(model_dir))], text=True,
                         capture_output=True, env=jobs.environment(), check=True)
    here = tf.saved_model.load(str(_export(model_dir))).signatures["serving_default"]
    np.testing.assert_allclose(json.loads(ran.stdout),
                               here(image=tf.constant(image))["probabilities"], atol=1e-6)


@pytest.mark.soak
def test_saved_model_cli_shows_the_signature(trained):
    ran = subprocess.run([pathlib.Path(sys.executable).parent / "saved_model_cli", "show", "--all",
                          "--dir", str(_export(trained[0]))], text=True, capture_output=True,
                         env=jobs.environment(), check=True)
    assert "inputs['image']" in ran.stdout and "outputs['probabilities']" in ran.stdout


def test_predict_keeps_the_order_and_prints_only_json(trained, run):
    out, _ = run("predict", f"--model_dir={trained[0]}", "--param=tfds_id=true",
                 "--forward_key=tfds_id")
    ids = [json.loads(line)["tfds_id"] for line in out.splitlines()]
    assert len(ids) == len(set(ids)) > 300
    assert [int(i.rpartition("__")[2]) for i in ids] == list(range(len(ids)))


def test_evaluate_prints_the_same_metrics_as_training_did(trained, run):
    out, _ = run("evaluate", f"--model_dir={trained[0]}")
    assert json.loads(out) == pytest.approx(jobs.result(trained[0])["metrics"])


@pytest.mark.parametrize("serving_input", ["raw", "example"])
def test_export_after_the_fact_carries_the_key_in_both_signatures(trained, run, serving_input):
    key = ["--param=tfds_id=true", "--forward_key=tfds_id"]
    out, _ = run("export", f"--model_dir={trained[0]}", f"--serving_input={serving_input}", *key)
    signature = tf.saved_model.load(out.strip()).signatures["serving_default"]
    inputs = set(signature.structured_input_signature[1])
    assert inputs == ({"image", "tfds_id"} if serving_input == "raw" else {"examples"})
    assert "tfds_id" in signature.structured_outputs
    from_export, _ = run("predict", f"--export_dir={out.strip()}", *key)
    from_checkpoint, _ = run("predict", f"--model_dir={trained[0]}", *key)
    first, second = ([json.loads(line) for line in text.splitlines()]
                     for text in (from_export, from_checkpoint))
    assert [p["tfds_id"] for p in first] == [p["tfds_id"] for p in second]
    assert [p["classes"] for p in first] == [p["classes"] for p in second]


def test_the_chosen_checkpoint_must_exist(run, tmp_path):
    (tmp_path / "empty").mkdir()
    for command in ("evaluate", "predict", "export"):
        _, err = run(command, f"--model_dir={tmp_path}/empty", expected_code=2)
        assert "which holds no checkpoint; expected the directory" in err and "Traceback" not in err
