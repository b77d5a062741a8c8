"""No record of a training set that is handed out is trained on twice, whatever a trainer meets."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest

from tests.support import example_files, jobs, slow_jobs, trained_ids

pytestmark = [pytest.mark.soak, pytest.mark.cluster]

_EXAMPLES = 6000
_WORKERS = 3


def _args(folder):
    """Returns the flags of one epoch of 600 batches."""
    plugin = trained_ids.__file__
    return [f"--model_fn={plugin}", f"--input_fn={plugin}", "--train_steps=1000000",
            "--train_epochs=1", "--data_service", f"--model_dir={folder}/model",
            f"--param=ids={folder}/ids", f"--param=examples={_EXAMPLES}", "--param=parts=120",
            "--param=step_secs=0.05"]


def _running(folder):
    """Runs a chief, three workers and a ps."""
    (folder / "ids").mkdir()
    return jobs.running(folder, jobs.cluster(chief=1, worker=_WORKERS, ps=1), _args(folder))


def _by_task(folder):
    """Returns the ids that each task has trained on, by its role and index."""
    return {name.rpartition("-")[0]: [i for _, ids in lines for i in ids]
            for name, lines in trained_ids.trained(folder / "ids").items()}


def _wait_until_all_train(folder, workers=_WORKERS):
    jobs.wait_for(lambda: len(found := _by_task(folder)) == 1 + workers and all(
        len(ids) >= 50 for ids in found.values()), 60)


def test_trainers_of_any_speed_train_on_each_record_once(tmp_path):
    with _running(tmp_path) as tasks:
        _wait_until_all_train(tmp_path)
        for _ in range(4):  # The first worker has half of the time, the second two thirds.
            slow_jobs.send(tasks["worker:0"], signal.SIGSTOP)
            slow_jobs.send(tasks["worker:1"], signal.SIGSTOP)
            time.sleep(0.6)
            slow_jobs.send(tasks["worker:1"], signal.SIGCONT)
            time.sleep(0.3)
            slow_jobs.send(tasks["worker:0"], signal.SIGCONT)
            time.sleep(0.9)
        slow_jobs.wait_for_all(tasks)
        slow_jobs.assert_codes(tasks, 0)
    found = _by_task(tmp_path)
    assert sorted(i for ids in found.values() for i in ids) == list(range(_EXAMPLES))
    assert len(found["worker-0"]) < len(found["worker-1"]) < len(found["worker-2"])


def test_a_killed_worker_takes_only_what_it_has_read_ahead(tmp_path):
    with _running(tmp_path) as tasks:
        _wait_until_all_train(tmp_path)
        slow_jobs.send(tasks["worker:1"], signal.SIGKILL)
        killed = tasks.pop("worker:1")
        slow_jobs.wait_for_all(tasks)
        slow_jobs.assert_codes(tasks, 0)
        jobs.kill(killed)
    # A fixed share is 1,500 records; the data worker has read some batches of 10 ahead.
    _assert_printed(tasks["chief:0"].log, _trained_once(tmp_path, most_lost=300))


def test_a_killed_data_worker_takes_only_what_it_has_read_ahead(tmp_path):
    (tmp_path / "ids").mkdir()
    hosts = jobs.cluster(chief=1, worker=1, ps=1, data_worker=2)
    with jobs.running(tmp_path, hosts, _args(tmp_path)) as tasks:
        _wait_until_all_train(tmp_path, workers=1)
        jobs.kill(tasks.pop("data_worker:1"))
        (tmp_path / "again").mkdir()
        tasks["data_worker:1"] = jobs.start(tmp_path / "again", "data_worker:1", _args(tmp_path),
                                            json.dumps({"cluster": hosts, "task": {
                                                "type": "data_worker", "index": 1}}))
        slow_jobs.wait_for_all(tasks)
        slow_jobs.assert_codes(tasks, 0)
    assert "by the data workers" in tasks["chief:0"].log
    _assert_printed(tasks["chief:0"].log, _trained_once(tmp_path, most_lost=300))


def _trained_once(folder, most_lost):
    """Returns the number of records trained on; none was twice, and few were never."""
    trained = [i for lines in trained_ids.trained(folder / "ids").values()
               for _, ids in lines for i in ids]
    assert len(trained) == len(set(trained)) and set(trained) <= set(range(_EXAMPLES))
    assert _EXAMPLES - len(trained) <= most_lost
    return len(trained)


def _assert_printed(log, number):
    # The last batch of a killed worker may be counted, or not.
    printed = re.search(r"trained on (?:about |all )?([\d,]+) (?:of 6,000 )?records", log)
    assert printed and abs(int(printed[1].replace(",", "")) - number) <= 10, log[-2000:]


# Compressed records are read from the files in each epoch: a trainer loses those of a file, too.
@pytest.mark.parametrize("compression, most_lost", [("", 300), ("GZIP", 1500)])
def test_a_job_whose_chief_is_killed_goes_on_in_the_epoch(compression, most_lost, tmp_path):
    _write_records(tmp_path / "records", compression)
    (tmp_path / "ids").mkdir()
    model = tmp_path / "model_of_ids.py"
    model.write_text("from tests.support.trained_ids import model_fn\n"
                     "DEFAULT_PARAMS = {'step_secs': 0.02, 'slow_task': '', 'ids': '', "
                     "'meet': 0}\n")
    schema = {"id": {"dtype": "int64", "shape": []}, "x": {"dtype": "float32", "shape": []},
              "y": {"dtype": "float32", "shape": []}}
    launcher = jobs.start(tmp_path, "launch", [
        "launch", "--worker=2", "--ps=1", "--", f"--model_fn={model}", "--input_fn=tfrecord",
        f"--param=train_files={tmp_path}/records/*", f"--param=eval_files={tmp_path}/records/0",
        f"--param=schema={json.dumps(schema)}", "--param=label=y", "--param=image=",
        "--param=num_classes=-1", f"--param=ids={tmp_path}/ids", "--train_steps=1000000",
        "--train_epochs=1", "--data_service", "--save_checkpoints_steps=20", "--eval_steps=1",
        "--param=batch_size=10", "--param=shuffle_buffer=100", f"--model_dir={tmp_path}/model"],
        is_forked=False)
    try:
        jobs.wait_for(lambda: launcher.code is not None or sum(
            map(len, _by_task(tmp_path).values())) > _EXAMPLES / 4, 120)
        [chief] = (tmp_path / "ids").glob("chief-0-*")
        os.kill(int(chief.name.rpartition("-")[2]), signal.SIGKILL)
        jobs.wait_for(lambda: launcher.code is not None, 240)
    finally:
        jobs.kill(launcher)
    assert launcher.code == 0, launcher.log
    assert "each trainer reads other parts" in launcher.log
    assert "continues in the training set where it was stopped" in launcher.log
    _trained_once(tmp_path, most_lost)


def _write_records(folder, compression):
    """Writes 40 files of numbered records."""
    folder.mkdir()
    for part in range(40):
        example_files.write(folder / str(part), (example_files.example(
            id=i, x=i / 1e6, y=i / 1e6) for i in range(part, _EXAMPLES, 40)), compression)
