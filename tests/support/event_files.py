"""Event files of a job, read by TensorFlow, which tells of a corrupt one, and by TensorBoard."""

from __future__ import annotations

import collections
import pathlib

from tensorboard.backend.event_processing import event_accumulator
import tensorflow as tf


def read(model_dir: pathlib.Path) -> dict[str, list[int]]:
    """Returns the steps of each tag that TensorBoard has in the event files of a model_dir.

    Returns:
      Steps in order, by the folder's path within model_dir, a slash, and the tag: "./loss",
      "eval/accuracy".

    Raises:
      AssertionError: if TensorBoard leaves out anything that is in the files.
      DataLossError: if a file is corrupt.
    """
    files = sorted(model_dir.rglob("events.out.tfevents.*"))
    assert files, f"no event file in {model_dir}"
    steps: dict[str, list[int]] = {}
    for folder in sorted({path.parent for path in files}):
        place = folder.relative_to(model_dir)
        written = _written([path for path in files if path.parent == folder])
        shown = _shown(folder)
        assert shown == written, f"{place}: TensorBoard shows {shown}, the files have {written}"
        steps |= {f"{place}/{tag}": each for tag, each in shown.items()}
    return steps


def _written(files: list[pathlib.Path]) -> dict[str, list[int]]:
    """Returns the steps of each scalar and histogram in the files."""
    steps = collections.defaultdict(list)
    for path in files:
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.WhichOneof("value") in ("simple_value", "histo"):
                    steps[value.tag].append(event.step)
    return {tag: sorted(each) for tag, each in steps.items()}


def _shown(folder: pathlib.Path) -> dict[str, list[int]]:
    """Returns the steps of each scalar and histogram that TensorBoard reads in a folder."""
    everything = {kind: 0 for kind in event_accumulator.DEFAULT_SIZE_GUIDANCE}
    reader = event_accumulator.EventAccumulator(str(folder), size_guidance=everything)
    reader.Reload()
    tags = reader.Tags()
    return {tag: sorted(event.step for event in get(tag))
            for kind, get in (("scalars", reader.Scalars), ("histograms", reader.Histograms))
            for tag in tags[kind]}
