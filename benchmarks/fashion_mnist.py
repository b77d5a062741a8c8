"""Converts Fashion-MNIST to TFRecords, which several programs train on."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import benchmarks

_SHARDS = 8


def records(idx: str | None, work: pathlib.Path, python: str = sys.executable) -> pathlib.Path:
    """Returns the folder of the records, `records` in `work`; makes them if they are not there.

    Args:
      idx: The folder of the four IDX files; None if the records must be there.
      work: The folder of what the benchmarks keep.
      python: The interpreter that converts; its environment has this project's dependencies.
    """
    folder = work / "records"
    if not folder.exists():
        if not idx:
            sys.exit(f"there is no {folder}; give the folder of the IDX files, --idx=FOLDER")
        subprocess.run([python, "-m", "input_fns.convert", f"--idx={idx}", f"--output={folder}",
                        f"--shards={_SHARDS}"], check=True, cwd=benchmarks.REPO)
    return folder


def flags(folder: pathlib.Path) -> list[str]:
    """Returns this project's flags that read the records in `folder`."""
    return ["--input_fn=tfrecord", f"--param=train_files={folder}/train-*",
            f"--param=eval_files={folder}/test-*"]
