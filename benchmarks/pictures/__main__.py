"""Trains cnn and resnet with their defaults on each folder, beside a random forest.

    python -m benchmarks.pictures [--share=/usr/share] [--work=FOLDER] [--models=cnn,resnet] \
        [NAME ...] [-- FLAGS OF estimator-trainer]

Needs scikit-learn, scikit-image and Pillow in this environment, and the packages that
`folders.py` names. Prints a line for each folder and model: the accuracy of the last evaluation,
the best on the way, and the seconds of the whole command.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time
from typing import Sequence

import benchmarks
from benchmarks.pictures import folders, forest


def _trained(model: str, folder: pathlib.Path, model_dir: pathlib.Path,
             flags: Sequence[str]) -> tuple[float, float]:
    """Returns the accuracy and the seconds of a training with default settings."""
    shutil.rmtree(model_dir, ignore_errors=True)
    command = [sys.executable, "-m", "estimator_trainer", f"--model_fn={model}",
               "--input_fn=image_folder", f"--param=train_dir={folder}",
               f"--model_dir={model_dir}", *flags]
    began = time.monotonic()
    with open(f"{model_dir}.log", "w", encoding="utf-8") as log:
        subprocess.run(command, check=True, cwd=benchmarks.REPO, stdout=log,
                       stderr=subprocess.STDOUT)
    seconds = time.monotonic() - began
    result = json.loads((model_dir / "result.json").read_text(encoding="utf-8"))
    return result["metrics"]["accuracy"], seconds


def main() -> None:
    """Measures the folders that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=pathlib.Path, default=pathlib.Path("/usr/share"))
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/benchmarks"))
    parser.add_argument("--models", default="cnn,resnet")
    parser.add_argument("names", nargs="*", default=list(folders.FOLDERS))
    own, flags = sys.argv[1:], []
    if "--" in own:
        own, flags = own[:own.index("--")], own[own.index("--") + 1:]
    args = parser.parse_args(own)
    print("| folder | pictures | classes | random forest |"
          + "".join(f" {model} | seconds |" for model in args.models.split(",")))
    for name in args.names:
        folder = folders.write(name, args.work / "folders", args.share)
        kinds = [path for path in folder.iterdir() if path.is_dir()]
        count = sum(len(list(kind.iterdir())) for kind in kinds)
        cells = [name, f"{count:,}", str(len(kinds)), f"{forest.accuracy(folder):.3f}"]
        for model in args.models.split(","):
            accuracy, seconds = _trained(model, folder, args.work / f"{name}_{model}", flags)
            cells += [f"{accuracy:.3f}", f"{seconds:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
