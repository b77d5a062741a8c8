"""Predicts how fast 8 to 1,024 tasks would train, what limits them, and how many ps to take.

    python -m benchmarks.paper --model_mb=100 --step_secs=0.2 --network_gbit=10
        [--measured=benchmarks/scaling/scaling.json] [--check]

Costs are fitted to the runs of benchmarks.scaling in which each trainer has its own core: on 2
cores, the runs of 1 and 2 processes. --check compares such a fit's predictions for 4 processes, and
for other networks, with the measurements. docs/scaling.md discusses what to believe.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from typing import Any, Callable, Sequence

import numpy as np

from benchmarks import paper
from benchmarks.paper import costs as costs_lib, held_out, stragglers
from benchmarks.paper.step_model import Cluster, Prediction, StepModel, Workload

TASKS = (8, 16, 32, 64, 128, 256, 512, 1024)
_MB = 1e6
_GBIT = 1e9 / 8


def main(argv: Sequence[str] | None = None) -> None:
    """Prints the table of every mode, or the errors of the fit's predictions."""
    parser = _flags()
    options = parser.parse_args(argv)
    path = pathlib.Path(options.measured)
    measured = json.loads(path.read_text()) if path.exists() else {}
    missing = sorted({"mlp", "disk"} - measured.keys())
    if missing:
        parser.error(f"{path} (from --measured) has no {' and no '.join(missing)}. For example:"
                     f" python -m benchmarks.scaling --idx=FOLDER --only={','.join(missing)}")
    if options.check:
        print("\n".join(held_out.check(measured)))
        return
    model = StepModel(_workload(options), _cluster(options), costs_lib.fit(measured),
                      _times(options, measured))
    print(f"costs from {measured['date']}, {measured['machine']}; one task alone:"
          f" {options.batch_size / options.step_secs:,.0f} examples/s")
    print("\n".join([*table(model, options.ps), *advice(model)]))
    if options.largest_mb * 2 > options.model_mb:
        print(f"\nOne variable is {options.largest_mb / options.model_mb:.0%} of the model: more"
              " than one ps do not share its traffic, unless it is partitioned.")


def table(model: StepModel, ps: int = 0) -> list[str]:
    """Returns a table of every mode for every number of tasks.

    Args:
      model: The model that predicts.
      ps: Number of ps; 0: as many as help.
    """
    alone = model.all_reduce(1).examples_per_sec
    lines = ["", "| tasks | all-reduce | limit | synchronous ps | ps | limit | asynchronous ps |"
             " ps | limit |", "|---|---|---|---|---|---|---|---|---|"]
    for tasks in TASKS:
        cells = _cells(model.all_reduce(tasks), tasks * alone)
        modes: tuple[tuple[Callable[[int, int], Prediction], bool], ...] = (
            (model.synchronous, True), (model.asynchronous, False))
        for predict, is_synchronous in modes:
            count = ps or model.ps_needed(tasks, is_synchronous)
            speed, limit = _cells(predict(tasks, count), tasks * alone)
            cells += [speed, str(count), limit]
        lines.append(f"| {tasks} | " + " | ".join(cells) + " |")
    return lines


def advice(model: StepModel) -> list[str]:
    """Returns sentences with the number of ps to take for few, some and many tasks of each mode."""
    lines = [""]
    for name, predict, is_synchronous in (("synchronous", model.synchronous, True),
                                          ("asynchronous", model.asynchronous, False)):
        for tasks in (TASKS[0], TASKS[3], TASKS[-1]):
            count = model.ps_needed(tasks, is_synchronous)
            fewer = predict(tasks, max(1, count // 2))
            left = fewer.examples_per_sec / predict(tasks, count).examples_per_sec
            lines.append(f"{tasks} {name} tasks: take {count} ps" + (
                f"; half as many leave {left:.0%} of the speed." if count > 1 else "."))
    return lines


def _cells(prediction: Prediction, linear: float) -> list[str]:
    share = prediction.parts[prediction.bottleneck] / sum(prediction.parts.values())
    return [f"{prediction.examples_per_sec:,.0f} ({prediction.examples_per_sec / linear:.0%})",
            f"{prediction.bottleneck} {share:.0%}"]


def _flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.paper", description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--measured", default=str(paper.MEASURED), help="file of benchmarks.scaling, for the costs")
    add("--check", action="store_true", help="compare with runs outside the fit")
    add("--model_mb", type=float, default=100, help="all variables")
    add("--variables", type=int, default=50, help="their number")
    add("--largest_mb", type=float, default=0, help="the largest variable, if it is not small")
    add("--step_secs", type=float, default=0.2, help="one task, one batch, alone")
    add("--batch_size", type=int, default=64, help="examples of that batch")
    add("--network_gbit", type=float, default=10, help="each machine's link, per second")
    add("--latency_usecs", type=float, default=100, help="until a message arrives")
    add("--packs", type=int, default=1, help="number of buffers of an all-reduce")
    add("--ps", type=int, default=0, help="0: as many as it takes")
    add("--ps_cores", type=int, default=4, help="of the machine of a ps")
    add("--backup", type=int, default=0, help="workers a synchronous step does not wait for")
    add("--input_files", type=int, default=0, help="of the training set; 0: enough for all")
    add("--checkpoint_mb", type=float, default=0, help="0: twice the model, as with momentum")
    add("--checkpoint_every_secs", type=float, default=600, help="from one to the next")
    add("--sigma", type=float, help="of the logarithm of step times; default: as measured")
    add("--tail_probability", type=float, default=0.0, help="share of steps that are late")
    add("--tail_shape", type=float, default=1.5, help="of the Pareto distribution of how late")
    return parser


def _workload(options: argparse.Namespace) -> Workload:
    return Workload(
        step_secs=options.step_secs, batch_size=options.batch_size,
        model_bytes=options.model_mb * _MB, variables=options.variables,
        largest_bytes=options.largest_mb * _MB,
        checkpoint_bytes=(options.checkpoint_mb or 2 * options.model_mb) * _MB,
        checkpoint_every_secs=options.checkpoint_every_secs, input_files=options.input_files)


def _cluster(options: argparse.Namespace) -> Cluster:
    return Cluster(
        bytes_per_sec=options.network_gbit * _GBIT, latency_secs=options.latency_usecs / 1e6,
        ps_cores=options.ps_cores, packs=options.packs, backup=options.backup)


def _times(options: argparse.Namespace, measured: dict[str, Any]) -> stragglers.StepTimes:
    fitted = stragglers.fit(np.array(measured["disk"][0]["step_secs"]))
    sigma = fitted.sigma if options.sigma is None else options.sigma
    return stragglers.StepTimes(sigma, options.tail_probability, options.tail_shape)


if __name__ == "__main__":
    main()
