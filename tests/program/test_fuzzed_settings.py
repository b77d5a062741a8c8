"""Whatever TF_CONFIG, flags and params are, `check` answers in sentences, at once.

The default run tries few examples, always the same; `-m soak` tries many others.
"""

from __future__ import annotations

import json
import socket
import time

import hypothesis
from hypothesis import strategies as st
import pytest

from estimator_trainer import cli
from estimator_trainer.cluster import rank_source
from estimator_trainer.settings import flag_parser
from tests.support.dialects import DIALECTS

pytestmark = pytest.mark.any_tensorflow
_MOST_SECS = 2.0
_SECRET = "SEKRET-9f3b"
_QUICK = hypothesis.settings(
    derandomize=True, deadline=None, max_examples=60, database=None,
    suppress_health_check=list(hypothesis.HealthCheck))
_WIDE = hypothesis.settings(_QUICK, derandomize=False, max_examples=3000, print_blob=True)

_RIGHT = [(name, text) for tasks in DIALECTS.values() for task in tasks[:2]
          for name, text in task.items() if name in ("TF_CONFIG", "CLUSTER_SPEC")]
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from([10 ** 400, -1, "0", "²", "1e999", "\0", "\ud800", "x" * 5000, "me:pw@h:1"]))
_JSON = st.recursive(_SCALARS, lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(
        ["cluster", "task", "type", "index", "chief", "worker", "ps", "evaluator", "0", "x"]),
        inner, max_size=3)), max_leaves=6)
_TEXTS = st.one_of(st.text(max_size=20), _JSON.map(json.dumps), st.sampled_from([
    "", " ", "-", "--", "=", "nan", "-inf", "1e400", "9" * 5000, "[" * 100_000, "{" * 20, "\0",
    "\ud800", "a\0b", "/dev/null", "/", "~", "~nobody-x/x", "%", "{}", "[]", "x" * 5000, "../..",
    "s3://", "gs://b/%", "://", "a:b", ":", ".", "..", "a.b.c", "/dev/stdin/x", "²", "１"]))


@pytest.fixture(name="answer", scope="module")
def fixture_answer(tmp_path_factory):
    """Returns a function that runs `check` in an environment, and returns what it printed."""
    folder = tmp_path_factory.mktemp("fuzz")
    own = folder / "own.py"
    own.write_text("DEFAULT_PARAMS = {'n': 1, 'f': 0.5, 's': '', 'b': True, 'l': [1], 'd': {},"
                   " 'o': None, 't': (1, 2)}\n"
                   "def model_fn(features, params): ...\ndef input_fn(params): ...\n")

    def answer(words: list[str], **variables: str) -> None:
        variables = {name: text for name, text in variables.items() if _is_variable(text)}
        with pytest.MonkeyPatch.context() as patch:
            for name in ("TF_CONFIG", "CLUSTER_SPEC", *rank_source.VARIABLES):
                patch.delenv(name, raising=False)
            for name, text in variables.items():
                patch.setenv(name, text)
            # A name server may take its time, and so may a machine that others use.
            patch.setattr(socket, "getaddrinfo", _no_such_host)
            began = time.process_time()
            code = cli.main(["check", f"--model_fn={own}", f"--input_fn={own}", *words])
        assert code in (0, 2) and time.process_time() - began < _MOST_SECS, (words, variables)

    answer.folder = folder
    return answer


def _no_such_host(*_: object) -> None:
    raise socket.gaierror("Name or service not known")


def _is_variable(text: str) -> bool:
    """Returns whether the system can hold a text in a variable; it takes no NUL."""
    try:
        return b"\0" not in text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False


def _both(test):
    """Returns the test as it is tried in the default run, and in a wide one."""
    def quick(answer, capsys):
        _QUICK(hypothesis.given(st.data())(test))(answer, capsys)

    def wide(answer, capsys):
        _WIDE(hypothesis.given(st.data())(test))(answer, capsys)
    return quick, pytest.mark.soak(pytest.mark.timeout(1200)(wide))


def _tf_config_text(answer, capsys, data):
    """Cuts, doubles and replaces parts of a right text."""
    name, text = data.draw(st.sampled_from(_RIGHT))
    text = text.replace('"environment"', f'"job":{{"args":["{_SECRET}"]}},"environment"', 1)
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        part = data.draw(st.one_of(st.just(""), st.sampled_from(list('{}[]",:0\\\'')),
                                   st.just(text[start:end] * 2), st.text(max_size=3)))
        text = text[:start] + part + text[end:]
    answer([], **{name: text})
    printed = capsys.readouterr()
    assert _SECRET[:6] not in printed.out + printed.err


def _tf_config_values(answer, capsys, data):
    """Puts any value in the place of one in a right object."""
    name, text = data.draw(st.sampled_from(_RIGHT))
    value = json.loads(text)
    place, key = {"": value}, ""
    while isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(_JSON)
    answer([], **{name: json.dumps(value)})
    capsys.readouterr()


def _flags(answer, capsys, data):
    """Gives any text to any flag."""
    names = sorted(set(flag_parser.flags_of("check")) - {"flagfile", "undefok", "probe"})
    words = [f"--{name}={data.draw(_TEXTS)}" for name in data.draw(
        st.lists(st.sampled_from(names), min_size=1, max_size=3))]
    answer(words + data.draw(st.lists(_TEXTS, max_size=1)))
    capsys.readouterr()


def _params(answer, capsys, data):
    """Gives any text to any param, on the line and in files."""
    names = st.one_of(st.sampled_from(list("nfsbldot")), st.text(max_size=5))
    words = [f"--param={data.draw(names)}={data.draw(_TEXTS)}"]
    folder = answer.folder
    (folder / "params").write_bytes(data.draw(st.one_of(
        st.binary(max_size=20), _TEXTS.map(lambda text: text.encode(errors="replace")),
        st.dictionaries(names, _JSON, max_size=3).map(lambda value: json.dumps(value).encode()))))
    (folder / "flags").write_bytes(data.draw(st.one_of(
        st.binary(max_size=20), st.lists(_TEXTS, max_size=3).map(
            lambda lines: "\n".join(f"--train_steps={line}" for line in lines).encode(
                errors="replace")))))
    words += data.draw(st.sampled_from([
        [], [f"--params_file={folder / 'params'}"], [f"--flagfile={folder / 'flags'}"]]))
    answer(words)
    capsys.readouterr()


def _ranks(answer, capsys, data):
    """Sets any variables of launchers."""
    values = st.one_of(st.integers(-1, 5).map(str), st.text(max_size=4), st.sampled_from(
        ["", "9" * 30, "4(x2)", "n[1-3]", "12.host", "n[1-99999999]", "1(x99999999)"]))
    answer(data.draw(st.sampled_from([[], ["--rank_hosts=a:2,b"], ["--num_ps=1"],
                                      ["--first_port=65535"]])),
           **data.draw(st.dictionaries(st.sampled_from(rank_source.VARIABLES), values, max_size=5)))
    capsys.readouterr()


test_a_changed_text_of_tf_config, test_many_changed_texts_of_tf_config = _both(_tf_config_text)
test_any_value_in_tf_config, test_many_values_in_tf_config = _both(_tf_config_values)
test_any_text_of_a_flag, test_many_texts_of_flags = _both(_flags)
test_any_text_of_a_param, test_many_texts_of_params = _both(_params)
test_any_variables_of_launchers, test_many_variables_of_launchers = _both(_ranks)
