"""The runs of the text: its functions in a script of their own, and as plug-ins."""

import json
import os
import re
import subprocess
import sys

from examples.page import Row
from examples.runs import EXAMPLES, free_addresses, Run

SOURCE = ("The text: TensorFlow's tutorial \"Multi-worker training with Estimator\". Its two"
          " functions are in `functions.py`, without the shuffling, and the script around them, a"
          " plain `tf.estimator` one, in `script.py`: its figures stand for the text's.")
_FOLDER = EXAMPLES / "09_multi_worker_tutorial"
# A newer TensorFlow gets its Estimator back; nothing else of this program is there.
_START = "import estimator_trainer.compat, script"


def run(runs):
    """Trains an epoch by the script and by this program, in one process and in two."""
    records = str(runs.records)
    functions = _FOLDER / "functions.py"
    flags = (f"--model_fn={functions}", f"--input_fn={functions}", f"--param=records={records}",
             "--train_distribute=multi_worker_mirrored", "--train_steps=0", "--seed=7",
             "--save_summary_steps=1", "--steps_per_loop=1", "--exporters=none")
    alone = _script(runs, records, "script1")
    pair = _script(runs, records, "script2", ("worker", "worker"))
    _script(runs, records, "script2", (), "evaluate")
    several = "--eval_distribute=multi_worker_mirrored"
    return ((alone, runs.train("one", *flags)),
            (pair, runs.launch("two", "--chief=0 --worker=2", *flags)),
            (_script(runs, records, "script2", ("chief", "worker"), "evaluate"),
             runs.program("several", "launch", "--worker=1", "--", *flags, several)))


def _script(runs, records, name, roles=(), *command):
    """Runs the script in a process for each role; returns the first one's run."""
    runs.folder.mkdir(parents=True, exist_ok=True)
    addresses = free_addresses(len(roles))
    cluster = {role: [address for r, address in zip(roles, addresses) if r == role]
               for role in roles}
    environments = [{"TF_CONFIG": json.dumps({"cluster": cluster, "task": {
        "type": role, "index": roles[:i].count(role)}})} for i, role in enumerate(roles)] or [{}]
    tasks = [subprocess.Popen(
        [sys.executable, "-c", _START, records, str(runs.folder / name), *command], text=True,
        env={**os.environ, "PYTHONPATH": f"{_FOLDER}:{EXAMPLES.parent}", **variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for variables in environments]
    logs = [task.communicate()[0] for task in tasks]
    return Run(tasks[0].returncode, logs[0], runs.folder / name)


def _losses(run):
    import tensorflow as tf
    return {event.step: value.simple_value for path in sorted(run.model_dir.glob("events*"))
            for event in tf.compat.v1.train.summary_iterator(str(path))
            for value in event.summary.value if value.tag == "loss"}


def _difference(runs):
    script, here = (_losses(run) for run in runs)
    assert len(script) == len(here) and len(here) > 400, (len(script), len(here))
    return f"{max(abs(loss - here[step]) for step, loss in script.items()):.1g}"


def _evaluated(run):
    import tensorflow as tf
    [path] = (run.model_dir / "eval").glob("events*")
    events = tf.compat.v1.train.summary_iterator(str(path))
    last = {value.tag: value.simple_value for event in events for value in event.summary.value}
    return f"{last['accuracy']:.4f}; {last['loss']:.5f}"


def _error(run):
    found = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception)): ", run.log, re.M)
    return ", ".join([f"exit {run.code}", *found[:1]])


ROWS = (
    Row("trained numbers of the network", "347,146", lambda done: done[0][1].parameters),
    Row("steps of an epoch in one process; in two", lambda done:
        f"{max(_losses(done[0][0]))}; {max(_losses(done[1][0]))}", lambda done:
        f"{done[0][1].step}; {done[1][1].step}"),
    Row("largest difference of the loss of a step, one process", "0", lambda done:
        _difference(done[0])),
    Row("the same, two processes", "0", lambda done: _difference(done[1])),
    Row("accuracy and loss on the 10,000 test images after them, one process", lambda done:
        _evaluated(done[0][0]), lambda done: _evaluated(done[0][1])),
    Row("the same, two processes", lambda done: _evaluated(done[1][0]), lambda done:
        _evaluated(done[1][1])),
    Row("evaluation on several workers (`eval_distribute`): the script, and this program",
        lambda done: f"allowed; {_error(done[2][0])}", lambda done: _error(done[2][1])),
)
