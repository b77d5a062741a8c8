"""Secrets are masked by name and by value, in each form, in each place that shows a text."""

from __future__ import annotations

import io
import json
import logging
import pathlib
import sys

import pytest

from estimator_trainer import cli, errors, logs, redaction
from estimator_trainer.cluster import task_config
from estimator_trainer.launcher.supervisor import Screen
from estimator_trainer.launcher.task_process import TaskProcess
from estimator_trainer.record import run_record
from estimator_trainer.reports import markup
from estimator_trainer.settings import command_line
from tests.support import jobs

_SECRET = "SEKRET-7f3a"

pytestmark = pytest.mark.any_tensorflow
# Every part of a secret has this in it, also what stands before and after a sign in it.
_X = "SEKRET"
FORMS = {
    "user and password": f"https://me:{_X}@host/x",
    "password with /": f"s3://ID:{_X}/{_X}@bucket/x",
    "password with @": f"https://me:{_X}@{_X}@host/x",
    "password with :": f"redis://me:{_X}:{_X}@host:6379/0",
    "password with ' and #": f"https://me:{_X}'{_X}#{_X}?{_X}@host",
    "password with percent escapes": f"https://me:{_X}%40{_X}%2F@host/x",
    "no user": f"redis://:{_X}@host",
    "a number before /": f"s3://ID:12345/{_X}@bucket/x",
    "an address as user": f"https://me@corp.com:{_X}@host/x",
    "token": f"git+https://{_X}@github.com/me/x.git@v1",
    "in brackets": f"postgresql://me:{_X}@[::1]:5432/db",
    "several": f"s3://a:{_X}@b/c,s3://d:{_X}@e/f",
    "slashes of JSON": f"https:\\/\\/me:{_X}@host",
    "no scheme": f"//me:{_X}@host/x",
    "escaped in a query": f"https://host/?to=https%3A%2F%2Fme%3A{_X}%40host",
    "key": f"https://host/x?key={_X}&part=1",
    "fragment": f"https://host/x#access_token={_X}",
    "both": f"https://host/x?part=1#access_token={_X}",
    "escaped name": f"https://host/x?access%5Ftoken={_X}",
    "S3's signature": f"https://b.s3.amazonaws.com/x?X-Amz-Credential={_X}&X-Amz-Signature={_X}"
                      f"&X-Amz-Security-Token={_X}",
    "S3's older signature": f"https://b.s3.amazonaws.com/x?AWSAccessKeyId={_X}&Signature={_X}%3D",
    "Google's signature": f"https://storage.googleapis.com/b/x?X-Goog-Signature={_X}"
                          f"&GoogleAccessId={_X}",
    "Azure's signature": f"https://a.blob.core.windows.net/c/x?sv=2020-08-04&sig={_X}%2B{_X}&se=1",
    "Azure's connection": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={_X}==;X=y",
    "ampersand of JSON": f"https://host/x?a=1\\u0026api_key={_X}",
    "header": f"Authorization: Bearer {_X}",
}
# Nothing of these is a secret, and a record that lacked them would lack a path.
SHOWN = ("gs://bucket/run@v2/model", "hdfs://namenode:8020/user/me@corp/x", "label=a@b:c",
         "abfs://data@account.dfs.core.windows.net/x", "https://host:443/?email=a@b.com",
         "https://[::1]:80/x@y", "https://host/a:b@c", "file:///tmp/a:b@c", "ssh://git@host/x",
         "gs://bucket/part-?key.csv", "x=1 & key = 3", "{'a': 'https://h:x', 'b': 'c@d'}")


def _hidden(shown: str) -> None:
    assert shown and _X not in shown, shown


