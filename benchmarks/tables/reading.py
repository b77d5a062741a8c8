"""Measures how fast a table is read: 200,000 rows of 40 columns, beside pyarrow.csv alone.

    python -m benchmarks.tables.reading [--base=FOLDER] [--rows=200000] [--kind=csv]

FOLDER is another checkout of this repository, which reads the same file in its turn, three times
each; so the ratio does not depend on what else the machine does. Every run is a process of its own
that learns the facts, builds the pipeline, and takes the batches of some epochs, shuffled and
checked, as training does without a model.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

_REPO = pathlib.Path(__file__).parents[2]
_FLOATS, _INTEGERS, _TEXTS = 20, 10, 9
_CHUNK = 50_000


def write(path: str, rows: int) -> None:
    """Writes a table of 30 columns of numbers, 9 of texts and a label, chunk by chunk."""
    from pyarrow import csv, parquet
    import pyarrow as pa
    random = np.random.default_rng(1)
    writer = None
    for start in range(0, rows, _CHUNK):
        size = min(_CHUNK, rows - start)
        columns = {f"f{i}": np.round(random.normal(size=size) * 10 ** (i % 5), 4)
                   for i in range(_FLOATS)}
        columns.update({f"i{i}": random.integers(0, 10 ** (i % 6 + 1), size)
                        for i in range(_INTEGERS)})
        for i in range(_TEXTS):
            words = np.array([f"word_{j}_{'x' * (j % 9)}" for j in range(3 * 2 ** i)])
            columns[f"t{i}"] = words[random.integers(0, len(words), size)]
        columns["label"] = np.array(["no", "yes"])[random.integers(0, 2, size)]
        table = pa.table(columns)
        if writer is None:
            writer = parquet.ParquetWriter(path, table.schema) if path.endswith(
                "parquet") else csv.CSVWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def measured(path: str, epochs: int, streamed: bool) -> dict[str, float]:
    """Returns the seconds until the facts, the first batch and the last one, and rows a second."""
    import tensorflow as tf

    from input_fns import csv as plugin
    from input_fns.reading import memory
    if streamed:
        memory.LIMIT_BYTES = 0
    params = {**plugin.DEFAULT_PARAMS, "train_files": path, "eval_files": path, "epochs": epochs}
    began = time.monotonic()
    facts = plugin.data_params(params)
    params.update({name: value for name, value in facts.items() if name in params})
    marks = {"facts": time.monotonic() - began}
    batches = 0
    with tf.Graph().as_default():
        iterator = tf.compat.v1.data.make_initializable_iterator(plugin.input_fn("train", params))
        step = tf.group(*map(tf.identity, tf.nest.flatten(iterator.get_next())))
        with tf.compat.v1.Session() as session:
            session.run(iterator.initializer)
            run = session.make_callable(step)
            try:
                while True:
                    run()
                    batches += 1
                    marks.setdefault("first batch", time.monotonic() - began)
            except tf.errors.OutOfRangeError:
                pass
    seconds = time.monotonic() - began
    rows = batches * params["batch_size"]
    peak = next(int(line.split()[1]) for line in pathlib.Path("/proc/self/status").read_text(
        ).splitlines() if line.startswith("VmHWM"))
    return {**marks, "all": seconds, "rows/s": rows / seconds,
            "rows/s after facts": rows / (seconds - marks["facts"]), "peak MB": peak / 1024}


def _arrow_alone(path: str) -> float:
    """Returns the seconds that pyarrow needs for the file, unchecked and unshuffled."""
    from pyarrow import csv, parquet
    began = time.monotonic()
    (parquet.read_table if path.endswith("parquet") else csv.read_csv)(path)
    return time.monotonic() - began


def _run(folder: pathlib.Path, path: str, epochs: int, streamed: bool) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, f"--measure={path}", f"--epochs={epochs}",
         *["--streamed"] * streamed], check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"})
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Writes a table, measures, and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--kind", default="csv")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--streamed", action="store_true")
    parser.add_argument("--measure", default="")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measured(args.measure, args.epochs, args.streamed)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"rows.{args.kind}")
        write(path, args.rows)
        print(f"{args.rows:,} rows of 40 columns, {os.path.getsize(path) / 1e6:.0f} MB; "
              f"{args.epochs} epochs")
        print(f"pyarrow alone: {args.rows / _arrow_alone(path):,.0f} rows/s")
        folders = {"here": _REPO, **({"base": pathlib.Path(args.base)} if args.base else {})}
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in folders}
        for _ in range(args.times):
            for name, each in folders.items():
                runs[name].append(_run(each, path, args.epochs, args.streamed))
        for name, found in runs.items():
            medians = {mark: statistics.median(each[mark] for each in found) for mark in found[0]}
            print(name, "  ".join(f"{mark} {value:,.2f}" if value < 100 else
                                  f"{mark} {value:,.0f}" for mark, value in medians.items()))


if __name__ == "__main__":
    main()
