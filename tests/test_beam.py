"""On Apache Beam, rows and files have the answers that `predict` gives."""

from __future__ import annotations

import json
import pathlib

from pyarrow import parquet
import pyarrow as pa
import pytest
import tensorflow as tf

import estimator_trainer
from estimator_trainer.errors import ConfigError

beam = pytest.importorskip("apache_beam", reason="needs the extra [beam]")
# pylint: disable=wrong-import-position
from apache_beam.testing import util  # noqa: E402

from estimator_trainer import beam as trainer_beam  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.soak, pytest.mark.usefixtures("own_folder"),
              pytest.mark.filterwarnings("ignore")]
ROWS = [{"id": f"n{i}", "age": 20 + i % 40, "job": ("cook", "smith", "none")[i % 3]}
        for i in range(300)]


@pytest.fixture(scope="module", name="export")
def fixture_export(tmp_path_factory):
    """An export of a model of a small table."""
    folder = tmp_path_factory.mktemp("incomes")
    (folder / "train.csv").write_text("age,job,income\n" + "".join(
        f"{row['age']},{row['job']},{('low', 'high')[i % 2]}\n" for i, row in enumerate(ROWS)))
    estimator_trainer.train(
        "canned", "csv", folder / "m", params={"train_files": f"{folder}/train.csv",
                                               "label": "income"}, train_steps=5, report=False)
    [path] = (folder / "m" / "export" / "final").iterdir()
    return str(path)


def _examples(path):
    with tf.io.TFRecordWriter(path) as writer:
        for row in ROWS:
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[row["age"]])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[0]))
            })).SerializeToString())


def _by_id(rows):
    return {row["id"]: row for row in rows}


def test_rows_of_a_pipeline_become_answers(export):
    expected = estimator_trainer.predict("", ROWS, export_dir=export, forward_key="id")
    with beam.Pipeline() as pipeline:
        found = pipeline | beam.Create(ROWS) | trainer_beam.Predict(export, forward_key="id")
        util.assert_that(found, util.equal_to(expected))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_files_have_the_answers_of_predict(run, export, kind):
    for number, part in enumerate((ROWS[:100], ROWS[100:])):
        if kind == "jsonl":
            pathlib.Path(f"new{number}.jsonl").write_text(
                "".join(f"{json.dumps(row)}\n" for row in part))
        elif kind == "csv":
            pathlib.Path(f"new{number}.csv").write_text("id,age,job\n" + "".join(
                f"{row['id']},{row['age']},{row['job']}\n" for row in part))
        else:
            parquet.write_table(pa.Table.from_pylist(part), f"new{number}.parquet")
    flags = [f"--data=new0.{kind},new1.{kind}", f"--export_dir={export}", "--forward_key=id"]
    assert trainer_beam.main([*flags, "--output=out/", "--runner=DirectRunner"]) == 0
    found = _by_id(json.loads(line) for path in pathlib.Path("out").iterdir()
                   for line in path.open())
    expected = {}
    for number in range(2):
        text, _ = run("predict", f"--data=new{number}.{kind}", *flags[1:])
        expected |= _by_id(map(json.loads, text.splitlines()))
    assert len(found) == len(expected) == len(ROWS)
    for name, row in expected.items():
        assert found[name]["class"] == row["class"]
        assert found[name]["probabilities"] == pytest.approx(row["probabilities"], abs=1e-6)


def test_tfrecords_have_the_answers_of_predict(run, tmp_path):
    _examples("train.tfrecord")
    (tmp_path / "model.py").write_text(
        "import tensorflow as tf\n"
        "def model_fn(features, labels, mode):\n"
        "    y = features['x'] * tf.compat.v1.get_variable('w', [], initializer="
        "tf.compat.v1.constant_initializer(0.5))\n"
        "    if mode == 'infer':\n"
        "        return tf.estimator.EstimatorSpec(mode, predictions={'y': y})\n"
        "    loss = tf.reduce_mean(tf.square(y))\n"
        "    step = tf.compat.v1.train.get_global_step()\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss,"
        " train_op=tf.compat.v1.assign_add(step, 1))\n")
    run("train", f"--model_fn={tmp_path}/model.py", "--input_fn=tfrecord", "--train_steps=2",
        "--param=train_files=train.tfrecord", "--param=eval_files=train.tfrecord",
        "--param=image=", "--param=label=label",
        '--param=schema={"x": {"dtype": "float32", "shape": []},'
        ' "label": {"dtype": "int64", "shape": []}}', "--model_dir=m", "--noreport")
    [export] = pathlib.Path("m/export/final").iterdir()
    flags = ["--data=train.tfrecord", f"--export_dir={export}"]
    text, _ = run("predict", *flags)
    assert trainer_beam.main([*flags, "--output=y.jsonl"]) == 0
    expected = sorted(json.loads(line)["y"] for line in text.splitlines())
    assert len(expected) == len(ROWS)
    assert sorted(json.loads(line)["y"] for path in pathlib.Path().glob("y-*")
                  for line in path.open()) == pytest.approx(expected)


@pytest.mark.parametrize("flags, expected", [
    (["--data=no*.csv"], "and no*.csv is no file, and matches none"),
    (["--data=a.csv,b.csv"], "the header of"),
    (["--data=a.csv,b.parquet"], "which are files of several kinds"),
    (["--data=a.csv", "--output=y.csv"], "expected a folder or a file .jsonl"),
])
def test_a_pipeline_that_cannot_run_is_refused_before_it_begins(flags, expected, capfd):
    pathlib.Path("a.csv").write_text("id,age\n")
    pathlib.Path("b.csv").write_text("age,id\n")
    pathlib.Path("b.parquet").write_text("")
    assert trainer_beam.main(["--export_dir=x", "--output=out/", *flags]) == 2
    err = capfd.readouterr().err
    assert expected in err and "Traceback" not in err


def test_a_wrong_keyword_is_an_error():
    with pytest.raises(ConfigError, match="forward_keys"):
        trainer_beam.Predict("x", forward_keys="id")
