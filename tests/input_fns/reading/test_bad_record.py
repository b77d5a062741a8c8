"""The input plug-in `tfrecord` names the records and files that it cannot use."""

import subprocess
import sys

import pytest
import tensorflow as tf

from input_fns import tfrecord as plugin
from input_fns.reading import bad_record, tf_example
from tests.support import example_files, jobs
from tests.support.example_files import example, row, rows_of, SHAPE


@pytest.fixture(name="params")
def fixture_params():
    return {**plugin.DEFAULT_PARAMS, "image_shape": SHAPE, "key": "key", "num_classes": 10,
            "batch_size": 4}


GOOD = [row(number) for number in range(1500)]
BAD = {
    "label": (example(image_raw=bytes(6), key=b"", label=12),
              "label is 12; expected 0 to 9 (num_classes=10)"),
    "negative": (example(image_raw=bytes(6), key=b"", label=-1), "label is -1; expected 0 to 9"),
    "feature": (example(image=bytes(6), key=b"", label=1),
                "has no feature 'image_raw'; it has image, key, label"),
    "dtype": (example(image_raw=bytes(6), key=b"", label=0.5),
              "feature 'label' is float32; expected int64"),
    "values": (example(image_raw=bytes(6), key=b"", label=[1, 2]),
               "feature 'label' has 2 values; expected 1 (shape [])"),
    "pixels": (example(image_raw=bytes(5), key=b"", label=1),
               "feature 'image_raw' has 5 bytes; expected 6 (image_shape=[2, 3, 1])"),
    "proto": (b"\xff\xff\xff", "3 bytes that are no tf.Example"),
}


@pytest.mark.parametrize("kind", BAD)
def test_first_failure_names_what_is_wrong(params, kind):
    record, expected = BAD[kind]
    specs = plugin._specs(params, labelled=True)
    assert expected in tf_example.example_problem(record, specs, params)
    assert tf_example.example_problem(row(1), specs, params) == ""


@pytest.mark.cluster
@pytest.mark.parametrize("kind", ("label", "pixels", "proto"))
def test_first_failure_stops_reading_with_the_record(params, tmp_path, kind):
    record, expected = BAD[kind]
    example_files.write(tmp_path / "a", GOOD[:20])
    example_files.write(tmp_path / "b", [*(GOOD if kind == "label" else GOOD[:16]), record, row(1)])
    params.update(train_files=str(tmp_path / "*"), eval_files="", epochs=1)
    with pytest.raises((tf.errors.OpError, UnicodeDecodeError)):
        rows_of(plugin.input_fn("train", params))
    number = 1501 if kind == "label" else 17
    with tf.Graph().as_default():  # The caller may be anywhere.
        problem = plugin.data_problem(params)
    assert problem.startswith(f"record {number} of {tmp_path / 'b'}: ") and expected in problem


@pytest.mark.cluster
def test_first_failure_of_damaged_files(params, tmp_path):
    path = tmp_path / "rows"
    params.update(eval_files=str(path), train_files=str(path))

    def problem():
        return plugin.data_problem(params)

    example_files.write(path, GOOD[:17])
    assert problem() == ""
    path.write_bytes(path.read_bytes()[:-3])
    assert f"{path} is truncated or damaged after record 16: " in problem()
    example_files.write(path, GOOD[:17], "GZIP")
    assert problem() == ""
    path.write_bytes(b"age,label\n1,2\n")
    assert problem() == (f"{path} is CSV or other text; expected TFRecord files. For example: "
                         "--input_fn=csv")
    path.write_bytes(bytes(range(40)))
    assert problem().startswith(f"{path} is no TFRecord file with compression=''")
    path.write_bytes(b"")
    assert "no file of it holds a record" in problem()
    path.unlink()
    assert f"train_files is '{path}', which matches no file" in problem()


def test_first_failure_ignores_unknown_classes(params, tmp_path):
    example_files.write(tmp_path / "a", [BAD["label"][0]])
    params.update(eval_files=str(tmp_path / "a"), num_classes=0)
    (_, labels), = plugin.input_fn("eval", params)
    assert labels.numpy().tolist() == [12]


def test_one_line_of_tensorflows_error():
    error = tf.errors.DataLossError(None, None, (
        "Graph execution error:\n\nDetected at node 'IteratorGetNext' defined at (most recent call"
        " last):\n File \"a.py\", line 62, in f\nNode: 'IteratorGetNext'\ntruncated record at 4914'"
        " failed with Read less bytes than requested\n\t [[{{node IteratorGetNext}}]]"))
    assert bad_record.one_line(error) == (
        "truncated record at 4914' failed with Read less bytes than requested")


@pytest.mark.soak
@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_first_failure_in_training_names_its_place(tmp_path, data_dir):
    files = tmp_path / "digits"
    converted = subprocess.run(
        [sys.executable, "-m", "input_fns.convert", "--dataset=digits", f"--data_dir={data_dir}",
         f"--output={files}", "--shards=2"], env=jobs.environment(), cwd=jobs.REPO,
        capture_output=True, text=True, timeout=60, check=False)
    assert converted.returncode == 0, converted.stderr
    flags = ["--model_fn=linear", "--input_fn=tfrecord", f"--param=train_files={files}/train-*",
             f"--param=eval_files={files}/test-*", "--param=shuffle_buffer=0",
             f"--model_dir={tmp_path}/model", "--exporters=none"]
    assert jobs.trainer(*flags, "--train_steps=10").returncode == 0
    [path] = files.glob("train-00001-of-*")
    records = list(tf.compat.v1.io.tf_record_iterator(str(path)))
    example = tf.train.Example.FromString(records[200])
    example.features.feature["label"].int64_list.value[0] = 12
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in [*records[:200], example.SerializeToString(), *records[201:]]:
            writer.write(record)
    ran = jobs.trainer(*flags, "--train_steps=1000")
    assert ran.returncode == 1 and "Traceback" not in ran.stderr, ran.stderr
    assert f"record 201 of {path}: label is 12; expected 0 to 9 (num_classes=10). The last" \
        " checkpoint is that of step 10" in ran.stderr
    assert "role=local status=failed step=10" in ran.stderr
