"""The page names the task that limits a job, from figures of the history."""

from __future__ import annotations

from estimator_trainer.reports import curves, run_files, task_load


def _run(*lines):
    return run_files.RunFiles("/m", None, [
        {"time": float(i), **line} for i, line in enumerate(lines)], None, None,
        run_files.Events({}, {}, True), [], [], [])


def _train(task, **values):
    return {"task": task, "kind": "train", "step": 100, "secs": 1.0, "steps_per_sec": 10.0,
            "examples_per_sec": 80.0, "memory_mb": 50.0, "cpu": 0.5, **values}


def _sample(task, **values):
    return {"task": task, "kind": "sample", "step": 100, "received_bytes": 2_000, **values}


def _limit(*lines):
    return task_load.limit(task_load.of_run(_run(*lines)))


def test_of_run_takes_the_median_speed_and_means_over_time():
    [load] = task_load.of_run(_run(
        _train("local", secs=1.0, examples_per_sec=100.0, input_wait=0.8, saving_secs=0.5,
               paused_secs=1.0, cpu=1.0),
        _train("local", secs=3.0, examples_per_sec=500.0, input_wait=0.0, paused_secs=0.0,
               memory_mb=70.0, cpu=2.0)))
    assert (load.examples_per_sec, load.shares, load.cpu) == (300.0, {"input": 0.2}, 1.75)
    assert (load.paused, load.memory_mb) == (1.5 / 5, 70.0)


def test_limit_names_slow_input_alone():
    assert _limit(_train("local", input_wait=0.5)) == (
        "local waits 50 % of its time for input: if batches were always ready, training would be up"
        " to 2 times as fast.")
    assert _limit(_train("local", input_wait=0.01)).startswith("Computation limits the speed")
    assert _limit(_train("local")) == ""


def test_limit_names_the_straggler_of_an_all_reduce():
    def lines(own_secs, input_wait):
        return [each for task in ("chief:0", "worker:0", "worker:1") for each in (
            _train(task, input_wait=input_wait if task == "worker:1" else 0.0),
            _sample(task, own_secs=own_secs if task == "worker:1" else 0.01, input_secs=0.0,
                    workers_secs=0.0 if task == "worker:1" else 0.09))]

    assert _limit(*lines(0.06, 0.0)) == (
        "worker:1 is the slowest: its part of a step takes 60 ms, 6 times the median of the others"
        " (10 ms); it computes 60 ms for a step, the others 10 ms. The others wait 90 % of their"
        " time for other trainers.")
    slow_input = _limit(*lines(0.01, 0.8))
    assert "takes 90 ms, 9 times" in slow_input
    assert "worker:1 waits 80 % of its time for input" in slow_input


def test_limit_names_the_straggler_and_the_ps_of_asynchronous_training():
    def lines(slow_steps, ps_secs, cpu, slow_secs=0.01):
        return [*(each for task in ("chief:0", "worker:0", "worker:1") for each in (
            _train(task, input_wait=0.0, own_steps_per_sec=(
                slow_steps if task == "worker:1" else 40.0), others_updates=2.0),
            _sample(task, own_secs=slow_secs if task == "worker:1" else 0.01, input_secs=0.0,
                    ps_secs=ps_secs, sent_bytes=7))),
                {"task": "ps:0", "kind": "load", "secs": 2.0, "cpu": cpu, "memory_mb": 9.0}]

    assert _limit(*lines(10.0, 0.0, 0.1, slow_secs=0.04)) == (
        "worker:1 is the slowest: 10 steps/s, and the median of the others is 40; it computes 40 ms"
        " for a step, the others 10 ms.")
    assert _limit(*lines(10.0, 0.0, 0.1)).endswith("others is 40.")
    assert _limit(*lines(40.0, 0.03, 0.98)) == (
        "The trainers wait 75 % of their time for the ps. ps:0 uses 98 % of a core: more ps would"
        " share the work.")
    assert "larger batches" in _limit(*lines(40.0, 0.03, 0.4))
    assert _limit(*lines(40.0, 0.0, 0.4)) == (
        "Computation limits the speed: no trainer waits for long.")


def test_section_has_the_slowest_first_and_marked_by_a_word():
    lines = [_train(f"worker:{i}", own_steps_per_sec=5.0 if i == 40 else 10.0, others_updates=1.0,
                    input_wait=0.9 if i == 40 else 0.0) for i in range(64)]
    shown = str(task_load.section(_run(*lines, _train("<b>", own_steps_per_sec=9.0))))
    assert shown.index("worker:40") < shown.index("worker:1<")
    assert shown.count(">slowest<") == 1 and "&lt;b&gt;" in shown and "<b><" not in shown
    assert "--share:90%" in shown and "no step was traced" in shown
    assert "waits for ps" not in shown  # No task knows it.


def test_section_of_an_old_history():
    line = {"task": "local", "kind": "train", "step": 9, "steps_per_sec": 2.0,
            "examples_per_sec": 4.0, "input_wait": None}
    shown = str(task_load.section(_run(line)))
    assert "did not measure CPU" in shown and "CPU, %" not in shown
    assert task_load.section(_run()) == ""


def test_updates_by_others_are_counted_by_step():
    [load] = task_load.of_run(_run(
        # 100 steps of its own with 50 by others, and 10 with 60.
        _train("worker:0", secs=10.0, own_steps_per_sec=10.0, others_updates=0.5),
        _train("worker:0", secs=10.0, own_steps_per_sec=1.0, others_updates=6.0)))
    assert load.others_updates == (1.0, 6.0)
    assert load.steps_per_sec == 5.5


def test_curves_show_the_waits_of_samples():
    lines = [each for step in (1, 2, 3) for each in (
        {**_train("chief:0"), "step": step},
        {**_sample("chief:0", own_secs=0.01, input_secs=0.0, ps_secs=0.03), "step": step})]
    made = {each["title"]: each for each in curves.of_speed([_run(*lines)])}
    assert made["waiting for the ps, % of traced steps"]["series"][0]["value"] == [75.0] * 3
    assert made["CPU, % of a core"]["series"][0]["value"] == [50.0] * 3
    assert "waiting for other trainers, % of traced steps" not in made


def test_a_straggler_without_a_line_is_named_from_its_samples():
    fast = [_train(task, own_steps_per_sec=600.0, others_updates=1.0)
            for task in ("chief:0", "worker:0")]
    name, sentence = task_load.slowest(task_load.of_run(_run(*fast, _sample(
        "worker:1", own_secs=0.002, input_secs=0.022, ps_secs=0.001))))
    assert name == "worker:1" and "40 steps/s" in sentence


def test_the_preparation_of_the_graph_slows_no_task_down():
    trains = {"task": "worker:0", "kind": "trains", "step": 0}
    first, later = (_train("worker:0", own_steps_per_sec=speed, others_updates=1.0)
                    for speed in (5.0, 600.0))
    [load] = task_load.of_run(_run(trains, first, later, later))
    assert load.steps_per_sec == 600.0
    [load] = task_load.of_run(_run(trains, first))
    assert load.steps_per_sec == 5.0


def test_no_straggler_is_named_beside_a_trainer_without_figures():
    trains = {"task": "worker:1", "kind": "trains", "step": 0}
    run = _run(trains, _train("chief:0", own_steps_per_sec=10.0, others_updates=1.0),
               _train("worker:0", own_steps_per_sec=90.0, others_updates=1.0))
    assert task_load.slowest(task_load.of_run(run)) == ("", "")
    assert "no figures of worker:1" in str(task_load.section(run))
    assert task_load.section(_run(trains)) == ""
