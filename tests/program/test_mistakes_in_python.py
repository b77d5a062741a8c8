"""Forty mistakes in Python: each is one sentence with the words that repair the call."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

import estimator_trainer as et
from tests.program.test_mistakes import MODEL

_AGES = [row * 7 % 50 for row in range(120)]
_TABLE = {"age": _AGES, "city": ["Bonn", "Ulm"] * 60,
          "price": [round(age * 1.37 + 0.01 * row, 2) for row, age in enumerate(_AGES)],
          "old": ["yes" if age > 30 else "no" for age in _AGES]}
_PS_AND_COLLECTIVE = {"cluster": {"worker": ["a:1"], "ps": ["b:1"]},
                      "task": {"type": "worker", "index": 0}}


def model_fn(features, labels, mode, params):
    """Returns nothing, by mistake."""


def input_fn(mode, params):
    """Returns nothing, by mistake."""


# The call, and the part of the sentence that repairs it.
_MISTAKES = [
    (lambda: et.train(train_stepz=5), "Did you mean 'train_steps'?"),
    (lambda: et.train(steps=500), "Did you mean 'train_steps'?"),
    (lambda: et.train(epochs=3), "Did you mean 'train_epochs'?"),
    (lambda: et.train(batch_size=32), "Did you mean 'global_batch_size'?"),
    (lambda: et.train(data=_TABLE, label="old", validation_data=_TABLE),
     "Did you mean 'eval_data'?"),
    (lambda: et.train(learning_rate=0.1), "For example: params={'learning_rate': 0.1}"),
    (lambda: et.train(train_steps="5"), "expected an integer. For example: train_steps=1000"),
    (lambda: et.train(train_steps=5.5), "expected an integer. For example: train_steps=1000"),
    (lambda: et.train(train_steps=-1), "expected a number of at least 0"),
    (lambda: et.train(report="no"), "expected True or False. For example: report=True"),
    (lambda: et.train(exporters="best,final"), "expected a list of texts"),
    (lambda: et.train(exporters=["finall"]), "Did you mean 'final'?"),
    (lambda: et.train(train_distribute="mirored"), "Did you mean 'mirrored'?"),
    (lambda: et.train(params={"learning_rat": 0.1}), "Did you mean 'learning_rate'?"),
    (lambda: et.train(params={"learning_rate": "fast"}), "expected a number"),
    (lambda: et.train(params="learning_rate=0.1"), "expected a dict. For example: params={'l"),
    (lambda: et.train("cnnn"), "Did you mean 'cnn'?"),
    (lambda: et.train("cnn", "digit"), "Did you mean 'digits'?"),
    (lambda: et.train("./my.py"), "For example: model_fn='./my.py:build'"),
    (lambda: et.train(model_fn, "digits", train_steps=2), "return tf.estimator.EstimatorSpec("),
    (lambda: et.train("cnn", input_fn, params={"num_classes": 10}), "expected a tf.data.Dataset"),
    (lambda: et.train(model_dir=5), "expected the path of a directory"),
    (lambda: et.train(on_evaluation=5), "expected a function that takes a dict of metrics"),
    (lambda: et.train(tf_config="{"), "tf_config={'cluster': "),
    (lambda: et.train(tf_config={"cluster": {"chief": ["a"]}}), "like \"host:2222\""),
    (lambda: et.train(tf_config=_PS_AND_COLLECTIVE, train_distribute="multi_worker_mirrored",
                      model_dir="m"), "expected none or parameter_server"),
    (lambda: et.train(tf1=True), "import estimator_trainer.compat.tf1"),
    (lambda: et.train(device="gpu:7", train_steps=5), "For example: device='cpu:0'"),
    (lambda: et.train(data=_TABLE), "For example: label='old'"),
    (lambda: et.train(data=_TABLE, label="olt"), "For example: label='old'"),
    (lambda: et.train(data=_TABLE, label="price", params={"estimator": "DNNClassifier"}),
     "'estimator': 'DNNRegressor'"),
    (lambda: et.train(data={"a": [1, 2], "b": [1]}, label="b"),
     "a value of each column for each row"),
    (lambda: et.train(data={"a": [0, 1] * 60, "b": np.arange(120) % 7 * 1j}, label="a"),
     "column 'b' of the data"),
    (lambda: et.train(data=[1, 2, 3], label="a"), "expected a DataFrame, an Arrow table"),
    (lambda: et.train(data="nofile.csv", label="old"), "For example: data='./t.csv'"),
    (lambda: et.train(data="x.xlsx", label="a"), "Save the sheet as CSV"),
    (lambda: et.train("canned", "digits", data=_TABLE, label="old"),
     "For example: input_fn='table'"),
    (lambda: et.evaluate("nowhere"), "which holds no checkpoint"),
    (lambda: et.evaluate("nowhere", checkpoint="newest"),
     "expected latest, best, average, all or step=N"),
    (lambda: et.predict("nowhere", _TABLE), "expected the directory of a training"),
    (lambda: et.predict("nowhere", 7), "expected a path, a list of paths, a list of dicts"),
    (lambda: et.export("nowhere", serving_input="json"), "expected some of raw, example, csv"),
    (lambda: et.report([]), "the directory of a training, or several"),
    (lambda: et.show("nowhere"), "expected the directory of a training"),
    (lambda: et.launch(model_fn, "digits", "m", ps=1), "For example: model_fn='./my_model_fn.py'"),
    (lambda: et.launch("cnn", "digits"), "a directory that all tasks share"),
    (lambda: et.launch("cnn", "digits", "m", workers=1, ps=1), "Did you mean 'worker'?"),
]


@pytest.mark.parametrize("number", range(len(_MISTAKES)))
def test_a_mistake_is_one_sentence_that_repairs_the_call(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("my.py").write_text(MODEL, encoding="utf-8")
    pathlib.Path("t.csv").write_text("old\n", encoding="utf-8")
    pathlib.Path("x.xlsx").write_bytes(b"PK\x03\x04")
    call, repair = _MISTAKES[number]
    with pytest.raises(et.TrainerError) as caught:
        call()
    sentence = str(caught.value)
    assert repair in sentence, sentence
    assert "\n" not in sentence and not re.search(r"--[a-z]|memory-table|Traceback", sentence)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
