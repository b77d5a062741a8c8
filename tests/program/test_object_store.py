"""Jobs whose model_dir is in a bucket, of a Cloud Storage on this machine, end as elsewhere."""

from __future__ import annotations

import io
import itertools
import json
import signal
import subprocess
import sys

from pyarrow import parquet
import pytest

from tests.support import cloud_storage, jobs, slow_jobs

pytestmark = pytest.mark.cluster

_TIMEOUT_SECS = 120
_MODEL_DIR = "gs://bucket/job"


@pytest.fixture(name="storage")
def fixture_storage(tmp_path):
    with cloud_storage.CloudStorage(tmp_path) as storage:
        yield storage


def _flags(*extra):
    return slow_jobs.patient_flags(f"--model_dir={_MODEL_DIR}", *extra)


def _assert_finished(storage, tasks, status="done"):
    """Asserts that a job is at its end: every task says so, and the bucket holds all of it."""
    for task in tasks.values():
        assert (task.code, f"status={status}" in task.last_line) == (0, True), task.log[-3000:]
    result = json.loads(storage.objects.read("job/result.json"))
    assert result["status"] == status and result["step"] >= 100 and "loss" in result["metrics"]
    names = storage.objects.names("job/model.ckpt-")
    steps = [int(name.split("-")[1].split(".")[0]) for name in names]
    assert max(steps) == result["step"]
    [export] = storage.objects.names("job/export/final/", suffix="saved_model.pb")
    assert result["exports"] == [f"gs://bucket/{export.removesuffix('/saved_model.pb')}"]


def _assert_polite(storage):
    """Asserts that the program writes its own files into a bucket at once, and renames none."""
    endings = (".json", ".beat", ".left", ".joined", ".stop", ".new", "job/tasks/")
    own = [request for request in storage.requests
           if request.name.endswith(endings) and request.kind != "fault"]
    assert {request.kind for request in own} <= {"read", "insert", "list", "get", "delete"}
    assert not [name for name in storage.objects.names("job/") if name.endswith((".new", "tasks/"))]


@pytest.mark.soak
def test_a_cluster_with_an_evaluator_ends_where_requests_fail_now_and_then(tmp_path):
    with cloud_storage.CloudStorage(tmp_path, is_write_limited=True, is_bucket_hidden=True,
                                    fault_every=40) as storage:
        with jobs.running(tmp_path, jobs.cluster(chief=1, worker=2, ps=1),
                          _flags("--train_steps=100"), evaluator=True,
                          variables=storage.environment) as tasks:
            jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
            _assert_finished(storage, tasks)
        _assert_polite(storage)
        assert {request.status for request in storage.requests} >= {200, 404, 429, 503}


@pytest.mark.soak
def test_an_all_reduce_with_an_evaluator_ends(tmp_path, storage):
    flags = _flags("--train_steps=100", "--train_distribute=multi_worker_mirrored")
    with jobs.running(tmp_path, jobs.cluster(chief=1, worker=1), flags, evaluator=True,
                      variables=storage.environment) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        _assert_finished(storage, tasks)
    _assert_polite(storage)


@pytest.mark.soak
def test_a_stopped_job_is_resumed(tmp_path, storage):
    hosts = jobs.cluster(chief=1, worker=1, ps=1)
    endless = _flags("--train_steps=100000")
    with jobs.running(tmp_path, hosts, endless, evaluator=True,
                      variables=storage.environment) as tasks:
        jobs.wait_for(lambda: slow_jobs.trains(tasks["chief:0"]), _TIMEOUT_SECS)
        slow_jobs.send(tasks["ps:0"], signal.SIGTERM)
        slow_jobs.wait_for_all(tasks)
        slow_jobs.assert_codes(tasks, 143)
    saved = json.loads(storage.objects.read("job/result.json"))["step"]
    assert saved >= 20
    (tmp_path / "again").mkdir()
    flags = _flags(f"--train_steps={saved + 100}")
    with jobs.running(tmp_path / "again", hosts, flags, evaluator=True,
                      variables=storage.environment) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        _assert_finished(storage, tasks)
        # The worker may be a step ahead of the chief's first look.
        assert any(f"training from step {saved} " in task.log for task in tasks.values())


