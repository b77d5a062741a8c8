"""Measures the cost of checkpoints and records on this machine's disk; prints a JSON object.

    python -m benchmarks.scaling.disk_costs --records=/tmp/benchmarks/records --folder=/tmp

    checkpoint   [[bytes of variables, seconds to write them], ...], medians of five
    record_secs  seconds to read the bytes of one training record, without parsing
"""

from __future__ import annotations

import argparse
import glob
import json
import statistics
import tempfile
import time

import tensorflow as tf

_SIZES = (400_000, 3_200_000, 13_000_000, 52_000_000, 208_000_000)
_VARIABLES = 4
_REPEATS = 5


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser("python -m benchmarks.scaling.disk_costs",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--records", required=True, help="folder of the TFRecords")
    parser.add_argument("--folder", help="where checkpoints are written for a while")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        checkpoint = [[size, _write_secs(size, f"{folder}/{size}")] for size in _SIZES]
    print(json.dumps({"checkpoint": checkpoint, "record_secs": _record_secs(options.records)}))


def _write_secs(size: int, prefix: str) -> float:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for i in range(_VARIABLES):
            tf.compat.v1.get_variable(f"v{i}", [size // 4 // _VARIABLES])
        session.run(tf.compat.v1.global_variables_initializer())
        saver = tf.compat.v1.train.Saver(sharded=True, max_to_keep=1)
        secs = []
        for step in range(_REPEATS):
            start = time.perf_counter()
            saver.save(session, prefix, step, write_meta_graph=False)
            secs.append(time.perf_counter() - start)
    return statistics.median(secs)


def _record_secs(records: str) -> float:
    files = sorted(glob.glob(f"{records}/train-*"))
    dataset = tf.data.TFRecordDataset(files).shard(100, 0)
    number = 0
    for _ in range(2):  # The first pass warms the page cache.
        start = time.perf_counter()
        number = sum(1 for _ in dataset) * 100
        secs = time.perf_counter() - start
    return secs / number


if __name__ == "__main__":
    main()