@pytest.mark.parametrize("form", FORMS)
def test_secret_is_hidden_in_each_form_and_output(form, capsys, tmp_path):
    text = FORMS[form]
    error = errors.ConfigError(f"cannot read {text}")
    errors.show(error)
    try:
        raise ValueError(f"UnavailableError: {text} [Op:ReadFile]")
    except ValueError as caught:
        errors.print_traceback(caught)
        sys.excepthook(type(caught), caught, caught.__traceback__) if (
            sys.excepthook is cli._print_uncaught) else cli._print_uncaught(
                type(caught), caught, caught.__traceback__)
    _hidden(capsys.readouterr().err)
    _hidden(errors.first_line(error))
    with logs.as_before():
        logs.configure("chief:0", verbose=False)
        record = logging.LogRecord("x", logging.WARNING, "x.py", 1, "at %s", (text,), None)
        _hidden(logging.getLogger().handlers[0].format(record))
    for shown in (redaction.masked_words(["train", f"--param=url={text}", "--url", text]),
                  redaction.masked("url", text), redaction.masked("", {"a": [text]}),
                  run_record.to_json(run_record.RunRecord(unrecorded={
                      "url": redaction.masked("url", text)})),
                  markup.text(text), markup.code(text), markup.note(text),
                  markup.table(["x"], [[text]])):
        _hidden(str(shown))
    stream = io.StringIO()
    Screen(["chief:0"], None, stream).line("chief:0", f"12:00:00 chief:0  {text}")
    _hidden(stream.getvalue())
    task = TaskProcess("chief:0", [sys.executable], ["-c", f"print({text!r})"], dict(
        jobs.environment()), tmp_path / "log", lambda *_: None)
    task.start()
    task._process.wait()
    task.kill()
    _hidden((tmp_path / "log").read_text())


@pytest.mark.parametrize("text", SHOWN)
def test_text_without_a_secret_stays(text):
    assert redaction.without_credentials(text) == text


def test_check_hides_a_secret_in_each_form(capsys, tmp_path):
    own = tmp_path / "own.py"
    names = [f"u{number}" for number in range(len(FORMS))]
    own.write_text(f"DEFAULT_PARAMS = {dict.fromkeys(names, '')!r}\n"
                   "def model_fn(features, params): ...\ndef input_fn(params): ...\n")
    flags = [f"--model_fn={own}", f"--input_fn={own}", *(
        f"--param={name}={text}" for name, text in zip(names, FORMS.values()))]
    for more in ([], ["--json"], ["--model_dir=" + FORMS["password with /"]],
                 ["--train_steps=" + FORMS["key"]]):
        cli.main(["check", *more, *flags])
        printed = capsys.readouterr()
        _hidden(printed.out + printed.err)


def test_without_credentials_masks_a_long_text_in_no_time():
    for text in ("a://b:" * 30_000, "?key=" * 30_000, "%3A%2F%2F" * 30_000 + "%40", "//a " * 30_000,
                 "x" * 200_000, ";a=" * 50_000, "authorization: " * 10_000, "@" * 200_000):
        redaction.without_credentials(text)  # A search from each place would take minutes.


_TF_CONFIG = json.dumps({
    "cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"]},
    "job": {"args": [f"--password={_X}", _X], "python_module": f"s3://{_X}"},
    "task": {"type": "worker", "index": 0}})
_AS_TEXT = json.dumps({"cluster": {"chief": ["a:1"]}, "job": json.dumps({"args": [_X]}), "task": 3})


def test_broken_tf_config_shows_nothing_of_its_job():
    broken = [cut for text in (_TF_CONFIG, _AS_TEXT, json.dumps(_TF_CONFIG))
              for at in range(0, len(text))
              for cut in (text[:at] + text[at + 1:], text[:at], text[at:])]
    broken += [_TF_CONFIG.replace('"', mark) for mark in ("", "'", '\\"', "`")]
    broken += [_TF_CONFIG.replace(":", mark) for mark in ("", "=", " ")]
    refused = 0
    for text in broken:
        try:
            task_config.parse(text)
        except errors.TaskConfigError as error:
            refused += 1
            assert _X not in str(error), text
    assert refused > 500


def test_broken_json_shows_its_length_keys_and_where_it_stops():
    text = _TF_CONFIG.replace('"job":', '"job"')
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(text)
    assert str(raised.value).startswith(
        f"TF_CONFIG is a text of {len(text)} characters with cluster, chief, worker, job, task,"
        " type (from the environment), which is not JSON: Expecting ':' delimiter: line 1 column")
    with pytest.raises(errors.TaskConfigError, match="too many brackets"):
        task_config.parse("[" * 100_000)


