"""Measures an epoch whose input is handed out as it is read, beside one of fixed shares.

    python -m benchmarks.data_shares [--repeats=3] [--steps=480]

A chief, three workers and a ps train for an epoch, whose steps sleep: four trainers share the
cores. First all are of the same speed, then one takes twice as long for a step. The ideal is the
time in which all of them end together. An epoch is from the moment when all trainers make their
first step until the last one has made its last.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile

from benchmarks import repetitions
from tests.support import jobs, trained_ids

_TRAINERS = 4
_STEP_SECS = 0.05
# An epoch ends at best within the time of a part.
_PART_STEPS = 2
_LIMIT_SECS = 240.0
_SERVICE = "--data_service"
_SLOW = "--param=slow_task=worker:1"
# The flags of a job, by its row in the table.
ROWS: dict[str, list[str]] = {
    "fixed shares": [],
    "`--data_service`": [_SERVICE],
    "fixed shares, a worker at half speed": [_SLOW],
    "`--data_service`, a worker at half speed": [_SERVICE, _SLOW]}


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser("python -m benchmarks.data_shares",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=480, help="of an epoch, of all trainers")
    parser.add_argument("--rows", default="", help="only rows with these words, such as 'half'")
    options = parser.parse_args()
    rows = [row for row in ROWS if options.rows in row]
    found = repetitions.measured(rows, options.repeats, lambda row: epoch_secs(
        ROWS[row], options.steps, _TRAINERS - 1))
    steps_secs = options.steps * _STEP_SECS
    print(f"\nIdeal: {steps_secs / _TRAINERS:.2f} s, and {steps_secs / (_TRAINERS - 0.5):.2f} s "
          "with a worker at half speed, without any work beside the sleep.\n\n"
          "| | epoch, s | min-max | compared with the first row | min-max |\n"
          "|---|---|---|---|---|")
    for row in rows:
        print(f"| {row} | {found.median(row):.2f} | {found.span(row, '.2f')} |"
              f" {found.ratio(row)} |")


def epoch_secs(flags: list[str], steps: int, workers: int, data_workers: int = 0) -> float:
    """Runs a job of a chief, workers and a ps to its end; returns the seconds of its epoch.

    `flags` come after those of the benchmark.

    Raises:
      SystemExit: if a record was trained on twice, or not at all.
    """
    plugin = trained_ids.__file__
    others = {"data_worker": data_workers} if data_workers else {}
    hosts = jobs.cluster(chief=1, worker=workers, ps=1, **others)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ids").mkdir()
        with jobs.running(folder, hosts, [
                f"--model_fn={plugin}", f"--input_fn={plugin}", "--train_steps=1000000",
                "--train_epochs=1", f"--model_dir={folder}/model", f"--param=ids={folder}/ids",
                f"--param=meet={1 + workers}", f"--param=step_secs={_STEP_SECS}",
                f"--param=examples={10 * steps}", f"--param=parts={steps // _PART_STEPS}",
                *flags]) as tasks:
            jobs.wait(list(tasks.values()), _LIMIT_SECS)
        written = trained_ids.trained(folder / "ids")
    ids = sorted(i for lines in written.values() for _, batch in lines for i in batch)
    if ids != list(range(10 * steps)):
        sys.exit(f"of {10 * steps} records {len(set(ids))} were trained on, {len(ids)} times")
    first = min(lines[0][0] for lines in written.values())
    ends = sorted(lines[-1][0] - first for lines in written.values())
    print(f"{ends[-1]:6.2f} s, the first trainer ends {1 - ends[0] / ends[-1]:.1%} earlier  "
          f"steps {[len(lines) for lines in written.values()]}  {flags}", flush=True)
    return ends[-1]


if __name__ == "__main__":
    main()