@pytest.mark.soak
def test_launch_runs_a_job_in_a_bucket(tmp_path, storage):
    ran = jobs.trainer("launch", "--worker=1", "--ps=1", "--evaluator=1",
                       f"--log_dir={tmp_path}/logs", "--",
                       *_flags("--train_steps=100", "--report"),
                       **storage.environment("launch"))
    assert ran.returncode == 0, ran.stderr[-3000:] + ran.stdout[-3000:]
    assert f"job done, exit 0; result: {_MODEL_DIR}/result.json" in ran.stdout + ran.stderr
    assert json.loads(storage.objects.read("job/result.json"))["status"] == "done"
    page = storage.objects.read("job/report.html").decode()
    assert all(name in page for name in ("chief:0", "worker:0", "ps:0", "evaluator:0"))
    _assert_polite(storage)


@pytest.mark.soak
@pytest.mark.any_tensorflow
def test_early_stopping_polls_a_bucket_with_pauses(tmp_path, storage):
    """The chief waits for the evaluator, after a request that once made it ask without a pause."""
    flags = _flags("--train_steps=100000", "--early_stopping_metric=loss",
                   "--early_stopping_mode=max", "--early_stopping_steps=1",
                   "--eval_every_steps=50")
    with jobs.running(tmp_path, jobs.cluster(chief=1, ps=1), flags, evaluator=True,
                      variables=storage.environment) as tasks:
        jobs.wait(list(tasks.values()), _TIMEOUT_SECS)
        assert "reason=early_stopping" in tasks["chief:0"].last_line
    reads = [request.at for request in storage.requests
             if request.client == "chief-0" and request.name == "job/evaluator.beat"]
    assert reads and all(later - earlier > 0.5 for earlier, later in itertools.pairwise(reads))


def test_train_evaluate_predict_and_export_alone(tmp_path, storage):
    """The records are in the bucket, too, where `convert` put them; so is what train recorded."""
    ran = jobs.convert("--dataset=digits", f"--data_dir={tmp_path}",
                       "--output=gs://bucket/digits", **storage.environment())
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert not [request for request in storage.requests if request.kind == "rewrite"]
    train = ["train", "--input_fn=tfrecord", "--model_fn=linear", "--train_steps=100",
             "--exporters=best,final", "--report", "--param=train_files=gs://bucket/digits/train-*",
             "--param=eval_files=gs://bucket/digits/test-*"]
    for command in (train, ["evaluate"], ["evaluate", "--checkpoint=best"], ["export"], ["show"],
                    ["report", f"--output={tmp_path}/page.html"], ["report"],
                    ["predict", "--output=gs://bucket/out/predictions.jsonl"],
                    ["predict", "--output=gs://bucket/out/predictions.parquet"]):
        ran = jobs.trainer(*command, f"--model_dir={_MODEL_DIR}", **storage.environment())
        assert ran.returncode == 0, (command, ran.stderr[-3000:])
    assert len(storage.objects.read("out/predictions.jsonl").splitlines()) == 355
    table = parquet.read_table(io.BytesIO(storage.objects.read("out/predictions.parquet")))
    assert table.num_rows == 355 and not storage.objects.names("out/", suffix=".new")
    assert storage.objects.names("job/export/manual/", suffix="saved_model.pb")
    assert json.loads(storage.objects.read("job/result.json"))["metrics"]["global_step"] == 100
    for page in (storage.objects.read("job/report.html").decode(),
                 (tmp_path / "page.html").read_text()):
        assert "Confusion matrix" in page and "gs://bucket/job" in page and "step 100" in page
    lines = storage.objects.read("job/history.jsonl").decode().splitlines()
    assert [json.loads(line)["kind"] for line in lines].count("evaluation") == 1


def test_a_table_is_read_from_a_bucket(tmp_path, storage):
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(200))
    storage.objects.write("data/rows-0.csv", f"a,b,label\n{rows}".encode())
    ran = jobs.trainer("--input_fn=csv", "--model_fn=wide_deep", "--exporters=none",
                       "--param=num_classes=2", "--param=train_files=gs://bucket/data/rows-*.csv",
                       "--param=eval_files=gs://bucket/data/rows-*.csv", "--train_steps=10",
                       f"--model_dir={tmp_path}/model", **storage.environment())
    assert ran.returncode == 0 and "(200 examples in" in ran.stderr, ran.stderr[-3000:]
    ran = jobs.trainer("check", "--probe", "--input_fn=csv", "--model_fn=canned",
                       "--param=train_files=gs://bucket/data/rows-*.csv", **storage.environment())
    assert "200 rows, 160 to train on" in ran.stdout and "label: 2 classes" in ran.stdout
    assert ran.stdout.rstrip().endswith("ready"), ran.stdout + ran.stderr


