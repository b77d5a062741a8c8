"""Names and values that a shell, YAML, a terminal or a template could take for something else."""

from __future__ import annotations

import io
import logging
import os
import pathlib
import re
import shlex
import stat
import subprocess
import tarfile
from typing import Any

import pytest
import yaml

from estimator_trainer import cli, errors, logs, redaction, result
from estimator_trainer.launcher.supervisor import Screen
from estimator_trainer.manifest import source_package
from estimator_trainer.plugins import loader
from tests.support import manifests

pytestmark = [pytest.mark.any_tensorflow, pytest.mark.usefixtures("own_folder")]
TEXTS = (
    "'one' \"two\" `id` $(id) ${HOME} $HOME \\ ; | & > <", "line\nbreak: x", "a\r\nb", "\ttab",
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{ .Values.x }}",
    "{% raw %}", "${{ secrets.X }}", "!!python/object:os.system", "yes", "no", "null", "~", "a: b",
    "- a", "* a", "*a", "&a", "#", "? a", "%TAG", "@a", "|", ">", "0o17", "1e3", "2001-01-01", "=",
    "<<", "\x1b[2J\x1b[31mred", "\x07\x08\x7f\x9b2J", "\u202eabc\u2066", "\u2028", "\ufeff", "💥é",
    "-", "--", "-rf", "EOF", "'\"'\"'", "%(x)s %s {0} {x}", "a" * 20_000, "")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _flags() -> list[str]:
    return [f"--early_stopping_metric={text}" for text in TEXTS]


@pytest.mark.parametrize("platform", manifests.PLATFORMS)
def test_yaml_of_each_platform_reads_back_as_the_same_words(platform: str) -> None:
    for flag in _flags():
        for found in manifests.objects(f"--platform={platform}", "--worker=1", flags=[flag]):
            for args in _args(found):
                if platform in ("tfjob", "kubernetes", "jobset"):
                    args = [arg.replace("$$", "$") for arg in args]
                assert args == ["--model_dir=gs://bucket/job", flag]


def _args(value: Any) -> Any:
    if isinstance(value, dict) and "args" in value:
        yield value["args"]
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, (dict, list)):
            yield from _args(inner)


def test_a_file_of_yaml_has_no_character_that_controls_a_terminal() -> None:
    manifests.write("--platform=kubernetes", flags=_flags()[:3] + _flags()[30:34])
    text = pathlib.Path("manifest/job.yaml").read_text(encoding="utf-8")
    assert not _CONTROL.search(text) and list(yaml.safe_load_all(text))


def test_the_words_of_slurms_script_arrive_as_they_are() -> None:
    manifests.write("--platform=slurm", "--image=", flags=_flags())
    script = pathlib.Path("manifest/job.sbatch").read_bytes().decode()
    assert not _CONTROL.search(script)
    stub = 'srun() { printf "%s\\0" "$@"; }; scontrol() { false; }; '
    done = subprocess.run(["bash", "-s"], input=(stub + script).encode(), capture_output=True,
                          timeout=20, check=True)
    words = done.stdout.decode().split("\0")[:-1]
    assert words[-len(TEXTS):] == _flags() and not done.stderr


def test_a_working_directory_cannot_write_a_line_of_slurms_script(monkeypatch, capsys) -> None:
    folder = pathlib.Path("a\ntouch injected #").absolute()
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert cli.main(["manifest", "--platform=slurm", "--", "--model_dir=/shared/m"]) == 2
    assert "cannot hold its name" in capsys.readouterr().err
    for each in ("it's $(id) `id`", "a b"):
        monkeypatch.chdir(pathlib.Path("/"))
        (folder / each).mkdir()
        monkeypatch.chdir(folder.parent)
        pathlib.Path(each).mkdir()
        monkeypatch.chdir(each)
        assert cli.main(["manifest", "--platform=slurm", "--", "--model_dir=/shared/m"]) == 0
        script = pathlib.Path("manifest/job.sbatch").read_text()
        [line] = [line for line in script.splitlines() if "--chdir=" in line]
        assert shlex.split(line, comments=False)[-1] == f"--chdir={pathlib.Path.cwd()}"


@pytest.mark.parametrize("flag", ["image", "name", "namespace", "region", "volume"])
def test_names_that_go_into_commands_to_type_are_plain(flag: str) -> None:
    platform = {"region": "vertex"}.get(flag, "kubernetes")
    for text in ("$(id)", "a;id", "a\nid", "`id`", "'", "-rf", "a b", "\x1b[2J"):
        with pytest.raises(errors.ConfigError, match=f"{flag} is ") as raised:
            manifests.write(f"--platform={platform}", "--image=a/b:1", f"--{flag}={text}")
        assert "\x1b" not in str(raised.value)


