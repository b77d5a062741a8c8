"""The example of clicks: Criteo's format, the generator's best AUC, and a model that is near it."""

from __future__ import annotations

import gzip
import importlib
import math

import numpy as np
import pytest

from input_fns.reading.errors import DataParamError
from tests.support import jobs
from tests.support.reading import context

_FOLDER = jobs.REPO / "examples" / "12_click_through"
_CODES = [f"{code:08x}" for code in range(26)]


def _module(name):
    return importlib.import_module(f"examples.12_click_through.{name}")


def _line(label="0", numbers=("1",) * 13, categories=_CODES):
    return "\t".join([label, *numbers, *categories]) + "\n"


def _read(path, mode="eval", of=None, **params):
    criteo = _module("criteo")
    return list(criteo.input_fn(mode, {
        **criteo.DEFAULT_PARAMS, "train_files": str(path), "eval_files": str(path), "epochs": 1,
        "batch_size": 1 if mode == "train" else 100, **params}, of))


@pytest.mark.parametrize("name", ["day_0", "day_0.gz"])
def test_a_line_has_logarithms_and_categories_with_blanks(name, tmp_path):
    text = (_line("1", ["", "-1", *["0"] * 10, "20"], ["", *_CODES[1:]]) + _line())
    (tmp_path / name).write_bytes(
        gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    [(features, label)] = _read(tmp_path / name)
    assert list(label.numpy()) == [1, 0] and len(features) == 39
    numbers = {name: features[name].numpy() for name in ("I1", "I2", "I13")}
    np.testing.assert_allclose(numbers["I1"], [np.nan, math.log(2)], rtol=1e-6)
    np.testing.assert_allclose(numbers["I2"], [-math.log(2), math.log(2)], rtol=1e-6)
    np.testing.assert_allclose(numbers["I13"], [math.log(21), math.log(2)], rtol=1e-6)
    assert list(features["C1"].numpy()) == [b"", b"00000000"]
    assert features["C26"][0] == b"00000019"
    [(features, _)] = _read(tmp_path / name, blank_numbers="zero")
    assert features["I1"][0] == 0
    with pytest.raises(DataParamError, match="expected nan or zero"):
        _read(tmp_path / name, blank_numbers="mean")


def test_workers_share_the_lines(tmp_path):
    for file in range(3):
        (tmp_path / f"day_{file}").write_text("".join(
            _line(numbers=[str(10 * file + i)] * 13) for i in range(5)))
    shares = [[round(math.expm1(features["I1"][0])) for features, _ in _read(
        tmp_path / "day_*", "train", context(2, worker))] for worker in range(2)]
    assert sorted(sum(shares, [])) == [10 * file + i for file in range(3) for i in range(5)]
    assert all(shares)


def test_the_scale_of_numbers_leaves_blanks_out(tmp_path):
    (tmp_path / "day_0").write_text(_line(numbers=["", *["0"] * 12]) + _line(numbers=["3"] * 13))
    criteo = _module("criteo")
    known = criteo.data_params({**criteo.DEFAULT_PARAMS, "numeric_scale": {},
                                "train_files": str(tmp_path / "day_0")})
    assert known["num_classes"] == 2
    assert known["numeric_scale"]["I1"] == pytest.approx([math.log(4), 1.0])
    assert known["numeric_scale"]["I2"] == pytest.approx([math.log(2), math.log(2)])


def test_the_generator_writes_the_same_files_and_their_best_auc(tmp_path):
    clicks, score = _module("clicks"), _module("score")
    best = [clicks.write(tmp_path / name, 800, 2000, seed) for name, seed in (
        ("one", 1), ("same", 1), ("other", 2))]
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 11 and best[0] == best[1] != best[2]
    for name in names:
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "same" / name).read_bytes()
        assert content != (tmp_path / "other" / name).read_bytes()
    assert score.best(tmp_path / "one") == best[0]
    assert len(_read(tmp_path / "one" / "train-*.tsv", "train")) == 800


def test_auc_is_the_share_of_pairs_in_order():
    scores, labels = np.array([0.1, 0.4, 0.4, 0.8, 0.3]), np.array([0, 0, 1, 1, 1], bool)
    pairs = [(high > low) + (high == low) / 2
             for high in scores[labels] for low in scores[~labels]]
    assert _module("clicks").auc(scores, labels) == pytest.approx(np.mean(pairs))


@pytest.mark.cluster
@pytest.mark.soak
def test_dcn_comes_within_0_005_of_the_best_auc(tmp_path):
    clicks, score = _module("clicks"), _module("score")
    best = clicks.write(tmp_path / "clicks", 2_000_000)
    ran = jobs.trainer(
        "--model_fn=dcn", f"--input_fn={_FOLDER}/criteo.py", f"--params_file={_FOLDER}/dcn.json",
        f"--param=train_files={tmp_path}/clicks/train-*.tsv", "--train_steps=3900", "--seed=1",
        f"--param=eval_files={tmp_path}/clicks/validation.tsv", f"--model_dir={tmp_path}/model",
        "--eval_every_steps=100000", timeout_secs=280)
    assert ran.returncode == 0, ran.stderr
    assert best - score.of_model(tmp_path / "clicks", tmp_path / "model") <= 0.005