@pytest.mark.parametrize("args", [
    ["train"], ["evaluate"], ["export"], ["predict"], ["check", "--probe"],
    ["train", "--model_dir=/tmp/estimator_trainer-none", "--warm_start_from=gs://nobucket/job"]],
    ids=lambda args: args[-1])
def test_a_mistyped_bucket_is_one_sentence_at_once(storage, args):
    ran = jobs.trainer(args[0], "--model_dir=gs://nobucket/job", *args[1:],
                       **storage.environment(), timeout_secs=30)
    assert ran.returncode == 2
    text = ran.stderr + ran.stdout
    assert "and there is no bucket gs://nobucket; expected one that exists" in text
    assert "Traceback" not in text and "gcloud storage buckets create gs://nobucket" in text
    assert len(storage.requests) < 5


@pytest.mark.parametrize("files, sentence", [
    ("gs://nobucket/rows-*.csv", "and there is no bucket gs://nobucket; expected one that exists"),
    ("gs://bucket/data/none-*.csv", "and 'gs://bucket/data' holds rows-0.csv"),
    ("dbfs://bucket/rows.csv", "has no file system for dbfs:// here"),
])
def test_a_missing_object_of_the_input_is_one_sentence(tmp_path, storage, files, sentence):
    storage.objects.write("data/rows-0.csv", b"a,label\n1,0\n")
    ran = jobs.trainer("--input_fn=csv", f"--model_dir={tmp_path}/model", "--model_fn=linear",
                       f"--param=train_files={files}", **storage.environment(), timeout_secs=60)
    assert ran.returncode in (1, 2), ran.stderr
    assert sentence in ran.stderr and "Traceback" not in ran.stderr
    assert ran.stderr.count("train_files is") == 1


_RENAME = """
import estimator_trainer.compat
import tensorflow as tf
from estimator_trainer.patches import saving_patches

def rename():
    tf.compat.v1.gfile.Rename(b"gs://bucket/temp-1", b"gs://bucket/1")

try:
    rename()
except tf.errors.NotFoundError:
    print("is needed")
with saving_patches.renaming_again():
    rename()
"""


@pytest.mark.soak
def test_an_export_gets_its_name_where_the_bucket_is_busy(storage, monkeypatch):
    for name in ("saved_model.pb", "variables/variables.index"):
        storage.objects.write(f"temp-1/{name}", b"x")
    faults, answer = [503, 429], storage.objects.answer

    def busy(method, target, *rest):
        is_question = "prefix=temp-1" in target and "maxResults=1" in target
        return (("fault", target, cloud_storage.Answer(faults.pop())) if is_question and faults
                else answer(method, target, *rest))

    monkeypatch.setattr(storage.objects, "answer", busy)
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", _RENAME], text=True, timeout=60,
                         env=jobs.environment(**storage.environment()), capture_output=True,
                         check=False)
    assert ran.returncode == 0 and "is needed" in ran.stdout, ran.stderr
    assert storage.objects.names() == ["1/saved_model.pb", "1/variables/variables.index"]


@pytest.mark.soak
@pytest.mark.parametrize("number", range(10))
@pytest.mark.any_tensorflow
def test_job_after_job_ends_on_a_slow_storage_with_limits(tmp_path, number):
    """In half of the jobs TensorFlow caches sizes, which the user may have asked for."""
    kinds = [(dict(chief=1, worker=2, ps=1), []),
             (dict(chief=1, worker=1), ["--train_distribute=multi_worker_mirrored"])]
    counts, extra = kinds[number % 2]
    cached = {"GCS_STAT_CACHE_MAX_AGE": "5"} if number % 4 > 1 else {}
    with cloud_storage.CloudStorage(tmp_path, latency_secs=0.05, is_write_limited=True,
                                    fault_every=40) as storage:
        with jobs.running(tmp_path, jobs.cluster(**counts), _flags("--train_steps=300", *extra),
                          evaluator=True, is_forked=not cached,
                          variables=lambda name: {**storage.environment(name), **cached}) as tasks:
            jobs.wait(list(tasks.values()), 240)
            _assert_finished(storage, tasks)
