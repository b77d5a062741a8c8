"""Runs the command that the package's docstring describes; `--help` lists its flags."""

from __future__ import annotations

import argparse
import os.path
import shlex
import sys
from typing import Optional, Sequence

from input_fns.convert import sources, writer
from input_fns.reading.errors import DataError


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Converts, and prints what was written and how to train on it.

    Returns:
      The exit code: 0, 1 for a damaged file, 2 for a mistake on the command line.
    """
    flags = _flags().parse_args(argv)
    try:
        images = (sources.from_idx(flags.idx) if flags.idx else
                  sources.from_tfds(flags.dataset, flags.data_dir))
        names = writer.write(images, flags.output, flags.shards)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    counts = ", ".join(f"{part.count} {split}" for split, part in images.splits.items())
    print(f"wrote {counts} records of {images.num_classes} classes to {flags.output}:")
    print(*(f"  {name}" for name in names), sep="\n")
    print(f"train on them: {_train_command(images, flags.output)}")
    return 0


def _flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m input_fns.convert", allow_abbrev=False,
        description="Writes a set of labelled images as TFRecord files for --input_fn=tfrecord.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--dataset", metavar="NAME",
                        help="digits, mnist, or any TensorFlow Datasets name")
    source.add_argument("--idx", metavar="DIR",
                        help="folder of MNIST-style IDX files, gzipped or not")
    parser.add_argument("--data_dir", default="", metavar="DIR",
                        help="folder of prepared TFDS datasets; default: TFDS's")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder to write to")
    parser.add_argument("--shards", type=int, default=1, metavar="N",
                        help="number of files of each split; default: 1")
    return parser


def _train_command(images: sources.ImageSet, folder: str) -> str:
    held_out = next((split for split in ("test", "validation") if split in images.splits), "train")
    files = {"train_files": "train", "eval_files": held_out}
    params = [f"--param {name}={shlex.quote(os.path.join(folder, split + '-*'))}"
              for name, split in files.items()]
    return " ".join(["estimator-trainer --input_fn=tfrecord", *params])


if __name__ == "__main__":
    sys.exit(main())
