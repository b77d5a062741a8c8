"""A job for Slurm is a batch script, which bash understands and whose roles are right."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess

import pytest

from estimator_trainer import cli, errors
from tests.support.manifests import ODD, write as write_any

pytestmark = pytest.mark.usefixtures("own_folder")
_SCRIPT = pathlib.Path("manifest/job.sbatch")


def write(*words: str, flags: list[str] | None = None) -> str:
    return write_any("--platform=slurm", "--image=", *words, flags=flags or [])


def _directives() -> list[list[str]]:
    """Returns the options of each component of the job."""
    lines = [line.removeprefix("#SBATCH ") for line in _SCRIPT.read_text().splitlines()
             if line.startswith("#SBATCH ")]
    parts: list[list[str]] = [[]]
    for line in lines:
        if line == "hetjob":
            parts.append([])
        else:
            parts[-1] += [line]
    return parts


def _srun() -> list[str]:
    """Returns the words that bash gives to srun."""
    script = _SCRIPT.read_text().replace("scontrol requeue", "false")
    done = subprocess.run(
        ["bash", "-c", 'srun() { printf "%s\\0" "$@"; }; ' + script], capture_output=True,
        timeout=20, check=True)
    return done.stdout.decode().split("\0")[:-1]


def test_text_passes_tasks_roles_and_flags_to_srun() -> None:
    write("--worker=2", "--ps=1", "--evaluator=1", "--nodes=2", "--cpus=4", "--memory_gib=8",
          flags=ODD)
    (options,) = _directives()
    assert {"--ntasks=5", "--nodes=2", "--cpus-per-task=4", "--mem-per-cpu=2048M", "--requeue",
            "--signal=TERM@120", "--job-name=estimator-trainer"} <= set(options)
    chdir = next(option for option in options if option.startswith("--chdir="))
    assert shlex.split(chdir) == [f"--chdir={pathlib.Path.cwd()}"]
    words = _srun()
    program = next(i for i, word in enumerate(words) if word.endswith("estimator-trainer"))
    assert words[program + 1:] == ["--num_ps=1", "--num_evaluators=1",
                                   "--model_dir=gs://bucket/job", *ODD]
    assert "--kill-on-bad-exit=0" in words[:program]


def test_text_gives_gpus_to_trainers_alone() -> None:
    write("--worker=1", "--ps=2", "--gpus=2")
    trainers, others = _directives()
    assert {"--ntasks=2", "--gpus-per-task=2"} <= set(trainers)
    assert "--ntasks=2" in others and not any("gpus" in option for option in others)
    assert [word for word in _srun() if "het" in word or word == ":"] == [
        "--het-group=0", ":", "--het-group=1"]
    write("--worker=1", "--gpus=2", flags=["--train_distribute=multi_worker_mirrored"])
    assert len(_directives()) == 1 and not any("het" in word for word in _srun())


def test_text_has_a_component_for_ranks_of_equal_resources() -> None:
    write("--worker=2", "--ps=2", "--evaluator=1", "--cpus=2", "--memory_gib=8", flags=ODD)
    assert len(_directives()) == 1
    write("--worker=2", "--ps=2", "--evaluator=1", "--cpus=2", "--memory_gib=8",
          "--resources=ps:cpus=4,memory_gib=64,partition=large", flags=ODD)
    trainers, ps, evaluator = _directives()
    assert [option for option in ps if option != "--requeue"] == [
        "--ntasks=2", "--partition=large", "--cpus-per-task=4", "--mem-per-cpu=16384M",
        "--signal=TERM@120"]
    assert "--ntasks=3" in trainers and "--ntasks=1" in evaluator
    words = " ".join(_srun()).split(" : ")
    assert [re.findall(r"--(?:het-group|cpus-per-task)=(\d)", each) for each in words] == [
        ["2", "0"], ["4", "1"], ["2", "2"]]
    assert len({each.partition("estimator-trainer ")[2] for each in words}) == 1


@pytest.mark.parametrize("code, restarts, is_again", [
    (0, "", False), (1, "", False), (2, "", False), (142, "", True), (143, "2", True),
    (137, "", True), (143, "3", False)])
def test_text_requeues_a_job_by_its_exit_code(
        code: int, restarts: str, is_again: bool) -> None:
    write("--worker=1", "--ps=1", "--max_restarts=3")
    stand_ins = f"srun() {{ return {code}; }}; scontrol() {{ echo \"$@\"; }}; "
    done = subprocess.run(["bash", "-c", stand_ins + _SCRIPT.read_text()], capture_output=True,
                          text=True, timeout=20, env={
                              "SLURM_JOB_ID": "7",
                              **({"SLURM_RESTART_COUNT": restarts} if restarts else {})})
    assert done.returncode == code
    assert done.stdout == ("requeue 7\n" if is_again else "")


def test_text_gives_a_script_the_roles_before_its_arguments() -> None:
    pathlib.Path("my.py").write_text("print()\n")
    assert cli.main(["manifest", "--platform=slurm", "--worker=1", "--ps=1", "--", "run",
                     "./my.py", "--", "--rate=1"]) == 0
    words = _srun()
    assert words[words.index("run"):] == ["run", "--num_ps=1", "./my.py", "--", "--rate=1"]


def test_text_keeps_relative_paths_and_needs_no_image() -> None:
    text = write("--worker=1", "--ps=1", flags=["--model_dir=runs/1"])
    assert [path.name for path in pathlib.Path("manifest").iterdir()] == ["job.sbatch"]
    assert "WARNING" not in text and re.search(r"sbatch manifest/job\.sbatch", text)
    assert "WARNING: model_dir is '/tmp/digits'" in write(flags=["--model_dir=/tmp/digits"])
    with pytest.raises(errors.ConfigError, match="which Slurm does not run by itself"):
        write_any("--platform=slurm")
