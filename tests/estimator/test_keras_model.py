"""A compiled Keras model, given as a file's or as a param's, trains from its own weights."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from estimator_trainer import cli
from tests.support import jobs

pytestmark = pytest.mark.cluster

# Each task draws weights of its own, and saves them in its folder of temporary files. The learning
# rate is 0, so every checkpoint holds the weights that training began with.
_PLUGIN = """
import os
import numpy as np, tensorflow as tf

def input_fn(mode):
    batch = {"x": [[1., 2.], [3., 4.]]}, [0, 1]
    return tf.data.Dataset.from_tensors(batch).repeat(None if mode == "train" else 2)

model = tf.keras.Sequential([
    tf.keras.layers.Dense(4, "relu", input_shape=(2,), name="first"),
    tf.keras.layers.BatchNormalization(momentum=1.0, name="normal"),
    tf.keras.layers.Dense(1, "sigmoid", name="last")])
model.compile(tf.keras.optimizers.legacy.SGD(0.0), "binary_crossentropy", ["accuracy"])
model.set_weights([np.random.rand(*w.shape) for w in model.get_weights()])
np.savez(os.path.join(os.environ["TMPDIR"], "weights.npz"),
         **{w.name.removesuffix(":0"): w.numpy() for w in model.weights})
"""
# Unlike the first weights of the model above, those of this one are the same in each process.
_KNOWN = """
def build():
    return compiled(tf.keras.Sequential([
        tf.keras.layers.Dense(3, "relu", input_shape=(2,), kernel_initializer=known(1.0)),
        tf.keras.layers.Dense(1, kernel_initializer=known(-0.5))]))


def known(first):
    return tf.keras.initializers.Constant(first)


def compiled(model):
    model.compile(tf.keras.optimizers.legacy.Adam(0.1), "mse")
    return model
"""
_FORMS = {"of a file": ["--model_fn={file}:model"],
          "of a param": ["--model_fn=keras_model", "--param=keras_model={file}:model"]}
_WITH_PS = {"chief": 1, "worker": 1, "ps": 1}
_MIRRORED = ["--train_distribute=mirrored", "--num_replicas=2"]
_ALL_REDUCE = {"chief": 1, "worker": 1}


def _start(folder, hosts, flags):
    """Starts a job's tasks; each sees empty folders in place of the others' temporary files."""
    folders = {(role, index): folder / f"tmp-{role}-{index}"
               for role, addresses in hosts.items() for index in range(len(addresses))}
    for each in folders.values():
        each.mkdir()
    tasks = {}
    for (role, index), own in folders.items():
        name = f"{role}:{index}"
        tf_config = {"cluster": hosts, "task": {"type": role, "index": index}}
        mounts = [f"mount -t tmpfs none {each}" for each in folders.values() if each != own]
        tasks[name] = jobs.start(
            folder, name, flags, json.dumps(tf_config),
            ("unshare", "-m", "sh", "-c", " && ".join([*mounts, 'exec "$@"']), "sh"),
            TMPDIR=str(own))
    return tasks


@pytest.mark.any_tensorflow
@pytest.mark.parametrize("counts, form", [
    (_WITH_PS, "of a param"), pytest.param(_WITH_PS, "of a file", marks=pytest.mark.soak),
    *(pytest.param(_ALL_REDUCE, form, marks=pytest.mark.soak) for form in _FORMS)])
def test_a_job_starts_from_the_chiefs_weights_without_shared_files(counts, form, tmp_path):
    if not shutil.which("unshare") or subprocess.run(
            ["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here: they take `unshare`, and root")
    (tmp_path / "plugin.py").write_text(_PLUGIN)
    tasks = _start(tmp_path, jobs.cluster(**counts), [
        *(each.format(file=tmp_path / "plugin.py") for each in _FORMS[form]),
        *([] if "ps" in counts else ["--train_distribute=multi_worker_mirrored"]),
        f"--input_fn={tmp_path}/plugin.py", f"--model_dir={tmp_path}/model", "--exporters=none",
        "--train_steps=3"])
    try:
        jobs.wait(list(tasks.values()), 120)
    finally:
        for task in tasks.values():
            jobs.kill(task)
    checkpoint = tf.train.latest_checkpoint(str(tmp_path / "model"))
    for name, weights in np.load(tmp_path / "tmp-chief-0" / "weights.npz").items():
        assert tf.train.load_variable(checkpoint, name) == pytest.approx(weights), name


@pytest.mark.parametrize("form, flags", [
    ("of a file", []), pytest.param("of a param", ["--steps_per_loop=1"], marks=pytest.mark.soak),
    pytest.param("of a param", [], marks=pytest.mark.soak),
    pytest.param("of a file", ["--steps_per_loop=1"], marks=pytest.mark.soak),
    *(pytest.param(form, _MIRRORED, marks=pytest.mark.soak) for form in _FORMS)])
def test_a_model_trains_to_the_values_of_model_to_estimator(form, flags, tmp_path):
    (tmp_path / "plugin.py").write_text(_PLUGIN.partition("model =")[0] + _KNOWN)
    names: dict[str, object] = {}
    exec((tmp_path / "plugin.py").read_text(), names)
    plain = tf.keras.estimator.model_to_estimator(
        names["build"](), model_dir=str(tmp_path / "plain"), checkpoint_format="saver")
    plain.train(lambda: names["input_fn"]("train").map(lambda x, y: (x["x"], y)), steps=5)
    flags = [*flags, *(each.format(file=tmp_path / "plugin.py").replace(":model", ":build")
                       for each in _FORMS[form]), f"--input_fn={tmp_path}/plugin.py",
             "--exporters=none", f"--model_dir={tmp_path}/run"]
    # The second training of a process resumes: Keras gives its layers the names of the first.
    words = [[*flags, f"--train_steps={steps}"] for steps in (3, 5)]
    if "--num_replicas=2" in flags:
        ran = jobs.trainer(*words[-1])
        assert ran.returncode == 0, ran.stderr
    else:
        assert [cli.main(each) for each in words] == [0, 0]
    expected, got = (
        sorted((shape, tf.train.load_variable(str(tmp_path / folder), name).tolist())
               for name, shape in tf.train.list_variables(str(tmp_path / folder))
               if name.startswith("dense"))
        for folder in ("plain", "run"))
    assert len(expected) == 4 and [shape for shape, _ in got] == [shape for shape, _ in expected]
    for (_, value), (_, other) in zip(got, expected):
        assert np.array(value) == pytest.approx(np.array(other), rel=1e-4)


@pytest.mark.parametrize("form", [
    "of a file", pytest.param("of a param", marks=pytest.mark.soak)])
def test_a_warm_start_wins_over_the_weights_of_the_model(form, tmp_path, monkeypatch):
    (tmp_path / "plugin.py").write_text(_PLUGIN)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    flags = [*(each.format(file=tmp_path / "plugin.py") for each in _FORMS[form]),
             f"--input_fn={tmp_path}/plugin.py", "--exporters=none", "--train_steps=1"]
    first, second = (str(tmp_path / name) for name in ("first", "second"))
    for more in ([f"--model_dir={first}"], [f"--model_dir={second}", f"--warm_start_from={first}"]):
        ran = jobs.trainer(*flags, *more)
        assert ran.returncode == 0, ran.stderr
    own = dict(np.load(tmp_path / "weights.npz"))
    for name, weights in own.items():
        began = tf.train.load_variable(first, name)
        assert tf.train.load_variable(second, name) == pytest.approx(began), name
        assert began != pytest.approx(weights), name
