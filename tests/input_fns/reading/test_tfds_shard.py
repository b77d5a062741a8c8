"""How the input pipelines of the plug-in `tfds` share a dataset."""

import json
import os
import subprocess
import sys

import pytest

from input_fns import tfds as plugin
from input_fns.reading import tfds_data, tfds_shard
from tests.support import jobs, numbered_rows
from tests.support.numbered_rows import TRAIN_ROWS
from tests.support.reading import context


@pytest.fixture(name="params")
def fixture_params(data_dirs):
    return {**plugin.DEFAULT_PARAMS, "dataset": "numbered_rows", "data_dir": data_dirs[2],
            "batch_size": 4, "num_classes": 4}


@pytest.mark.parametrize("split", ("train+test", "all", "train[:4]+test[:4]+train[4:8]"))
def test_shard_of_a_sum_of_splits_is_even(data_dirs, split):
    builder = numbered_rows.NumberedRows(data_dir=data_dirs[3])
    for pipelines in (2, 3, 4):
        shards = [tfds_shard.shard_of(builder, split, context(pipelines, pipeline_id))
                  for pipeline_id in range(pipelines)]
        sizes = [shard.records for shard in shards]
        assert sum(sizes) == builder.info.splits[split].num_examples
        assert max(sizes) - min(sizes) <= 1
        assert {shard.least_records for shard in shards} == {min(sizes)}


@pytest.mark.parametrize("files", (1, 2, 3, 4, 5))
@pytest.mark.parametrize("pipelines", (2, 3, 4))
def test_shard_of_opens_its_share_of_the_files(data_dirs, files, pipelines):
    builder = numbered_rows.NumberedRows(data_dir=data_dirs[files])
    shards = [tfds_shard.shard_of(builder, "train", context(pipelines, pipeline_id))
              for pipeline_id in range(pipelines)]
    opened = [len(builder.info.splits[shard.split].filepaths) for shard in shards]
    assert sum(opened) <= files + pipelines - 1
    assert {shard.way for shard in shards} == {"by file" if files >= pipelines else "by record"}


def test_shard_of_training_is_logged_once(params, monkeypatch):
    lines = []
    monkeypatch.setattr(tfds_data.logging, "info", lambda text, *args: lines.append(text % args))
    plugin.input_fn("eval", params, context(3, 1))
    plugin.input_fn("train", params, context(2, 1))
    plugin.input_fn("train", params, context(3, 1))
    assert [line for line in lines if "shard" in line] == [
        "reads shard 2/2 of numbered_rows/train (by file, 8 records)",
        "reads shard 2/3 of numbered_rows/train (by record, 6 records)"]


@pytest.mark.cluster
def test_synchronous_pipelines_have_the_same_number_of_batches(params):
    params.update(batch_size=2, epochs=1)
    for replicas, counts in ((2, [8, 8]), (1, [4, 4])):
        assert [len(list(plugin.input_fn("train", params, context(2, pipeline_id, replicas))))
                for pipeline_id in (0, 1)] == counts


MIRRORED = """
import json, sys
import tensorflow as tf
from tests.support import numbered_rows
from input_fns import tfds as plugin
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
devices = ["CPU:0", "CPU:1"]
params = {**plugin.DEFAULT_PARAMS, **json.loads(sys.argv[1])}
result = {}
strategy = tf.distribute.MirroredStrategy(devices)
for mode in ("train", "eval"):
    dataset = strategy.distribute_datasets_from_function(
        lambda context: plugin.input_fn(mode, params, context))
    result[mode] = [[row.numpy().tolist() for row in strategy.experimental_local_results(
        features["row"])] for features, _ in dataset]
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    strategy = tf.compat.v1.distribute.MirroredStrategy(devices)
    iterator = strategy.make_input_fn_iterator(
        lambda context: plugin.input_fn("train", params, context))
    session.run(iterator.initializer)
    batch = strategy.experimental_local_results(iterator.get_next()[0]["row"])
    result["graph"] = [[row.tolist() for row in session.run(batch)] for _ in range(4)]
print(json.dumps(result))
"""


@pytest.mark.soak
@pytest.mark.cluster
def test_mirrored_replicas_share_the_batch_and_see_each_record_once(params):
    params.update(train_split="train[:16]", eval_split="train", epochs=1)
    done = subprocess.run([sys.executable, "-c", MIRRORED, json.dumps(params)], cwd=jobs.REPO,
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    for key, records in (("train", 16), ("eval", TRAIN_ROWS), ("graph", 16)):
        seen = [row for step in result[key] for replica in step for row in replica]
        assert len(seen) == len(set(seen)) == records, key
    for key in ("train", "graph"):
        assert [[len(replica) for replica in step] for step in result[key]] == [[2, 2]] * 4
