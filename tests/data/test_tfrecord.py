"""The input plug-in `tfrecord`: what it reads, who reads it, and what is said of bad files."""

import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from input_fns import tfrecord as plugin
from input_fns.reading import bad_record
from input_fns.reading import tf_example
from tests.support import jobs
from tests.support import reading
from tests.support.reading import context

SHAPE = [2, 3, 1]
ROWS = 23


def feature(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value, float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    values = value if isinstance(value, list) else [value]
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(**features):
    return tf.train.Example(features=tf.train.Features(
        feature={name: feature(value) for name, value in features.items()})).SerializeToString()


def row(number):
    pixels = bytes([number % 256, 0, 51, 102, 204, 255])
    return example(image_raw=pixels, pixels=6, label=number % 10, key=b"row %d" % number)


def write(path, records, compression=""):
    with tf.io.TFRecordWriter(str(path), options=compression) as writer:
        for record in records:
            writer.write(record)


def write_files(folder, files, rows=ROWS):
    """Writes numbered rows to files of unequal sizes, in order."""
    for i, part in enumerate(reading.parts_of(rows, files)):
        write(folder / f"part-{i}", map(row, part))
    return str(folder / "part-*")


@pytest.fixture(scope="module", name="folders")
def fixture_folders(tmp_path_factory):
    """{number of files: pattern of so many files with all rows}."""
    return {files: write_files(tmp_path_factory.mktemp(f"files{files}"), files)
            for files in (1, 3, 4)}


@pytest.fixture(name="params")
def fixture_params(folders):
    return {**plugin.DEFAULT_PARAMS, "train_files": folders[3], "eval_files": folders[3],
            "image_shape": SHAPE, "key": "key", "num_classes": 10, "batch_size": 4}


def rows(dataset):
    batches = (batch[0] if isinstance(batch, tuple) else batch for batch in dataset)
    return [int(key.split()[1]) for features in batches for key in features["key"].numpy()]


@pytest.mark.parametrize("mode", ("train", "eval"))
def test_features_are_images_in_0_to_1_keys_and_labels(params, mode):
    dataset = plugin.input_fn(mode=mode, params=params)
    size = 4 if mode == "train" else None
    assert dataset.element_spec == (
        {"image": tf.TensorSpec([size, *SHAPE], tf.float32),
         "key": tf.TensorSpec([size], tf.string)},
        tf.TensorSpec([size], tf.int64))
    (features, labels) = next(iter(dataset))
    numbers = [int(key.split()[1]) for key in features["key"].numpy()]
    np.testing.assert_array_equal(labels, np.array(numbers) % 10)
    np.testing.assert_allclose(features["image"].numpy().reshape(4, 6) * 255,
                               [[n, 0, 51, 102, 204, 255] for n in numbers], rtol=1e-5)


def test_prediction_needs_no_label(params, tmp_path):
    write(tmp_path / "unlabelled", [example(image_raw=bytes(6), key=b"row 7")])
    params["eval_files"] = str(tmp_path / "unlabelled")
    assert rows(plugin.input_fn("infer", params)) == [7]


@pytest.mark.parametrize("mode", ("eval", "infer"))
@pytest.mark.parametrize("files", (1, 4))
def test_evaluation_is_every_record_once_in_the_files_order(params, folders, mode, files):
    params["eval_files"] = folders[files]
    assert rows(plugin.input_fn(mode, params)) == list(range(ROWS))
    assert rows(plugin.input_fn(mode, {**params, "batch_size": 5, "seed": 9})) == list(range(ROWS))


@pytest.mark.parametrize("mode", ("train", "eval"))
def test_works_in_a_graph(params, mode):
    got = reading.read_in_a_graph(
        lambda: plugin.input_fn(mode, {**params, "epochs": 1}), "key")
    assert len(set(got)) == len(got) == (20 if mode == "train" else ROWS)


@pytest.mark.parametrize("mode", ("train", "eval"))
@pytest.mark.parametrize("files, pipelines", ((1, 1), (1, 3), (3, 2), (4, 2)))
def test_every_record_is_read_by_one_pipeline(params, folders, files, pipelines, mode):
    params.update(train_files=folders[files], eval_files=folders[files], epochs=1, batch_size=1)
    parts = [rows(plugin.input_fn(mode, params, context(pipelines, i))) for i in range(pipelines)]
    assert sorted(sum(parts, [])) == list(range(ROWS))
    assert min(map(len, parts)) > 0


def test_pipelines_share_files_evenly_and_the_rest_by_record(params, folders):
    params.update(train_files=folders[4], batch_size=1, epochs=1)
    bounds = [ROWS * i ** 2 // 16 for i in range(5)]
    first, second = (set(rows(plugin.input_fn("train", params, context(2, i)))) for i in (0, 1))
    assert first == {*range(*bounds[:2]), *range(*bounds[2:4])}
    assert second == {*range(*bounds[1:3]), *range(*bounds[3:])}
    # 3 files for 2 pipelines: one each, and every second record of the third.
    params["train_files"] = folders[3]
    parts = [rows(plugin.input_fn("train", params, context(2, i))) for i in (0, 1)]
    bounds = [ROWS * i ** 2 // 9 for i in range(4)]
    for i, part in enumerate(parts):
        assert set(range(*bounds[i:i + 2])) <= set(part)
        assert len(set(range(*bounds[2:])) & set(part)) in (6, 7)


def test_training_is_shuffled_full_batches_for_the_epochs_asked(params):
    batches = list(plugin.input_fn("train", {**params, "epochs": 3}))
    assert [len(labels) for _, labels in batches] == [4] * (ROWS * 3 // 4)
    assert set(rows(batches)) == set(range(ROWS)) and rows(batches)[:ROWS] != list(range(ROWS))
    endless = plugin.input_fn("train", {**params, "epochs": 0})
    assert len(rows(endless.take(30))) == 120


@pytest.mark.cluster
def test_the_order_follows_from_seed_and_pipeline(params, folders):
    def order(seed=0, **changes):
        return rows(plugin.input_fn("train", {**params, "seed": seed, "epochs": 1, **changes},
                                    context(replicas=2)))

    assert order(seed=3) == order(seed=3) != order(seed=4)
    assert order(shuffle_buffer=0) == list(range(22))
    many = {"train_files": ",".join([folders[4], folders[1]]), "seed": 1, "epochs": 1}
    one, other = (rows(plugin.input_fn("train", {**params, **many})) for _ in "12")
    assert one == other


def test_nothing_shards_a_second_time_and_replicas_share_the_batch(params):
    dataset = plugin.input_fn("train", params, context(2, 1, replicas=2))
    assert dataset.options().experimental_distribute.auto_shard_policy == (
        tf.data.experimental.AutoShardPolicy.OFF)
    assert dataset.element_spec[1].shape == [2]


@pytest.mark.parametrize("compression", ("GZIP", "ZLIB"))
def test_reads_compressed_files(params, tmp_path, compression):
    write(tmp_path / "rows", map(row, range(5)), compression)
    params.update(eval_files=str(tmp_path / "rows"), compression=compression)
    assert rows(plugin.input_fn("eval", params)) == list(range(5))


def test_reads_any_schema(params, tmp_path):
    write(tmp_path / "ads", [example(tags=[1, 2], price=0.5, label=1), example(price=1.5, label=0)])
    params.update(eval_files=str(tmp_path / "ads"), image="", key="", schema={
        "tags": {"dtype": "int64", "shape": "varlen"}, "price": {"dtype": "float32", "shape": []},
        "label": {"dtype": "int64", "shape": []}})
    (features, labels), = plugin.input_fn("eval", params)
    assert tf.sparse.to_dense(features["tags"]).numpy().tolist() == [[1, 2], [0, 0]]
    assert features["price"].numpy().tolist() == [0.5, 1.5] and labels.numpy().tolist() == [1, 0]


def test_a_flat_image(params):
    features, _ = next(iter(plugin.input_fn("eval", {**params, "image_shape": [6]})))
    assert features["image"].shape == [4, 6]


def test_dataset_json_tells_the_params(params, tmp_path):
    facts = {"num_examples": {"train": ROWS}, "num_classes": 10, "image_shape": SHAPE}
    (tmp_path / "dataset.json").write_text(json.dumps(facts))
    for i in range(2):
        write(tmp_path / f"train-{i:05d}-of-00002.tfrecord", [row(i)])
    params["train_files"] = str(tmp_path / "train-*")
    known = {"num_classes": 10, "image_shape": SHAPE}
    assert plugin.data_params(params) == {**known, "train_examples": ROWS}
    params["train_files"] = str(tmp_path / "train-00000-*")
    assert plugin.data_params(params) == known
    assert plugin.data_params({**params, "train_files": ""}) == {}
    assert plugin.data_params({**params, "train_files": "/nowhere/*"}) == {}
    (tmp_path / "dataset.json").write_text("{}")
    with pytest.raises(RuntimeError, match="'num_examples'|'num_classes'") as caught:
        plugin.data_params(params)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("changes, exit_code, expected", (
    ({"train_files": ""}, 2, "--param train_files='/data/train-*'"),
    ({"train_files": "{folder}/prat-*"}, 1, "holds part-0, part-1, part-2. For example: --param "
     "train_files='{folder}/part-"),
    ({"train_files": "{folder}"}, 1, "is a folder; expected a file"),
    ({"train_files": "{folder}/part-0,{folder}/no/*"}, 1, "there is no folder '{folder}/no'"),
    ({"compression": "gzip"}, 2, "--param compression=GZIP"),
    ({"label": "lable"}, 2, "expected one of ['image_raw', 'label']"),
    ({"image": "pixels"}, 2, "--param image="),
    ({"image": "label"}, 2, "--param image="),
    ({"schema": {"label": "int64"}}, 2, "schema has 'int64' for 'label'"),
    ({"schema": {"label": {"dtype": "int32", "shape": []}}}, 2, "['float32', 'int64', 'string']"),
    ({"batch_size": 0}, 2, "--param batch_size=1"),
))
def test_a_mistake_is_one_sentence(params, folders, changes, exit_code, expected):
    folder = folders[3].rpartition("/")[0]
    params.update({key: value.format(folder=folder) if isinstance(value, str) else value
                   for key, value in changes.items()})
    with pytest.raises((ValueError, RuntimeError)) as caught:
        plugin.input_fn("train", params)
    assert caught.value.exit_code == exit_code
    assert expected.format(folder=folder) in str(caught.value) and "\n" not in str(caught.value)


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
def test_what_is_wrong_with_a_record(params, kind):
    record, expected = BAD[kind]
    specs = plugin._specs(params, labelled=True)
    assert expected in tf_example.example_problem(record, specs, params)
    assert tf_example.example_problem(row(1), specs, params) == ""


@pytest.mark.parametrize("kind", ("label", "pixels", "proto"))
def test_a_bad_record_stops_reading_and_is_named(params, tmp_path, kind):
    record, expected = BAD[kind]
    write(tmp_path / "a", GOOD[:20])
    write(tmp_path / "b", [*(GOOD if kind == "label" else GOOD[:16]), record, row(1)])
    params.update(train_files=str(tmp_path / "*"), eval_files="", epochs=1)
    with pytest.raises((tf.errors.OpError, UnicodeDecodeError)):
        rows(plugin.input_fn("train", params))
    number = 1501 if kind == "label" else 17
    with tf.Graph().as_default():  # The caller may be anywhere.
        problem = plugin.data_problem(params)
    assert problem.startswith(f"record {number} of {tmp_path / 'b'}: ") and expected in problem


@pytest.mark.cluster
def test_damaged_files_are_named(params, tmp_path):
    path = tmp_path / "rows"
    params.update(eval_files=str(path), train_files=str(path))

    def problem():
        return plugin.data_problem(params)

    write(path, GOOD[:17])
    assert problem() == ""
    path.write_bytes(path.read_bytes()[:-3])
    assert f"{path} is truncated or damaged after record 16: " in problem()
    write(path, GOOD[:17], "GZIP")
    assert problem().startswith(f"{path} is no TFRecord file with compression=''")
    path.write_bytes(b"")
    assert "no file of it holds a record" in problem()
    path.unlink()
    assert f"train_files is '{path}', which matches no file" in problem()


def test_unknown_classes_are_not_checked(params, tmp_path):
    write(tmp_path / "a", [BAD["label"][0]])
    params.update(eval_files=str(tmp_path / "a"), num_classes=0)
    (_, labels), = plugin.input_fn("eval", params)
    assert labels.numpy().tolist() == [12]


def test_of_tensorflows_error_the_sentence_alone_is_shown():
    error = tf.errors.DataLossError(None, None, (
        "Graph execution error:\n\nDetected at node 'IteratorGetNext' defined at (most recent call"
        " last):\n File \"a.py\", line 62, in f\nNode: 'IteratorGetNext'\ntruncated record at 4914'"
        " failed with Read less bytes than requested\n\t [[{{node IteratorGetNext}}]]"))
    assert bad_record.one_line(error) == (
        "truncated record at 4914' failed with Read less bytes than requested")


@pytest.mark.cluster
@pytest.mark.any_tensorflow
def test_a_bad_record_met_in_training_ends_it_with_its_place_and_keeps_the_checkpoint(
        tmp_path, data_dir):
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
