"""This project: its command line, its model_fn and its input_fn, with its defaults."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import work

_MODELS = {"cnn": ["--model_fn=cnn", "--param=learning_rate=0.01"],
           "sigmoid": ["--model_fn=mlp", "--param=optimizer=adam", "--param=learning_rate=0.001"]}
_LINE = re.compile(r"step (\d+)\S*  loss (\S+).*?([\d,]+) examples/s")


def main() -> None:
    """Trains and reports; the speed is that of the log's lines after the warm-up."""
    todo = work.from_command_line()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "estimator_trainer", *_MODELS[todo.case],
            "--input_fn=tfrecord", f"--param=train_files={os.environ['RECORDS']}/train-*",
            f"--param=eval_files={os.environ['RECORDS']}/test-*",
            f"--param=batch_size={todo.batch_size}", f"--model_dir={folder}", "--exporters=none",
            f"--train_steps={2 * work.WARM_UP_STEPS + todo.steps}",
            f"--log_every_steps={work.WARM_UP_STEPS}", *sys.argv[7:]]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            sys.exit(ran.stderr)
        result = json.loads(pathlib.Path(folder, "result.json").read_text())
    lines = _LINE.findall(ran.stderr)[1:]
    speeds = [float(speed.replace(",", "")) for _, _, speed in lines]
    print(json.dumps({"examples_per_sec": len(speeds) / np.sum(1.0 / np.array(speeds)),
                      "parameters": None, "loss": float(lines[-1][1]),
                      "metrics": result["metrics"]}))


if __name__ == "__main__":
    main()
