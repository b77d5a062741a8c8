"""Repeats the runs of the examples' texts, and compares their figures with ours.

    python -m examples.verify --mnist=FOLDER [--write] [PAGE ...]

FOLDER holds the four IDX files of MNIST, gzipped or not. The runs and the rows of a page are in the
`text.py` of its folder; all pages take about an hour on two cores, a page some minutes. --write
replaces the table at the end of the page.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import subprocess
import sys
import tempfile

from examples.page import pages
from examples.runs import EXAMPLES, Runs


def _converted(mnist: str, folder: pathlib.Path) -> pathlib.Path:
    """Returns the folder of the TFRecords of `mnist`; makes them at the first call.

    Each file has 5,000 images, in MNIST's order.
    """
    if not mnist:
        sys.exit("this page trains on MNIST: type --mnist=FOLDER, the folder of its IDX files")
    if not (folder / "dataset.json").exists():
        subprocess.run([sys.executable, "-m", "input_fns.convert", f"--idx={mnist}", "--shards=12",
                        f"--output={folder}"], cwd=EXAMPLES.parent, check=True)
    return folder


def main() -> None:
    """Runs the pages of the command line, all by default."""
    parser = argparse.ArgumentParser(prog="python -m examples.verify")
    parser.add_argument("page", nargs="*", help="number of a page, such as 04; default: all")
    parser.add_argument("--mnist", default="", help="folder of MNIST's four IDX files")
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="verify-"))
    records = functools.partial(_converted, args.mnist, folder / "mnist")
    for page in pages():
        if args.page and page.name[:2] not in args.page:
            continue
        section = page.section(Runs(folder / page.name, records))
        print(section, flush=True)
        if args.write:
            page.write(section)
    print(f"the runs and their logs: {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
