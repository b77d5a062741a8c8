"""What is named like a secret is masked where it is shown, and what is not is left alone."""

from __future__ import annotations

import json
import logging

import pytest

from estimator_trainer import cli, errors, logs, redaction
from estimator_trainer.settings import command_line

pytestmark = pytest.mark.any_tensorflow
_SECRET = "SEKRET-7f3a"


@pytest.mark.parametrize("name", (
    "api_key apiKey API_KEY api-key db.password dbPassword mypassword password2 passwd pwd secret"
    " client_secret token hf_token github_token access_token access_tokens auth auth_header"
    " credential aws_credentials private_key aws_secret_access_key storage_key").split())
def test_names_of_secrets_are_known(name):
    assert redaction.is_secret(name)


@pytest.mark.parametrize("name", (
    "key label_key key_column forward_key num_tokens max_tokens tokens token_dim sync_tokens"
    " pad_token end_token author secretary password_file api_key_path secret_name token_length"
    " hidden_units").split())
def test_other_names_are_left_alone(name):
    assert not redaction.is_secret(name)


@pytest.mark.parametrize("words", [
    ["--param", f"api_key={_SECRET}=="], [f"--param=api_key={_SECRET}="], ["--api-key", _SECRET],
    [f"--token={_SECRET}"], [f"--plugin_flag=password={_SECRET}"], [f"password={_SECRET}"],
    ["--param", f'db={{"password": "{_SECRET}"}}'], ["--param", f"api_key:{_SECRET}"],
    ["--param", f"url=https://me:{_SECRET}@host/x"], [f"--url=https://{_SECRET}@host/x"],
    [f"--url=https://host/x?X-Amz-Signature={_SECRET}&part=1"], [f"--url=s3://id:{_SECRET}@b/c"],
])
def test_a_command_line_is_shown_without_them(words):
    shown = redaction.masked_words(["train", *words, "--model_dir=d"])
    assert _SECRET not in " ".join(shown) and redaction.MASK in " ".join(shown)
    assert shown[0] == "train" and shown[-1] == "--model_dir=d" and len(shown) == len(words) + 2


@pytest.mark.parametrize("word", [
    "--param=hidden_units=[8, 8]", "--url=abfs://data@account.dfs.core.windows.net/x",
    "--warm_start_vars=.*", "--param=label=a@b:c", "--noauth", "--param=key=id"])
def test_a_command_line_without_secrets_is_shown_as_it_is(word):
    assert redaction.masked_words([word]) == [word]


def test_values_are_masked_by_name_however_deep():
    value = {"use_auth": True, "api_key": _SECRET, "n": [{"token": _SECRET}], "password": 1234}
    assert redaction.masked("", value) == {
        "use_auth": True, "api_key": "****", "n": [{"token": "****"}], "password": "****"}
    assert redaction.masked("param", (f"api_key={_SECRET}", "a=1")) == ("api_key=****", "a=1")


@pytest.mark.parametrize("args", [
    ["--param", "api_key", _SECRET], [f"--param=api_key:{_SECRET}"],
    [f"--param=api_keys={_SECRET}", f"--param=secret={_SECRET}"],
    ["train", "--", "--password=a", _SECRET], ["train", "--", f"password={_SECRET}"],
    ["run", "a.py", f"password={_SECRET}"], ["launch", "--param", "api_key", _SECRET],
    ["launch", "--", "--param", "api_key", _SECRET],
    [f"--model_fn=https://me:{_SECRET}@host/x"]])
def test_a_mistyped_line_does_not_repeat_a_secret(args, capsys):
    assert cli.main(args) == 2
    printed = capsys.readouterr()
    assert _SECRET not in printed.out + printed.err


def test_a_wrong_value_of_a_secret_is_not_repeated(tmp_path, capsys):
    own = tmp_path / "own.py"
    own.write_text(f"DEFAULT_PARAMS = {{'api_key': 3, 'password': 'd-{_SECRET}'}}\n"
                   "def model_fn(features): ...\ndef input_fn(): ...\n")
    flags = [f"--model_fn={own}", f"--input_fn={own}", f"--param=api_key={_SECRET}"]
    for command in (["check", *flags], ["check", "--json", *flags], flags):
        assert cli.main(command) == 2
        printed = capsys.readouterr()
        assert "param api_key is '****'" in printed.out + printed.err
        assert _SECRET not in printed.out + printed.err
    assert cli.main(["check", *flags[:2], f"--param=password={_SECRET}", "--json",
                     "--param=api_key=7"]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown)["params"]["password"] == "****" and _SECRET not in shown


def test_errors_and_logs_have_no_password_of_a_url():
    error = errors.ConfigError(f"cannot read https://me:{_SECRET}@host/x")
    assert errors.first_line(error) == "cannot read https://****@host/x"
    with pytest.raises(errors.ConfigError) as raised:
        command_line.normal((), ["--token", "a", _SECRET])
    assert _SECRET not in str(raised.value)
    with logs.as_before():
        logs.configure("local", verbose=False)
        record = logging.LogRecord("x", logging.INFO, "x.py", 1, "at %s", (
            f"https://me:{_SECRET}@host",), None)
        assert _SECRET not in logging.getLogger().handlers[0].format(record)
