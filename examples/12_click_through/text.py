"""The runs: DCN v2, DeepFM, a canned Estimator and scikit-learn on clicks of known odds."""

import importlib
import importlib.util
import json
import subprocess
import sys

from examples.page import Row
from examples.runs import EXAMPLES

SOURCE = ("The text: the generator's own probabilities, whose AUC on the 200,000 test lines is the"
          " best possible one. Here: each model's AUC on the same lines, and how far below it is."
          " All learn from the same 2,000,000 lines. The settings of DCN v2 and DeepFM were chosen"
          " on validation lines; the canned Estimator's optimizer only after AUCs on the test"
          " lines.")
_FOLDER = EXAMPLES / "12_click_through"
_STEPS = 3900  # of 512 lines: one pass
_FLAGS = (f"--input_fn={_FOLDER}/criteo.py", "--exporters=final", "--log_every_steps=500",
          "--eval_every_steps=100000", "--seed=1")
_JOB = "--chief=1 --worker=1 --ps=1"


def run(runs):
    """Writes the files, trains each way, and computes each AUC."""
    clicks = importlib.import_module("examples.12_click_through.clicks")
    score = importlib.import_module("examples.12_click_through.score")
    folder = runs.folder / "clicks"
    clicks.write(folder, 2_000_000)
    data = (*_FLAGS, f"--param=train_files={folder}/train-*.tsv",
            f"--param=eval_files={folder}/validation.tsv")
    ours = (*data, f"--params_file={_FOLDER}/dcn.json", f"--train_steps={_STEPS}")
    twice = (f"--train_steps={2 * _STEPS}", f"--param=decay_steps={2 * _STEPS}")
    trained = {
        "dcn": runs.train("dcn", *ours, "--model_fn=dcn"),
        "ps": runs.launch("ps", _JOB, *ours, "--model_fn=dcn"),
        "sync": runs.launch("sync", _JOB, *ours, "--model_fn=dcn", "--sync_replicas=2"),
        "deepfm": runs.train("deepfm", *ours, "--model_fn=deepfm", *twice),
        "canned": runs.train("canned", *data, "--model_fn=canned", f"--train_steps={_STEPS}",
                             "--param=estimator=DNNLinearCombinedClassifier",
                             "--param=hash_buckets=10000", "--param=hidden_units=[128, 64]",
                             "--param=embedding_size=16", "--param=blank_numbers=zero",
                             "--param=dnn_optimizer=Adam", "--param=dnn_learning_rate=0.001"),
    }
    aucs = {name: score.of_model(folder, each.model_dir, each.params["blank_numbers"])
            for name, each in trained.items()}
    return {"best": score.best(folder), **aucs, "peers": _peers(folder)}


def _peers(folder):
    """Returns what `peers.py` prints; {} where there is no scikit-learn."""
    if importlib.util.find_spec("sklearn") is None:
        return {}
    ran = subprocess.run([sys.executable, str(_FOLDER / "peers.py"), str(folder)],
                         stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ran.stdout)


def _of_model(name):
    return lambda done: _shown(done[name], done["best"])


def _of_peer(name):
    return lambda done: (_shown(done["peers"][name]["auc"], done["best"]) if done["peers"]
                         else "no scikit-learn here")


def _shown(auc, best):
    return f"{auc:.4f}, {best - auc:.4f} below"


def _row(what, here):
    return Row(what, lambda done: f"{done['best']:.4f}", here)


ROWS = (
    _row("DCN v2, one process, 3,900 steps of 512 lines", _of_model("dcn")),
    _row("the same on chief, worker, ps: 3,900 asynchronous steps", _of_model("ps")),
    _row("the same, synchronous: 3,900 steps of twice 256", _of_model("sync")),
    _row("DeepFM, one process, 7,800 steps", _of_model("deepfm")),
    _row("canned DNNLinearCombinedClassifier with Adam, 3,900 steps", _of_model("canned")),
    _row("scikit-learn's HistGradientBoostingClassifier", _of_peer("gradient_boosting")),
    _row("scikit-learn's LogisticRegression", _of_peer("logistic_regression")),
)
