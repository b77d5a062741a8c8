"""TensorFlow's multi-worker Estimator tutorial, its code unchanged but for one import line.

Opt-in, since the tutorial's text is not ours to ship: ESTIMATOR_TUTORIAL names its notebook,
`site/en/tutorials/distribute/multi_worker_with_estimator.ipynb` of github.com/tensorflow/docs.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.support import jobs

NOTEBOOK = os.environ.get("ESTIMATOR_TUTORIAL", "")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not NOTEBOOK, reason="ESTIMATOR_TUTORIAL names no notebook"),
]

_COPIES = 5
_STEPS = -(-1442 * _COPIES // 64)

# The tutorial downloads MNIST, and tests need no network. So `tfds.load` finds under that name the
# bundled digits, enlarged to MNIST's shape, and repeated for a hundred steps.
PREPARE = f"COPIES = {_COPIES}" + """
import numpy as np, tensorflow_datasets as tfds
from input_fns import digits

class Mnist(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("3.0.1")
    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({
            "image": tfds.features.Image(shape=(28, 28, 1)),
            "label": tfds.features.ClassLabel(num_classes=10)}),
            supervised_keys=("image", "label"))
    def _split_generators(self, dl_manager):
        return {name: self._generate_examples(name) for name in ("train", "test")}
    def _generate_examples(self, split):
        params = {**digits.DEFAULT_PARAMS, "eval_split": split, "num_classes": 10}
        row = 0
        for _ in range(COPIES if split == "train" else 1):
            for features, labels in digits.input_fn("eval", params):
                for image, label in zip(features["image"].numpy(), labels.numpy()):
                    large = np.kron(image[:7, :7, 0], np.ones((4, 4)))[..., None]
                    yield row, {"image": (large * 255).astype(np.uint8), "label": int(label)}
                    row += 1

Mnist().download_and_prepare()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-c", PREPARE], check=True, capture_output=True,
                   env=jobs.environment(HOME=str(folder)))
    return folder


def _cells():
    cells = json.loads(pathlib.Path(NOTEBOOK).read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def _start(folder, home, name, tf_config):
    code = "\n\n".join(_cells())
    script = folder / "tutorial.py"
    script.write_text("import estimator_trainer.compat\n" +
                      code.replace("/tmp/multiworker", str(folder / "model")))
    variables = {"TF_CONFIG": tf_config} if tf_config else {}
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(script)], stdout=log, stderr=log,
                                   env=jobs.environment(HOME=str(home), **variables),
                                   start_new_session=True)
    return jobs.Task(name, process, folder / f"{name}.log")


def _run(folder, home, tf_configs):
    tasks = [_start(folder, home, f"task{i}", text) for i, text in enumerate(tf_configs)]
    try:
        jobs.wait(tasks, 120)
    finally:
        for task in tasks:
            jobs.kill(task)
    return tasks


def test_the_tutorial_trains_and_evaluates_in_one_process(tmp_path, home):
    _run(tmp_path, home, [""])
    assert jobs.saved_step(tmp_path / "model") == _STEPS
    assert jobs.evaluated_steps(tmp_path / "model")[-1] == _STEPS


def test_the_tutorial_trains_on_two_workers(tmp_path, home):
    hosts = jobs.cluster(worker=2)
    _run(tmp_path, home, [json.dumps({"cluster": hosts, "task": {"type": "worker", "index": i}})
                          for i in range(2)])
    # Each trainer reads half of the records, so it makes half of the steps.
    assert jobs.saved_step(tmp_path / "model") == -(-_STEPS // 2)


def test_its_functions_as_plugins_take_the_steps_of_its_own_script(tmp_path, home):
    """Returns the losses of a hundred steps in one process, on the same data with one seed."""
    functions = [cell for cell in _cells() if "def " in cell or cell.startswith("import")]
    (tmp_path / "tutorial.py").write_text("\n\n".join(functions))
    script = "\n\n".join(_cells()).replace(
        "RunConfig(", "RunConfig(tf_random_seed=7, save_summary_steps=1, ").replace(
        "/tmp/multiworker", str(tmp_path / "script"))
    (tmp_path / "script.py").write_text(
        "import estimator_trainer.compat\nimport tensorflow as tf\n"
        "tf.keras.utils.set_random_seed(7)\n" + script)
    ran = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True,
                         text=True, timeout=120, env=jobs.environment(HOME=str(home)), check=False)
    assert ran.returncode == 0, ran.stderr
    ran = jobs.trainer(
        "--model_fn=./tutorial.py", "--input_fn=./tutorial.py", "--exporters=none", "--seed=7",
        "--train_distribute=multi_worker_mirrored", "--train_steps=0", "--save_summary_steps=1",
        f"--model_dir={tmp_path}/plugins", cwd=tmp_path, HOME=str(home))
    assert ran.returncode == 0, ran.stderr
    own, plugins = _losses(tmp_path / "script"), _losses(tmp_path / "plugins")
    assert len(own) > 100
    assert plugins[:100] == pytest.approx(own[:100], abs=1e-4)


def _losses(model_dir):
    import tensorflow as tf
    return [value.simple_value for path in sorted(model_dir.glob("events*"))
            for event in tf.compat.v1.train.summary_iterator(str(path))
            for value in event.summary.value if value.tag.startswith("loss")]
