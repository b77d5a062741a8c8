"""A latest checkpoint that is damaged, or gone, is one sentence that says which one to take."""

from __future__ import annotations

import shutil
import subprocess
import textwrap

import pytest

from tests.support import commands, jobs, slow_jobs

pytestmark = pytest.mark.cluster

_STEPS = "of steps: 0, 20, 40. For example: --checkpoint=step=40"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns a model_dir with the checkpoints of steps 0, 20, 40 and 50, and its code's flags."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "my_model.py").write_text(textwrap.dedent(commands.PLAIN_MODEL))
    (folder / "my_input.py").write_text(textwrap.dedent(commands.PLAIN_INPUT).replace(
        "def input_fn():", "def input_fn(mode):").replace(
            ".batch(16)", ".batch(16).repeat(100 if mode == 'train' else 1)"))
    flags = [f"--model_fn={folder}/my_model.py", f"--input_fn={folder}/my_input.py"]
    ran = jobs.trainer("train", *flags, f"--model_dir={folder}/m", "--train_steps=50",
                       "--save_checkpoints_steps=20", "--exporters=none")
    assert ran.returncode == 0, ran.stderr
    return folder / "m", flags


@pytest.fixture
def model_dir(trained, tmp_path):
    """Returns a copy of the model_dir."""
    return shutil.copytree(trained[0], tmp_path / "m")


def _damage(model_dir, damage):
    for path in model_dir.glob("model.ckpt-50.*"):
        content = path.read_bytes()
        if damage == "gone":
            path.unlink()
        elif damage == "index" and path.suffix == ".index":
            path.write_bytes(content[:100])
        elif damage == "truncated" and ".data" in path.name:
            path.write_bytes(content[:10])
        elif damage == "bytes" and ".data" in path.name:
            path.write_bytes(bytes(255 - byte for byte in content))


@pytest.mark.parametrize("command", ["evaluate", "predict", "export"])
@pytest.mark.parametrize("damage, code, parts", [
    ("truncated", 2, ("checkpoint is 'latest' (from --checkpoint), and ",
                      "model.ckpt-50 is damaged", f"it has whole ones {_STEPS}")),
    ("index", 2, ("model.ckpt-50 is damaged", f"it has whole ones {_STEPS}")),
    ("gone", 2, ("m/checkpoint names ",
                 f"model.ckpt-50, which is not there; it has those {_STEPS}")),
    ("bytes", 1, ("model.ckpt-50 is damaged: its files hold other bytes than were written.",
                  "To use the one before: --checkpoint=step=40; to train on from step 40: echo "))])
def test_a_damaged_checkpoint_is_reported_with_a_whole_one(
        command, damage, code, parts, trained, model_dir, run):
    _damage(model_dir, damage)
    out, err = run(command, f"--model_dir={model_dir}", *trained[1], expected_code=code)
    assert not out and all(part in err for part in parts) and "Traceback" not in err, err


def test_the_whole_checkpoint_that_is_named_can_be_used(trained, model_dir, run):
    _damage(model_dir, "truncated")
    out, _ = run("evaluate", f"--model_dir={model_dir}", *trained[1], "--checkpoint=step=40")
    assert '"global_step": 40' in out
    # A step is refused as the latest is, and `all` includes it.
    for which in ("step=50", "all"):
        _, err = run("evaluate", f"--model_dir={model_dir}", *trained[1], f"--checkpoint={which}",
                     expected_code=2)
        assert f"checkpoint is '{which}'" in err and f"it has whole ones {_STEPS}" in err


@pytest.mark.parametrize("left, remedy", [
    (40, "or, to train on from step 40: echo 'model_checkpoint_path: \"model.ckpt-40\"' > "),
    (0, "or, to start from step 0: rm ")])
def test_training_without_its_checkpoint_shows_the_command(left, remedy, trained, model_dir, run):
    for path in model_dir.glob("model.ckpt-50.*" if left else "model.ckpt-*"):
        path.unlink()
    line = ["train", f"--model_dir={model_dir}", *trained[1], "--exporters=none",
            "--train_steps=60"]
    _, err = run(*line, expected_code=1)
    [sentence] = [each for each in err.splitlines() if "which is not there" in each]
    assert f"{remedy}{model_dir}/checkpoint" in sentence and "Traceback" not in err, err
    subprocess.run(sentence.rpartition(f"{remedy.partition(': ')[0]}: ")[2], shell=True, check=True)
    _, err = run(*line)
    assert f"training from step {left} to 60" in err, err


@pytest.mark.parametrize("content", [
    b"", b"\xff\xfe\x00garbled", *map(slow_jobs.soak, [
        b"\n", b'{"model_checkpoint_path": 1', b'model_checkpoint_path: "mo',
        b'all_model_checkpoint_paths: "model.ckpt-20"\n', b"\0" * 100])],
    ids=["empty", "bytes", "a line", "JSON", "cut off", "names none", "zeros"])
def test_a_damaged_checkpoint_file_loses_no_checkpoint(content, trained, model_dir, run):
    (model_dir / "checkpoint").write_bytes(content)
    _damage(model_dir, "truncated")
    out, _ = run("evaluate", f"--model_dir={model_dir}", *trained[1])
    assert '"global_step": 40' in out
    _, err = run("train", f"--model_dir={model_dir}", *trained[1], "--exporters=none",
                 "--train_steps=60")
    assert "m/checkpoint is damaged; falls back to the newest whole checkpoint, of step 40" in err
    assert "training from step 40 to 60" in err and "Traceback" not in err, err


def test_a_damaged_checkpoint_file_without_checkpoints_starts_over(trained, model_dir, run):
    (model_dir / "checkpoint").write_bytes(b"")
    for path in model_dir.glob("model.ckpt-*"):
        path.unlink()
    _, err = run("train", f"--model_dir={model_dir}", *trained[1], "--exporters=none",
                 "--train_steps=60")
    assert "there is no checkpoint: starts from step 0" in err
    assert "training from step 0 to 60" in err


def test_leftovers_of_a_killed_process_are_removed(trained, model_dir, run):
    (model_dir / "model.ckpt-20.index").unlink()
    (model_dir / "model.ckpt-60_temp").mkdir()
    (model_dir / "model.ckpt-60_temp" / "part-00000-of-00001.index").write_bytes(b"half")
    (model_dir / "checkpoint.tmp0123").write_bytes(b"half")
    run("train", f"--model_dir={model_dir}", *trained[1], "--exporters=none", "--train_steps=60",
        "--keep_checkpoint_max=0")
    left = sorted(path.name for path in model_dir.iterdir())
    assert not [name for name in left if "temp" in name or "tmp" in name or "ckpt-20." in name]
    assert [name for name in left if name.endswith(".index")] == [
        f"model.ckpt-{step}.index" for step in (0, 40, 50, 60)]
