"""Local runs, end to end, through the command line's own entry point."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import cli
from estimator_trainer import errors
from tests.support import jobs

pytestmark = pytest.mark.cluster

PLAIN_MODEL = """
    import tensorflow as tf
    def model_fn(features, labels, mode):
        x = features["x"]
        w = tf.compat.v1.get_variable("w", [2, 1])
        y = tf.squeeze(tf.matmul(x, w), axis=1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y}, export_outputs={
                "serving_default": tf.estimator.export.RegressionOutput(y)})
        loss = tf.reduce_mean(tf.square(y - labels))
        train_op = tf.compat.v1.train.AdamOptimizer(0.1).minimize(
            loss, tf.compat.v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
PLAIN_INPUT = """
    import numpy as np, tensorflow as tf
    def input_fn():
        x = np.random.RandomState(0).rand(64, 2).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(
            ({"x": x, "id": np.arange(64)}, x @ [1.0, -2.0])).map(
                lambda f, y: (f, tf.cast(y, tf.float32))).batch(16)
"""


@pytest.fixture
def run(tmp_path, data_dir, capfd):
    """Runs a command in this process; returns its standard output and error."""

    def run_command(*args, expected_code=0):
        with_data = [] if any("input_fn" in a for a in args) else [f"--param=data_dir={data_dir}"]
        code = cli.main([*args, *with_data])
        out, err = capfd.readouterr()
        assert code == expected_code, err
        return out, err

    return run_command


@pytest.fixture
def plain(tmp_path):
    """Modules of a team that knows nothing of this project."""
    (tmp_path / "my_model.py").write_text(textwrap.dedent(PLAIN_MODEL))
    (tmp_path / "my_input.py").write_text(textwrap.dedent(PLAIN_INPUT))
    return [f"--model_fn={tmp_path}/my_model.py", f"--input_fn={tmp_path}/my_input.py"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory, data_dir):
    """The README's first command, in a process of its own: model_dir and what it printed."""
    model_dir = tmp_path_factory.mktemp("digits")
    ran = jobs.trainer(f"--model_dir={model_dir}", f"--param=data_dir={data_dir}")
    assert ran.returncode == 0, ran.stderr
    return model_dir, ran


def _result(model_dir):
    return json.loads(pathlib.Path(model_dir, "result.json").read_text())


def _export(model_dir):
    [path] = pathlib.Path(model_dir, "export", "final").iterdir()
    return path


def test_the_main_job_learns_the_digits_evaluates_and_exports(trained):
    model_dir, ran = trained
    result = _result(model_dir)
    assert result["status"] == "done" and result["reason"] == "train_steps"
    assert result["step"] == 1000 and result["metrics"]["global_step"] == 1000
    assert result["metrics"]["accuracy"] >= 0.95
    assert result["exports"] == [str(_export(model_dir))]
    assert ran.stderr.rstrip().rpartition("\n")[2] == (
        "role=local status=done step=1000 reason=train_steps")


def test_the_log_can_be_followed_by_a_person(trained):
    lines = trained[1].stderr.splitlines()
    assert len(lines) <= 40
    assert not [line for line in lines if "deprecat" in line.lower() or "Traceback" in line]
    assert not [a for a, b in zip(lines, lines[1:]) if a == b]
    for phase in ("reads shard 1/1", "training from step 0 to 1000", "step 1000/1000  loss",
                  "steps/s", "examples/s", "Saving checkpoints", "evaluated step 1000",
                  "exported step 1000"):
        assert phase in trained[1].stderr
    assert trained[1].stdout == ""


def test_verbose_brings_tensorflows_own_lines_back(tmp_path, data_dir):
    ran = jobs.trainer(f"--model_dir={tmp_path}", "--train_steps=2", "--verbose",
                       f"--param=data_dir={data_dir}")
    assert "Calling model_fn." in ran.stderr and "Graph was finalized." in ran.stderr


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


def test_saved_model_cli_shows_the_signature(trained):
    ran = subprocess.run([pathlib.Path(sys.executable).parent / "saved_model_cli", "show", "--all",
                          "--dir", str(_export(trained[0]))], text=True, capture_output=True,
                         env=jobs.environment(), check=True)
    assert "inputs['image']" in ran.stdout and "outputs['probabilities']" in ran.stdout


def test_predict_keeps_the_inputs_order_and_writes_only_json_to_standard_output(trained, run):
    out, _ = run("predict", f"--model_dir={trained[0]}", "--param=tfds_id=true",
                 "--forward_key=tfds_id")
    ids = [json.loads(line)["tfds_id"] for line in out.splitlines()]
    assert len(ids) == len(set(ids)) > 300
    assert [int(i.rpartition("__")[2]) for i in ids] == list(range(len(ids)))


def test_evaluate_prints_the_same_metrics_as_training_did(trained, run):
    out, _ = run("evaluate", f"--model_dir={trained[0]}")
    assert json.loads(out) == pytest.approx(_result(trained[0])["metrics"])


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


def test_an_existing_module_trains_by_path_unchanged(plain, run, tmp_path):
    run(*plain, f"--model_dir={tmp_path}/m", "--train_steps=0", "--exporters=final,latest")
    result = _result(tmp_path / "m")
    assert result["step"] == 4 and result["reason"] == "input_exhausted"
    assert len(result["exports"]) == 2
    out, _ = run("predict", *plain, f"--model_dir={tmp_path}/m", "--forward_key=id")
    assert [json.loads(line)["id"] for line in out.splitlines()] == list(range(64))


@pytest.mark.parametrize("flags, steps", [
    (["--train_epochs=3"], 12), (["--train_epochs=3", "--global_batch_size=32"], 6),
    (["--train_epochs=3", "--train_steps=5"], 5)])
def test_epochs_and_batch_are_flags_of_an_input_that_knows_neither(
        flags, steps, plain, run, tmp_path):
    run(*plain, *flags, f"--model_dir={tmp_path}/m", "--exporters=none")
    assert _result(tmp_path / "m")["step"] == steps


def test_epochs_of_an_input_without_end_are_refused(plain, run, tmp_path):
    endless = tmp_path / "endless.py"
    endless.write_text((tmp_path / "my_input.py").read_text().replace(
        "def input_fn():", "def input_fn(mode):").replace(
            "batch(16)", "batch(16).repeat(None if mode == 'train' else 1)"))
    _, err = run(*plain, f"--input_fn={endless}", "--train_epochs=3", f"--model_dir={tmp_path}/m",
                 expected_code=2)
    assert "yields a dataset without end in mode 'train'" in err and "Traceback" not in err


def test_epochs_and_batch_of_an_input_that_has_such_params_are_its_params(run, tmp_path):
    _, err = run("--model_fn=linear", "--train_epochs=2", "--global_batch_size=100",
                 "--exporters=none", f"--model_dir={tmp_path}/m")
    assert _result(tmp_path / "m")["step"] == 2 * 1442 // 100
    assert "batch_size=100" in err and "epochs=2" in err


def test_a_run_resumes_where_it_stopped_and_a_finished_one_says_its_metrics(plain, run, tmp_path):
    flags = [*plain, f"--model_dir={tmp_path}/m"]
    run(*flags, "--train_steps=2")
    _, err = run(*flags, "--train_steps=4")
    assert "training from step 2 to 4" in err
    before = _result(tmp_path / "m")
    _, err = run(*flags, "--train_steps=4")
    assert "step 4 was evaluated before" in err
    assert _result(tmp_path / "m") == before
    shutil.rmtree(tmp_path / "m" / "export")
    _, err = run(*flags, "--train_steps=4")
    assert _result(tmp_path / "m")["metrics"] == before["metrics"]
    assert pathlib.Path(_result(tmp_path / "m")["exports"][0], "saved_model.pb").exists()


def test_evaluation_comes_every_n_steps_and_covers_the_whole_set(run, tmp_path, data_dir):
    _, err = run("--model_fn=linear", f"--model_dir={tmp_path}", "--train_steps=50",
                 "--eval_every_steps=20", f"--param=data_dir={data_dir}",
                 "--param=batch_size=2")
    assert jobs.evaluated_steps(tmp_path) == [20, 40, 50]
    assert re.findall(r"\((\d+) examples", err) == ["355"] * 3


def test_only_so_many_checkpoints_are_kept_and_each_can_be_evaluated(run, tmp_path):
    flags = ["--model_fn=linear", f"--model_dir={tmp_path}"]
    run(*flags, "--train_steps=50", "--save_checkpoints_steps=10", "--keep_checkpoint_max=3")
    out, _ = run("evaluate", *flags, "--checkpoint=all")
    assert [json.loads(line)["global_step"] for line in out.splitlines()] == [30, 40, 50]
    out, _ = run("evaluate", *flags, "--checkpoint=step=40")
    assert json.loads(out)["global_step"] == 40
    _, err = run("evaluate", *flags, "--checkpoint=step=7", expected_code=2)
    assert "it has those of steps: 30, 40, 50" in err


def test_one_seed_gives_one_model(run, tmp_path):
    losses = []
    for name in ("a", "b"):
        run("--model_fn=linear", f"--model_dir={tmp_path}/{name}", "--train_steps=20", "--seed=7")
        losses.append(_result(tmp_path / name)["metrics"])
    assert losses[0] == losses[1]


def test_a_fresh_run_starts_from_anothers_variables(run, tmp_path):
    run("--model_fn=linear", f"--model_dir={tmp_path}/old", "--train_steps=300")
    run("--model_fn=linear", f"--model_dir={tmp_path}/new", "--train_steps=1",
        f"--warm_start_from={tmp_path}/old", "--param=learning_rate=0.0")
    old, new = _result(tmp_path / "old")["metrics"], _result(tmp_path / "new")["metrics"]
    assert new["global_step"] == 1 and new["loss"] == pytest.approx(old["loss"], rel=1e-5)


def test_the_best_export_survives_a_restart_with_a_worse_model(run, tmp_path):
    flags = ["--model_fn=linear", f"--model_dir={tmp_path}", "--exporters=best"]
    run(*flags, "--train_steps=200")
    best = json.loads((tmp_path / "best.json").read_text())
    _, err = run(*flags, "--train_steps=210", "--param=learning_rate=1000")
    assert json.loads((tmp_path / "best.json").read_text()) == best
    assert len(list((tmp_path / "export" / "best").iterdir())) == 1
    out, _ = run("evaluate", *flags, "--checkpoint=best")
    assert json.loads(out)["loss"] == pytest.approx(best["value"])


def test_a_best_metric_that_does_not_exist_is_named(run, tmp_path):
    _, err = run("--model_fn=linear", f"--model_dir={tmp_path}", "--exporters=best",
                 "--train_steps=1", "--best_metric=acuracy", expected_code=2)
    assert "Did you mean 'accuracy'?" in err


@pytest.mark.parametrize("strategy, replicas", [
    ("one_device", 0), ("mirrored", 2), ("central_storage", 2),
    ("multi_worker_mirrored", 0)])
def test_every_local_strategy_takes_the_same_steps_at_the_same_global_batch(
        strategy, replicas, tmp_path, metrics_of):
    metrics = metrics_of(tmp_path, f"--train_distribute={strategy}", f"--num_replicas={replicas}")
    assert metrics == pytest.approx(metrics_of.without_strategy, rel=1e-5)


def test_an_evaluation_over_replicas_counts_every_example_once(tmp_path, metrics_of):
    metrics = metrics_of(tmp_path, "--eval_distribute=mirrored", "--num_replicas=2")
    assert metrics["accuracy"] == metrics_of.without_strategy["accuracy"]


@pytest.fixture(scope="module")
def metrics_of(tmp_path_factory, data_dir):
    """Trains 30 steps with one seed and some flags; returns the final evaluation."""

    def train(model_dir, *flags):
        ran = jobs.trainer("--model_fn=linear", f"--param=data_dir={data_dir}", "--seed=1",
                           "--param=shuffle_buffer=0", "--param=batch_size=32",
                           "--exporters=none", "--train_steps=30", f"--model_dir={model_dir}",
                           *flags)
        assert ran.returncode == 0, ran.stderr
        return _result(model_dir)["metrics"]

    train.without_strategy = train(tmp_path_factory.mktemp("none"))
    return train


def test_the_chosen_checkpoint_must_exist(run, tmp_path):
    for command in ("evaluate", "predict", "export"):
        _, err = run(command, f"--model_dir={tmp_path}/empty", expected_code=2)
        assert "it has those of steps: (none)" in err and "Traceback" not in err


def test_errors_know_their_exit_codes():
    assert errors.TrainerError.exit_code == 1 and errors.TaskConfigError([""]).exit_code == 2


def test_a_terminal_gets_a_progress_bar_with_the_time_left(tmp_path, data_dir):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
            [sys.executable, "-m", "estimator_trainer", "--model_fn=linear", "--train_steps=3000",
             "--log_every_steps=1000", f"--model_dir={tmp_path}", f"--param=data_dir={data_dir}"],
            stderr=theirs, env=jobs.environment()) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux's answer when the other end is closed.
            while chunk := os.read(ours, 4096):
                shown += chunk
    os.close(ours)
    assert process.returncode == 0
    assert re.search(rb"\r\x1b\[K\[=* *\] step \d+/3000  loss .*ETA 0:0", shown)
    lines = shown.replace(b"\x1b[K", b"").split(b"\r\n")
    assert lines[-2] == b"role=local status=done step=3000 reason=train_steps"
