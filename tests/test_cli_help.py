"""The program answers a question for help, and takes no value for one."""

from __future__ import annotations

from estimator_trainer import cli


def test_a_value_that_reads_like_a_question_is_a_value(capsys, tmp_path):
    assert cli.main(["predict", "--checkpoint", "help", f"--model_dir={tmp_path}"]) == 2
    output = capsys.readouterr()
    assert "checkpoint is 'help' (from --checkpoint)" in output.err and not output.out


def test_a_command_explains_itself(capsys):
    assert cli.main(["manifest", "--help"]) == cli.main(["help", "manifest"]) == 0
    output = capsys.readouterr().out
    assert output.count("usage: estimator-trainer manifest") == 2 and "--train_steps" not in output
