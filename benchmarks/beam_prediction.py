"""Rows a second of `predict`, of `estimator_trainer.beam`, and of Beam's own RunInference.

    python -m benchmarks.beam_prediction [ROWS]     needs the extra [beam]

All three read the same Parquet file and write JSON lines with the same export of a small model, one
after the other on this machine, as users start them. The answers are compared to 1e-6.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from pyarrow import parquet
import pyarrow as pa

_COLUMNS = ("age", "hours", "gain", "job", "town")
_TRAIN_ROWS = 20000


def _table(rows: int, seed: int) -> pa.Table:
    random = np.random.RandomState(seed)
    numbers = {name: random.gamma(2.0, 20.0, rows).round(3) for name in _COLUMNS[:3]}
    texts = {name: pa.array(np.array([f"{name}{i}" for i in range(20)])[
        random.randint(0, 20, rows)]) for name in _COLUMNS[3:]}
    label = np.where(numbers["age"] + random.normal(0, 10, rows) > 40, "yes", "no")
    return pa.table({"row": np.arange(rows), **numbers, **texts, "left": label})


def _timed(*words: str) -> float:
    start = time.monotonic()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def run_inference(data: str, export_dir: str, output: str) -> None:
    """Predicts as a user of RunInference would: a handler that calls the SavedModel's signature."""
    import apache_beam as beam
    from apache_beam.ml.inference.base import ModelHandler, RunInference
    import tensorflow as tf

    class Handler(ModelHandler):
        """Feeds a batch of rows to the signature, a tensor for each column."""

        def load_model(self):
            self._loaded = tf.saved_model.load(export_dir)
            return self._loaded.signatures["serving_default"]

        def run_inference(self, batch, model, inference_args=None):
            specs = model.structured_input_signature[1]
            answers = model(**{name: tf.constant([row[name] for row in batch], spec.dtype)
                               for name, spec in specs.items()})
            found = {name: answers[name].numpy() for name in ("probabilities", "class")}
            for i, row in enumerate(batch):
                yield {"row": row["row"], "probabilities": found["probabilities"][i].tolist(),
                       "class": found["class"][i].decode()}

        def batch_elements_kwargs(self):
            return {"min_batch_size": 64, "max_batch_size": 4096}

    with beam.Pipeline() as pipeline:
        (pipeline | beam.io.ReadFromParquet(data) | RunInference(Handler()) | beam.Map(json.dumps)
         | beam.io.WriteToText(output, file_name_suffix=".jsonl"))


def _answers(folder: pathlib.Path, name: str) -> dict[int, tuple[float, str]]:
    rows = (json.loads(line) for path in folder.glob(f"{name}*.jsonl") for line in path.open())
    return {row["row"]: (row["probabilities"][0], row["class"]) for row in rows}


def main() -> None:
    """Compares all three, or runs RunInference alone, as a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--run_inference", nargs=3, metavar=("DATA", "EXPORT_DIR", "OUTPUT"))
    args = parser.parse_args()
    if args.run_inference:
        run_inference(*args.run_inference)
    else:
        compare(args.rows)


def compare(rows: int) -> None:
    """Prints a line for each of the three."""
    folder = pathlib.Path(tempfile.mkdtemp())
    parquet.write_table(_table(_TRAIN_ROWS, 0), folder / "train.parquet")
    parquet.write_table(_table(rows, 1), folder / "new.parquet", row_group_size=50000)
    _timed("-m", "estimator_trainer", "--model_fn=canned", "--input_fn=csv", "--train_steps=200",
           f"--param=train_files={folder}/train.parquet", "--param=label=left",
           '--param=drop=["row"]', f"--model_dir={folder}/m", "--noreport")
    [export] = (folder / "m" / "export" / "final").iterdir()
    flags = [f"--data={folder}/new.parquet", f"--export_dir={export}", "--forward_key=row"]
    secs = {
        "predict": _timed("-m", "estimator_trainer", "predict", *flags,
                          f"--output={folder}/predict.jsonl"),
        "beam": _timed("-m", "estimator_trainer.beam", *flags, f"--output={folder}/beam.jsonl"),
        "run_inference": _timed("-m", "benchmarks.beam_prediction", "--run_inference",
                                f"{folder}/new.parquet", str(export),
                                f"{folder}/run_inference")}
    expected = _answers(folder, "predict")
    assert len(expected) == rows
    for name, value in secs.items():
        found = _answers(folder, name)
        worst = max(abs(found[row][0] - each[0]) for row, each in expected.items())
        assert len(found) == rows and worst <= 1e-6, (name, len(found), worst)
        print(f"{name:14} {value:7.1f} s  {rows / value:9,.0f} rows/s"
              f"  x{value / secs['predict']:.2f} the time of predict  differs by {worst:.1e}",
              flush=True)


if __name__ == "__main__":
    main()
