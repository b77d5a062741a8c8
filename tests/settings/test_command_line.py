"""Every spelling of a flag is understood, and every mistake is one sentence, with its file."""

from __future__ import annotations

import pytest

from estimator_trainer import errors
from estimator_trainer.settings import command_line


@pytest.mark.parametrize("argv, field, value", [
    (["--train_steps=5"], "train_steps", 5),
    (["train", "--train-steps", "5"], "train_steps", 5),
    (["--job-dir=/tmp/a"], "model_dir", "/tmp/a"),
    (["--job_dir", "/tmp/a"], "model_dir", "/tmp/a"),
    (["--job-dir=/tmp/a", "--model_dir=/tmp/b"], "model_dir", "/tmp/b"),
    (["--param", "a=1", "--param=b=2"], "param", ("a=1", "b=2")),
    (["--exporters=final,best"], "exporters", ("final", "best")),
    (["--verbose"], "verbose", True),
    (["--noverbose"], "verbose", False),
])
def test_parse_takes_every_spelling_of_a_flag(argv, field, value):
    parsed = command_line.parse(argv).config
    assert getattr(parsed, field) == value


def test_parse_reads_a_flagfile(tmp_path):
    (tmp_path / "job.flags").write_text("--train_steps=7\n--param=batch_size=8\n")
    parsed = command_line.parse([f"--flagfile={tmp_path}/job.flags"]).config
    assert parsed.train_steps == 7 and parsed.param == ("batch_size=8",)


def test_parse_gives_every_task_what_follows_two_dashes():
    line = command_line.parse(["launch", "--worker=2", "--ps=1", "--", "train", "--train_steps=7"])
    assert line.command == "launch" and line.flags == ("--train_steps=7",)
    assert line.config.train_steps == 7
    assert line.job.tasks == (("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0))


def test_parse_leaves_no_flags_behind():
    from absl import flags
    before = set(flags.FLAGS)
    command_line.parse([])
    assert set(flags.FLAGS) == before


@pytest.mark.parametrize("argv, expected", [
    (["--train_step=5"], "flag --train_step (from the command line) is unknown"),
    (["--train_step=5"], "Did you mean '--train_steps'?"),
    (["--train_steps=many"], "train_steps is 'many' (from --train_steps); expected an integer"),
    (["--verbose=maybe"], "expected true or false"),
    (["trian"], "command is 'trian' (from the command line)"),
    (["trian"], "Did you mean 'train'?"),
    (["train", "evaluate"], "command is 'evaluate'"),
    (["--flagfile=/nowhere"], "flagfile is '/nowhere' (from --flagfile), which cannot be read"),
    (["--train_steps"], "the flags cannot be read"),
    (["--train_steps=7", "launch"], "check, init, list, completion as the first word"),
    (["launch", "--workers=2"], "Did you mean '--worker'?"),
    (["launch", "--train_steps=7"], "go after `--`: -- --train_steps=7"),
    (["launch", "--", "evaluate"], "launch got 'evaluate'"),
    (["launch", "--chief=0"], "expected a task that trains"),
    (["manifest", "--chief=2"], "a job has one chief. For example: --chief=1"),
    (["manifest", "--evaluator=65"], "expected at most 64. For example: --evaluator=2"),
])
def test_parse_refuses_a_mistake_in_one_sentence(argv, expected):
    with pytest.raises(errors.ConfigError) as raised:
        command_line.parse(argv)
    assert expected in str(raised.value) and "\n" not in str(raised.value)


def test_parse_takes_flags_of_plugins_after_two_dashes():
    line = command_line.parse(["train", "--plugin_flag=fast", "--", "--hidden=3", "--rate", "-1",
                               "--nouse_tpu", "--tag", "a"])
    assert line.config.plugin_flag == ("fast", "hidden=3", "rate=-1", "nouse_tpu", "tag=a")
    line = command_line.parse(["launch", "--worker=2", "--", "--model_dir=/x", "--", "--tag", "a"])
    assert line.config.plugin_flag == ("tag=a",)
    # The launcher adds flags of its own behind them.
    assert line.flags == ("--model_dir=/x", "--plugin_flag=tag=a")
    with pytest.raises(errors.ConfigError, match="'evaluate' .*after `--`.*belongs to no flag"):
        command_line.parse(["--", "evaluate"])


def test_parse_counts_flags_of_plugins_as_user_set():
    line = command_line.parse(["evaluate", "--model_dir=d", "--", "--hidden=3"])
    assert line.user_set == {"model_dir", "plugin_flag"}
    assert command_line.parse(["evaluate", "--model_dir=d"]).user_set == {"model_dir"}


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("text, expected", [
    ("--train_stepz=3\n", "flag --train_stepz (from --flagfile={file}) is unknown"),
    ("# steps\n--train_steps=x\n", "train_steps is 'x' (from --train_steps in --flagfile={file})"),
])
def test_parse_names_the_flagfile_of_a_mistake(text, expected, tmp_path):
    file = tmp_path / "flags"
    file.write_text(text)
    for words in ([f"--flagfile={file}"], ["--flagfile", str(file)]):
        with pytest.raises(errors.ConfigError) as raised:
            command_line.parse(words)
        assert expected.format(file=file) in str(raised.value)


@pytest.mark.any_tensorflow
def test_parse_blames_no_flagfile_for_a_mistake_on_the_line(tmp_path):
    (tmp_path / "flags").write_text("--train_steps=3\n")
    with pytest.raises(errors.ConfigError, match="from the command line"):
        command_line.parse([f"--flagfile={tmp_path / 'flags'}", "--train_stepz=3"])


@pytest.mark.any_tensorflow
def test_parse_of_a_missing_flagfile_is_one_sentence(tmp_path):
    with pytest.raises(errors.ConfigError) as raised:
        command_line.parse([f"--flagfile={tmp_path / 'none'}"])
    assert "No such file" in str(raised.value) and "ERROR" not in str(raised.value)


@pytest.mark.parametrize("line, sentence", [
    ("train --last=3", "last is 3 (from --last), which only `average` takes"),
    ("evaluate --best=3 --model_dir=m", "For example: estimator-trainer average --best=3"),
    ("average --last=3 --best=2 --model_dir=m", "and last is 3 (from --last); expected one of"),
    ("average --last=1 --model_dir=m", "expected a number of at least 2")])
def test_a_mean_takes_the_last_or_the_best_and_is_made_by_one_command(line, sentence):
    with pytest.raises(errors.ConfigError) as raised:
        command_line.parse(line.split())
    assert sentence in str(raised.value)
