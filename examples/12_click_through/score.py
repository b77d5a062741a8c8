"""Prints the AUC of a trained model on the generator's test lines, beside the best possible one.

    python -m examples.12_click_through.score --clicks=/tmp/clicks --model_dir=/tmp/click_dcn

The metric `auc` of an evaluation is an approximation from 200 thresholds; this is exact.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
from typing import Any

import numpy as np
import tensorflow as tf

_clicks = importlib.import_module("examples.12_click_through.clicks")
_criteo = importlib.import_module("examples.12_click_through.criteo")
_BATCH = 4096


def best(folder: pathlib.Path) -> float:
    """Returns the AUC of the true probabilities."""
    labels = np.concatenate([label for _, label in _batches(folder, "nan")])
    return float(_clicks.auc(np.load(folder / "test_probability.npy"), labels == 1))


def of_model(folder: pathlib.Path, model_dir: pathlib.Path, blank_numbers: str = "nan") -> float:
    """Returns the AUC of the newest export in model_dir."""
    export = max((model_dir / "export" / "final").iterdir())
    loaded = tf.saved_model.load(str(export))
    function = loaded.signatures["serving_default"]
    logits, labels = zip(*((function(**features)["logits"].numpy()[:, 0], label)
                           for features, label in _batches(folder, blank_numbers)))
    return float(_clicks.auc(np.concatenate(logits), np.concatenate(labels) == 1))


def _batches(folder: pathlib.Path, blank_numbers: str) -> Any:
    params = {**_criteo.DEFAULT_PARAMS, "eval_files": str(folder / "test.tsv"),
              "batch_size": _BATCH, "blank_numbers": blank_numbers}
    return ((features, label.numpy()) for features, label in _criteo.input_fn("eval", params))


def main() -> None:
    """Prints the two for the folders of the command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.12_click_through.score")
    parser.add_argument("--clicks", type=pathlib.Path, required=True, help="folder of test.tsv")
    parser.add_argument("--model_dir", type=pathlib.Path, required=True, help="of the training")
    parser.add_argument("--blank_numbers", default="nan", help="as in the training")
    args = parser.parse_args()
    found, limit = of_model(args.clicks, args.model_dir, args.blank_numbers), best(args.clicks)
    print(f"AUC {found:.4f}, {limit - found:.4f} below the best possible one, {limit:.4f}")


if __name__ == "__main__":
    main()
