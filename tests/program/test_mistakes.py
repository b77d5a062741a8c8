"""Forty mistakes on the command line: each is one sentence with the words that repair it."""

from __future__ import annotations

import pathlib
import shlex

import pytest

from estimator_trainer import cli

# A model_fn under another name.
MODEL = """import tensorflow as tf

def build(features, labels, mode):
    logits = tf.keras.layers.Dense(10)(tf.keras.layers.Flatten()(features["image"]))
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.compat.v1.train.AdamOptimizer().minimize(
        loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
_TABLE = "--model_fn=canned --input_fn=csv --param train_files=t.csv"
_PREPARED = f"{_TABLE} --param label=old"

# The command line, or a TF_CONFIG, and the part of the sentence that repairs it.
_MISTAKES = [
    ("trian --train_steps=5", "Did you mean 'train'?"),
    ("--train_stepz=5", "Did you mean '--train_steps'?"),
    ("--learning_rate=0.1", "--param learning_rate=0.1"),
    ("--train_steps 5.5", "expected an integer. For example: --train_steps=1000"),
    ("--train_steps=-1", "expected a number of at least 0"),
    ("--param learning_rat=0.1", "Did you mean 'learning_rate'?"),
    ("--param learning_rate=fast", "expected a number"),
    ("--param learning_rate", "For example: --param learning_rate=0.1"),
    ("--model_fn=cnnn", "Did you mean 'cnn'?"),
    ("--input_fn=digit", "Did you mean 'digits'?"),
    ("--model_fn=./my.py", "For example: --model_fn=./my.py:build"),
    ("--params_file=none.json", "For example: {\"learning_rate\": 0.1}"),
    ("--params_file=p.json", "expected an object. For example: {\"learning_rate\": 0.1}"),
    ("--flagfile=none.txt", "expected a text file in UTF-8, one flag a line"),
    ("--flagfile=flags.txt", "expected one flag a line. For example: --train_steps=1000"),
    ("--flagfile=flags16.txt", "iconv -f UTF-16 -t UTF-8 flags16.txt > flags16.txt.utf8"),
    ("--exporters=finall", "Did you mean 'final'?"),
    ("--train_distribute=mirored", "Did you mean 'mirrored'?"),
    ("--early_stopping_mode=least", "expected one of max, min"),
    (_TABLE.replace("train_files=t.csv", "label=old"), "train_files is missing"),
    (_TABLE, "For example: --param label=old"),
    (f"{_TABLE} --param label=olt", "For example: --param label=old"),
    (f"{_TABLE} --param label=price --param num_classes=10", "--param num_classes=-1"),
    (_PREPARED.replace("t.csv", "tt.csv"), "--param train_files='./t.csv'"),
    (_PREPARED.replace("t.csv", "empty.csv"), "expected a line with the names of the columns"),
    (_PREPARED.replace("t.csv", "x.xlsx"), "Save the sheet as CSV"),
    (f"{_PREPARED} --param delimiter=';'", "For example: --param delimiter=,"),
    (f"{_PREPARED} --param estimator=DNNClasifier", "--param estimator=DNNClassifier"),
    (f"{_PREPARED} --param hidden_units=5", "expected a JSON list. For example: --param"
     " hidden_units='[5]'"),
    ("--input_fn=image_folder --param train_dir=fotos", "--param train_dir=./photos"),
    ("evaluate --model_dir=nowhere", "which holds no checkpoint; expected the directory of a"),
    ("evaluate", "model_dir is missing (no --model_dir)"),
    ("evaluate --model_dir=nowhere --checkpoint=newest", "latest, best, average, all or step=N"),
    ("predict --model_dir=nowhere", "which holds no checkpoint"),
    ("show --model_dir=nowhere", "expected the directory of a training"),
    ("report", "For example: estimator-trainer report /tmp/digits"),
    ("launch --ps=1 --train_steps=5", "go after `--`: -- --train_steps=5"),
    ("launch --workers=1 --ps=1 -- --train_steps=5", "Did you mean '--worker'?"),
    ("launch --worker=1 -- --train_steps=5", "-- --train_distribute=multi_worker_mirrored"),
    ("run", "For example: estimator-trainer run ./train.py"),
    ("run none.py", "there is no such file or module"),
    ("init", "For example: estimator-trainer init my_model"),
    ("init new --data=t.csv --label=prise", "--data=t.csv --label=price"),
    ("init new --data=t.csv", "has the columns age, city, price, old"),
    ("completion fish", "For example: estimator-trainer completion bash"),
    ("tf-config --worker_hosts=a", "like \"host:2222\""),
    ("TF_CONFIG={", "which is not JSON"),
    ('TF_CONFIG={"cluster":{"chief":["a"]}}', "\"a:2222\""),
    ('TF_CONFIG={"cluster":{"chief":["a:1"]},"task":{"type":"cheif","index":0}}',
     "Did you mean 'chief'?"),
]


@pytest.mark.parametrize("line, repair", _MISTAKES, ids=[line for line, _ in _MISTAKES])
def test_a_mistake_is_one_sentence_that_repairs_the_command(line, repair, tmp_path, monkeypatch,
                                                            capsys):
    monkeypatch.chdir(tmp_path)
    _write_files()
    words = shlex.split(line)
    if line.startswith("TF_CONFIG="):
        monkeypatch.setenv("TF_CONFIG", line.partition("=")[2])
        words = ["--model_dir=m"]
    assert cli.main(words) in (1, 2)
    shown = [each for each in capsys.readouterr().err.splitlines()
             if " local  " not in each and not each.startswith("role=")]
    assert len(shown) == 1 and shown[0].startswith("estimator-trainer: "), shown
    assert repair in shown[0]


def _write_files():
    rows = [f"{i % 50},{'BU'[i % 2]},{i * 1.37:.2f},{'yes' if i % 50 > 25 else 'no'}"
            for i in range(120)]
    pathlib.Path("t.csv").write_text("\n".join(["age,city,price,old", *rows, ""]))
    pathlib.Path("empty.csv").write_text("")
    pathlib.Path("x.xlsx").write_bytes(b"PK\x03\x04")
    pathlib.Path("my.py").write_text(MODEL)
    pathlib.Path("p.json").write_text("{'a': 1}")
    pathlib.Path("photos/cat").mkdir(parents=True)
    pathlib.Path("flags.txt").write_text("train_steps=5\n")
    pathlib.Path("flags16.txt").write_text("--train_steps=5\n", encoding="utf-16")