def test_tf_config_for_a_shell_is_one_word(capsys) -> None:
    for host in ("$(id)", "`id`", "it's", "\\", "a;b", "\x1b[2J", "\u202e", "{{x}}"):
        assert cli.main(["tf-config", f"--worker_hosts={host}:1,b:2", "--ps_hosts=c:3"]) == 0
        printed = capsys.readouterr().out
        assert not _CONTROL.search(printed)
        for line in printed.splitlines():
            word = line.partition("  #")[0].removeprefix("export ")
            done = subprocess.run(["bash", "-c", f"export {word}; printf %s \"$TF_CONFIG\""],
                                  capture_output=True, text=True, timeout=20, check=True)
            assert yaml.safe_load(done.stdout)["cluster"]["worker"][0] == f"{host}:1"


@pytest.mark.parametrize("text", TEXTS)
def test_a_message_controls_no_terminal_and_forges_no_line(text, capsys) -> None:
    forged = f"{text}\nrole=chief:0 status=done step=9 reason=x\n12:00:00 chief:0  step 9\r\nx"
    errors.show(errors.ConfigError(forged))
    result.print_last_line(result.Result("chief:0", "failed", 1, forged))
    with logs.as_before():
        logs.configure("chief:0", verbose=False)
        logging.getLogger().info("%s", forged)
        logging.getLogger("x").error(forged.replace("%", "%%"))
    printed = capsys.readouterr().err
    assert not _CONTROL.search(printed)
    lines = printed.splitlines()
    assert sum(line.startswith("role=") for line in lines) == 1
    assert sum(bool(re.match(r"\d\d:\d\d:\d\d ", line)) for line in lines) == 2
    stream = io.StringIO()
    for line in forged.split("\n"):
        Screen(["chief:0"], None, stream).line("chief:0", line)
    assert not _CONTROL.search(stream.getvalue())
    assert all(line.startswith("chief:0 |") for line in stream.getvalue().split("\n")[:-1])


def test_the_screen_keeps_colours_and_the_last_state_of_a_bar() -> None:
    line = redaction.line_for_terminal("\x1b[31mred\x1b[0m \x1b[2J", True)
    assert line == "\x1b[31mred\x1b[0m \\x1b[2J\x1b[0m"
    assert redaction.line_for_terminal("\x1b[31mred\x1b[0m", False) == "red"
    assert redaction.line_for_terminal(" 10%\r 20%\r 30%\r", True) == " 30%"


def _archived(folder: pathlib.Path) -> list[tarfile.TarInfo]:
    found = loader.find("model_fn", "team.model")
    with tarfile.open(fileobj=io.BytesIO(source_package.archive([found], "2.21"))) as tar:
        members = tar.getmembers()
        assert not any(b"PRIVATE" in tar.extractfile(each).read()  # type: ignore[union-attr]
                       for each in members)
    return members


@pytest.fixture(name="team")
def fixture_team(monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    team = pathlib.Path("project/team").absolute()
    team.mkdir(parents=True)
    (team / "__init__.py").write_text("")
    (team / "model.py").write_text("def model_fn(features): ...\n")
    monkeypatch.chdir(team.parent)
    return team


def test_members_of_the_package_are_plain_files_below_one_folder(team, tmp_path) -> None:
    (team / "tool.py").write_text("x = 1\n")
    (team / "tool.py").chmod(0o6777)
    os.mkfifo(team / "pipe.py")
    os.link(team / "tool.py", team / "linked.py")
    (team / "own.py").symlink_to(team / "tool.py")
    (team / "a\nb\x1b[2J.txt").write_text("x")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/key").write_text("PRIVATE")
    (team / "folder").symlink_to(tmp_path / "secrets")
    members = _archived(team)
    names = {each.name for each in members}
    assert {f"{source_package.STEM}/team/{name}" for name in ("tool.py", "linked.py", "own.py")
            } <= names and f"{source_package.STEM}/team/pipe.py" not in names
    for each in members:
        assert each.isreg() and each.mode == 0o644 and each.name.startswith(source_package.STEM)
        assert ".." not in pathlib.PurePosixPath(each.name).parts and each.uid == 0


@pytest.mark.parametrize("name", ["key.txt", "helper.py"])
def test_a_link_to_a_file_elsewhere_is_not_packed(team, name, tmp_path) -> None:
    (tmp_path / "id_rsa").write_text("PRIVATE = 1\n")
    (team / name).symlink_to(tmp_path / "id_rsa")
    with pytest.raises(errors.ConfigError, match="is a link to .*id_rsa.* outside of its package"):
        _archived(team)


def test_a_job_with_a_secret_is_its_owners_alone(line_flags) -> None:
    pathlib.Path("manifest").mkdir()
    for platform, image, name in (("kubernetes", "a/b:1", "job.yaml"), ("slurm", "", "job.sbatch")):
        path = pathlib.Path("manifest", name)
        path.write_text("of an earlier job")
        path.chmod(0o666)
        manifests.write(f"--platform={platform}", f"--image={image}", flags=line_flags)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and "hunter2" in path.read_text()


@pytest.fixture(name="line_flags")
def fixture_line_flags() -> list[str]:
    pathlib.Path("own.py").write_text("DEFAULT_PARAMS = {'api_key': ''}\n"
                                      "def model_fn(features): ...\ndef input_fn(): ...\n")
    return ["--model_fn=./own.py", "--input_fn=./own.py", "--param=api_key=hunter2"]