@pytest.mark.parametrize("address", [f"me:{_X}@host:2222", f"{_X}@host:2222",
                                     f"grpc://me:{_X}@host:2222", f"s3://ID:{_X}://x@host:22"])
def test_address_with_a_user_is_refused_and_not_repeated(address):
    with pytest.raises(errors.TaskConfigError) as raised:
        task_config.parse(json.dumps({"cluster": {"chief": [address], "worker": ["b:1"]},
                                      "task": {"type": "worker", "index": 0}}))
    _hidden(redaction.without_credentials(str(raised.value)))


@pytest.mark.parametrize("text", ["{'api_key': 'SEKRET'}", '{"api_key": "SEKRET"', "SEKRET",
                                  '["SEKRET"]', "[" * 100_000])
def test_file_that_is_not_json_is_not_repeated(text, tmp_path, capsys):
    path = tmp_path / "params.json"
    path.write_text(text)
    assert cli.main(["check", f"--params_file={path}"]) == 2
    printed = capsys.readouterr()
    _hidden(printed.out + printed.err)
    flags = pathlib.Path(tmp_path, "flags")
    flags.write_text(f"--param=api_key={_X}\n{_X} {_X}\n")
    assert cli.main(["check", f"--flagfile={flags}"]) == 2
    printed = capsys.readouterr()
    _hidden(printed.out + printed.err)


@pytest.mark.parametrize("name", (
    "api_key apiKey API_KEY api-key db.password dbPassword mypassword password2 passwd pwd secret"
    " client_secret token hf_token github_token access_token access_tokens auth auth_header"
    " credential aws_credentials private_key aws_secret_access_key storage_key").split())
def test_is_secret_finds_names_of_secrets(name):
    assert redaction.is_secret(name)


@pytest.mark.parametrize("name", (
    "key label_key key_column forward_key num_tokens max_tokens tokens token_dim sync_tokens"
    " pad_token end_token author secretary password_file api_key_path secret_name token_length"
    " hidden_units").split())
def test_is_secret_leaves_other_names_alone(name):
    assert not redaction.is_secret(name)


@pytest.mark.parametrize("words", [
    ["--param", f"api_key={_SECRET}=="], [f"--param=api_key={_SECRET}="], ["--api-key", _SECRET],
    [f"--token={_SECRET}"], [f"--plugin_flag=password={_SECRET}"], [f"password={_SECRET}"],
    ["--param", f'db={{"password": "{_SECRET}"}}'], ["--param", f"api_key:{_SECRET}"],
    ["--param", f"url=https://me:{_SECRET}@host/x"], [f"--url=https://{_SECRET}@host/x"],
    [f"--url=https://host/x?X-Amz-Signature={_SECRET}&part=1"], [f"--url=s3://id:{_SECRET}@b/c"],
])
def test_masked_words_hides_secrets(words):
    shown = redaction.masked_words(["train", *words, "--model_dir=d"])
    assert _SECRET not in " ".join(shown) and redaction.MASK in " ".join(shown)
    assert shown[0] == "train" and shown[-1] == "--model_dir=d" and len(shown) == len(words) + 2


@pytest.mark.parametrize("word", [
    "--param=hidden_units=[8, 8]", "--url=abfs://data@account.dfs.core.windows.net/x",
    "--warm_start_vars=.*", "--param=label=a@b:c", "--noauth", "--param=key=id"])
def test_masked_words_shows_a_command_line_without_secrets(word):
    assert redaction.masked_words([word]) == [word]


def test_masked_hides_values_by_name_however_deep():
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
def test_mistyped_line_does_not_repeat_a_secret(args, capsys):
    assert cli.main(args) == 2
    printed = capsys.readouterr()
    assert _SECRET not in printed.out + printed.err


def test_wrong_value_of_a_secret_is_not_repeated(tmp_path, capsys):
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


def test_without_credentials_in_errors_and_logs():
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
