"""Events for TensorBoard beside the curves: record, hparams, PR curves, the worst errors.

Hparams and PR curves are left out where TensorBoard is not installed.
"""

import base64
import importlib
import importlib.util
import json
import posixpath
import socket
import struct
import time
from typing import Any, Iterator, Mapping

from absl import logging
import tensorflow as tf

from estimator_trainer import errors
from estimator_trainer.coordination import shared_files
from estimator_trainer.record import record_file, run_record

# The suffix distinguishes these event files from the Estimator's.
_SUFFIX = ".report"
_EVALUATION = "eval"


def is_installed() -> bool:
    """Returns whether TensorBoard is installed."""
    return importlib.util.find_spec("tensorboard") is not None


def write(model_dir: str, metrics: Mapping[str, Any], judged: Mapping[str, Any] | None) -> None:
    """Writes the events of a final evaluation; a failure is logged, because the job has ended."""
    if not metrics:
        return
    step = int(metrics.get("global_step", 0))
    try:
        record = record_file.read(model_dir)
        summaries = [*_of_record(record, metrics)] if record else []
        _write(model_dir, summaries, step)
        if judged:
            _write(posixpath.join(model_dir, _EVALUATION),
                   [*_errors(judged), *(_pr_curves(judged) if is_installed() else ())], step)
    except Exception as error:  # pylint: disable=broad-except
        logging.warning("cannot write events for TensorBoard: %s", errors.first_line(error))


def _write(folder: str, summaries: list[tf.compat.v1.Summary], step: int) -> None:
    if not summaries:
        return
    now = time.time()
    shared_files.make_folder(folder)
    path = posixpath.join(folder, f"events.out.tfevents.{int(now)}.{socket.gethostname()}{_SUFFIX}")
    # Unlike a FileWriter, this does not write a file twice in a second, which buckets refuse.
    with tf.io.TFRecordWriter(path) as writer:
        first = tf.compat.v1.Event(wall_time=now, file_version="brain.Event:2")
        for event in (first, *(tf.compat.v1.Event(wall_time=now, step=step, summary=summary)
                               for summary in summaries)):
            writer.write(event.SerializeToString())


def _of_record(record: run_record.RunRecord,
               metrics: Mapping[str, Any]) -> Iterator[tf.compat.v1.Summary]:
    """Yields the record as text, and its params and settings as hparams."""
    shown = run_record.to_json(record)
    value = tf.compat.v1.Summary.Value(
        tag="record", tensor=tf.make_tensor_proto(f"```\n{shown}\n```", tf.string))
    value.metadata.plugin_data.plugin_name = "text"
    yield tf.compat.v1.Summary(value=[value])
    if not is_installed():
        return
    hparams = importlib.import_module("tensorboard.plugins.hparams.summary")
    protos = importlib.import_module("tensorboard.plugins.hparams.api_pb2")
    values = {name: value if isinstance(value, (bool, int, float, str)) else json.dumps(value)
              for name, value in {**record.params, **record.settings}.items()}
    yield _taken(hparams.experiment_pb(
        [_hparam(protos, name, value) for name, value in values.items()],
        [protos.MetricInfo(name=protos.MetricName(group=_EVALUATION, tag=name))
         for name in metrics if name != "global_step"]))
    yield _taken(hparams.session_start_pb(values))
    yield _taken(hparams.session_end_pb(protos.STATUS_SUCCESS))


def _hparam(protos: Any, name: str, value: Any) -> Any:
    """Returns the description of a hparam; a text needs the list of its values."""
    if isinstance(value, bool):
        return protos.HParamInfo(name=name, type=protos.DATA_TYPE_BOOL)
    if not isinstance(value, str):
        return protos.HParamInfo(name=name, type=protos.DATA_TYPE_FLOAT64)
    info = protos.HParamInfo(name=name, type=protos.DATA_TYPE_STRING)
    info.domain_discrete.values.add().string_value = value
    return info


def _size_of_png(data: bytes) -> tuple[int, int]:
    # The header of a PNG begins with a signature, a length and "IHDR".
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _size_of_jpeg(data: bytes) -> tuple[int, int]:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        height, width, _ = session.run(tf.image.extract_jpeg_shape(data))
    return int(width), int(height)


_SIZES = {"data:image/png": _size_of_png, "data:image/jpeg": _size_of_jpeg}


def _errors(judged: Mapping[str, Any]) -> Iterator[tf.compat.v1.Summary]:
    for number, example in enumerate(judged.get("worst", ())):
        for shown in example["inputs"]:
            form, _, encoded = shown.get("image", "").partition(";base64,")
            if form not in _SIZES:
                continue
            data = base64.b64decode(encoded)
            width, height = _SIZES[form](data)
            value = tf.compat.v1.Summary.Value(
                tag=f"worst_errors/{number}", image=tf.compat.v1.Summary.Image(
                    width=width, height=height, colorspace=3, encoded_image_string=data))
            value.metadata.summary_description = (
                f"label {example['label']}, predicted {example['predicted']}, example"
                f" {example['position']}")
            yield tf.compat.v1.Summary(value=[value])


def _pr_curves(judged: Mapping[str, Any]) -> Iterator[tf.compat.v1.Summary]:
    summary = importlib.import_module("tensorboard.plugins.pr_curve.summary")
    for curve in judged.get("pr_curves", ()):
        right, wrong = curve["true_positives"], curve["false_positives"]
        yield _taken(summary.raw_data_pb(
            f"pr_curve/{curve['name']}", right, wrong,
            [curve["negatives"] - each for each in wrong],
            [curve["positives"] - each for each in right],
            [p / (p + n) if p + n else 0.0 for p, n in zip(right, wrong)],
            [p / curve["positives"] if curve["positives"] else 0.0 for p in right],
            num_thresholds=len(right)))


def _taken(summary: Any) -> tf.compat.v1.Summary:
    """Returns TensorBoard's message as TensorFlow's message of the same name."""
    return tf.compat.v1.Summary.FromString(summary.SerializeToString())
