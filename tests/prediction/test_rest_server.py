"""`serve` is a process that answers programs of this machine, and ends with a signal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from estimator_trainer import cli
from tests.support import half_plus_two, jobs

pytestmark = pytest.mark.cluster


def _get(url, data=None, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
        return answer.headers["Content-Type"], json.loads(answer.read())


@pytest.mark.parametrize("number", [
    signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.soak)])
def test_a_server_answers_until_a_signal_ends_it(number, tmp_path):
    half_plus_two.write(tmp_path / "export" / "final")
    with subprocess.Popen(
            [sys.executable, "-m", "estimator_trainer", "serve", f"--model_dir={tmp_path}",
             "--port=0", "--model_name=half"], stdout=subprocess.PIPE, text=True,
            env=jobs.environment()) as server:
        try:
            url = server.stdout.readline().split()[0]
            assert url.endswith("/v1/models/half") and url.startswith("http://127.0.0.1:")
            kind, status = _get(url)
            assert kind == "application/json"
            assert status["model_version_status"][0]["version"] == "123"
            assert _get(f"{url}:predict", b'{"instances": [[1.0]]}')[1] == {"predictions": [[2.5]]}
            for wrong, code, headers in ((f"{url}:classify", 400, {}), (f"{url}x", 404, {}),
                                         (url, 403, {"Host": "other.example"})):
                with pytest.raises(urllib.error.HTTPError) as caught:
                    _get(wrong, b"{}" if code == 400 else None, **headers)
                assert caught.value.code == code
                caught.value.close()
            server.send_signal(number)
            assert server.wait(60) == 0
        finally:
            server.kill()


@pytest.mark.parametrize("flags, expected", [
    ([], "there is nothing to serve"),
    (["--model_dir=a", "--export_dir=b"], "expected one of them"),
    (["--model_dir={0}"], "which holds no export; expected the directory of a training"),
    (["--export_dir={0}"], "which holds no SavedModel"),
    (["--model_dir=a", "--model_name=a/b"], "expected letters, digits"),
    (["--model_dir=a", "extra"], "its flags alone")])
def test_a_mistake_is_one_sentence(tmp_path, flags, expected, capfd):
    assert cli.main(["serve", *(flag.format(tmp_path) for flag in flags)]) == 2
    err = capfd.readouterr().err
    assert expected in err and "Traceback" not in err
