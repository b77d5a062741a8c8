"""A task's processes: when each began and how it ended, whoever tells it."""

from __future__ import annotations

from estimator_trainer.reports import task_lives


def _line(task, kind, time, **values):
    return {"task": task, "kind": kind, "time": time, **values}


def test_of_tasks_shows_two_lives_of_a_restarted_worker():
    lines = [
        _line("chief:0", "start", 1.0), _line("worker:0", "start", 1.0),
        _line("worker:0", "train", 2.0, step=10),
        _line("worker:0", "exit", 3.0, by="launch", began=0.5, code=-9),
        _line("worker:0", "start", 4.0), _line("worker:0", "train", 5.0, step=50),
        _line("worker:0", "end", 6.0, status="done", step=60, reason="train_steps", exit_code=0),
        _line("worker:0", "exit", 6.2, by="launch", began=3.9, code=0),
        _line("chief:0", "end", 7.0, status="done", step=60, reason="train_steps", exit_code=0)]
    found = task_lives.of_tasks(lines, now=100.0)
    assert list(found) == ["chief:0", "worker:0"]
    first, second = found["worker:0"]
    assert (first.start, first.end, first.status, first.exit_code) == (0.5, 3.0, "killed", -9)
    assert (second.start, second.end, second.status) == (3.9, 6.2, "done")
    assert (second.first_step, second.last_step, second.exit_code) == (50, 60, 0)


def test_of_tasks_shows_a_silent_ps_as_long_as_the_job():
    lines = [_line("chief:0", "start", 1.0), _line("ps:0", "start", 1.0),
             _line("chief:0", "train", 500.0, step=9)]
    running = task_lives.of_tasks(lines, now=510.0)
    assert [life.status for each in running.values() for life in each] == ["running"] * 2
    assert running["ps:0"][0].end == 500.0
    # Long after the last sign of life nobody knows.
    assert task_lives.of_tasks(lines, now=5000.0)["chief:0"][0].status == task_lives.NO_END


def test_of_tasks_shows_a_silent_process_of_the_launcher():
    lines = [_line("chief:0", "start", 1.0),
             _line("worker:1", "exit", 3.0, by="launch", began=0.5, code=1)]
    [life] = task_lives.of_tasks(lines, now=4.0)["worker:1"]
    assert (life.status, life.exit_code, life.end - life.start) == ("exit 1", 1, 2.5)


def test_hints_name_a_task_that_died_and_for_how_long_it_was_away():
    lines = [
        _line("chief:0", "start", 0.0), _line("worker:0", "start", 1.0),
        _line("worker:0", "train", 2.0, step=10),
        _line("worker:0", "exit", 3.0, by="launch", began=0.5, code=-9),
        _line("worker:0", "start", 4.5), _line("worker:0", "train", 5.0, step=50)]
    lives = task_lives.of_tasks(lines, now=100.0)
    assert task_lives.hints(lives) == [
        "worker:0 was killed by signal 9 at step 10, at 00:00:03 UTC, 3.0 s after the start of the"
        " job, and was back after 1.5 s"]
    assert "back after 1.5 s" in task_lives.section(lives)


def test_of_tasks_ends_at_the_last_step_that_was_trained():
    lines = [_line("local", "start", 0.0), _line("local", "train", 5.0, step=6000),
             _line("local", "end", 6.0, status="done", step=2000, exit_code=0)]
    assert task_lives.of_tasks(lines, now=9.0)["local"][0].last_step == 6000
