"""Predicts with an export on Apache Beam: a transform of rows, and a pipeline from files to files.

    rows | estimator_trainer.beam.Predict("/models/churn/export/final/1700000000")
    python -m estimator_trainer.beam --data='new/*.parquet' --export_dir=DIR --output=predicted/ \
        --runner=FlinkRunner

Rows come as dicts by feature name, and the answers are dicts as `estimator_trainer.predict` returns
them, without the position `key`, because the elements of a PCollection have no order. Beam passes
the other options on to its runner. Needs the extra [beam].
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from typing import Any, Iterator, Mapping, Sequence

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.utils.shared import Shared

from estimator_trainer import environment, errors, start, storage
from estimator_trainer.checks import run_plan
from estimator_trainer.checks.plan import Invocation
from estimator_trainer.errors import ConfigError, Problem, Setting
from estimator_trainer.python import keyword_settings
from estimator_trainer.settings import command_line, command_table

_DICTS, _TABLES, _CSV, _RECORDS = "dicts", "tables", "csv", "tfrecord"
_ENDINGS = {".jsonl": _DICTS, ".json": _DICTS, ".parquet": _TABLES, ".pq": _TABLES, ".csv": _CSV}
# An input_fn takes part of a second to begin to read a batch.
_BATCH = {_DICTS: (64, 4096), _CSV: (2048, 65536), _RECORDS: (512, 16384)}
# The pipeline passes these on by itself.
_OF_FILES = ("data", "output")


class Predict(beam.PTransform):
    """Turns rows into answers: both are dicts.

    Each process of a worker loads the export once.
    """

    def __init__(self, export_dir: str | os.PathLike[str], **settings: Any):
        """Makes the transform; raises ConfigError for a wrong setting.

        `settings` are keywords of `estimator_trainer.predict`, such as with_inputs=True or
        forward_key="customer_id".
        """
        super().__init__()
        self._settings = {**settings, "export_dir": os.fspath(export_dir)}
        keyword_settings.config_of(self._settings, "predict")

    def expand(self, rows: Any) -> Any:
        return _batched(rows, _DICTS) | "Predict" >> beam.ParDo(_Predicting(self._settings, _DICTS))


class _Predicting(beam.DoFn):
    """Turns a batch of rows, as they are in files of a kind, into answers."""

    def __init__(self, settings: Mapping[str, Any], kind: str, header: str = ""):
        self._settings, self._kind, self._header = dict(settings), kind, header
        self._shared = Shared()

    def setup(self) -> None:
        self._predictor = self._shared.acquire(lambda: _Predictor(self._settings))

    def process(self, batch: Any) -> Iterator[dict[str, Any]]:
        yield from self._predictor.answers(self._kind, self._header, batch)


class _Predictor:
    """An export in memory, and the plan by which rows become its features."""

    def __init__(self, settings: Mapping[str, Any]):
        config = keyword_settings.config_of({**settings, "data": "-"}, "predict")
        self._plan = start.planned(run_plan.for_one_process, config, environment.read(),
                                   Invocation(frozenset(settings)))
        start.prepare(self._plan)
        from estimator_trainer.prediction.exported_model import ExportedModel
        self._model = ExportedModel(config.export_dir)
        # A worker has several threads, and the plug-ins are the process's.
        self._lock = threading.Lock()

    def answers(self, kind: str, header: str, batch: Any) -> list[dict[str, Any]]:
        """Returns the answers to a batch of rows, in their order."""
        from estimator_trainer.prediction import frames
        with self._lock, tempfile.TemporaryDirectory() as folder:
            if kind == _DICTS:
                return self._answers(self._plan, batch)
            if kind == _TABLES:
                rows = frames.Rows(self._plan, batch)
                return self._answers(rows.plan)
            path = os.path.join(folder, f"rows.{kind}")
            _write(path, header, batch)
            return self._answers(frames.reading(self._plan, path))

    def _answers(self, plan: Any, dicts: Any = None) -> list[dict[str, Any]]:
        from estimator_trainer.prediction import predict, prediction_writer
        found = predict.answered(plan, dicts, self._model)
        writer = prediction_writer.PredictionWriter(
            found.class_names, has_key=False, is_all=plan.config.all)
        return [writer.next_entry(answer, plan.config.with_inputs)
                for answer in predict.with_inputs(found)]


def _write(path: str, header: str, batch: Sequence[Any]) -> None:
    """Writes rows as a file of the kind that they come from."""
    if header:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in (header, *batch))
        return
    import tensorflow as tf
    with tf.io.TFRecordWriter(path) as writer:
        for record in batch:
            writer.write(record)


def _batched(rows: Any, kind: str) -> Any:
    least, most = _BATCH[kind]
    return rows | beam.BatchElements(min_batch_size=least, max_batch_size=most)


class PredictFiles(beam.PTransform):
    """Turns the files of a pattern, at the root of a pipeline, into answers.

    The kind of the files is that of their names: .parquet, .csv, .jsonl; others have TFRecords.
    """

    def __init__(self, data: str, export_dir: str | os.PathLike[str], **settings: Any):
        """Makes the transform; raises ConfigError for files that do not exist or fit together.

        Args:
          data: Paths or patterns of Beam's file systems, with commas.
          settings: As for `Predict`.
        """
        super().__init__()
        self._settings = {**settings, "export_dir": os.fspath(export_dir)}
        keyword_settings.config_of(self._settings, "predict")
        self._patterns = storage.parts_of(data)
        paths = _matched(data, self._patterns)
        kinds = {_ENDINGS.get(os.path.splitext(path.removesuffix(".gz"))[1].lower(), _RECORDS)
                 for path in paths}
        if len(kinds) > 1:
            raise ConfigError(Problem("data", data, "which are files of several kinds",
                                      "files of one kind", Setting("data", "new/*.parquet")))
        [self._kind] = kinds
        self._header = _header(data, paths) if self._kind == _CSV else ""

    def expand(self, pipeline: Any) -> Any:
        patterns = pipeline | beam.Create(self._patterns)
        if self._kind == _TABLES:
            batches = patterns | beam.io.ReadAllFromParquetBatched()
        elif self._kind == _RECORDS:
            batches = _batched(patterns | beam.io.ReadAllFromTFRecord(), self._kind)
        else:
            lines = patterns | beam.io.ReadAllFromText(skip_header_lines=int(self._kind == _CSV))
            rows = lines if self._kind == _CSV else lines | "Parse" >> beam.Map(json.loads)
            batches = _batched(rows, self._kind)
        return batches | "Predict" >> beam.ParDo(
            _Predicting(self._settings, self._kind, self._header))


def _matched(data: str, patterns: Sequence[str]) -> list[str]:
    found = [[file.path for file in result.metadata_list] for result in FileSystems.match(patterns)]
    for pattern, paths in zip(patterns, found):
        if not paths:
            raise ConfigError(Problem("data", data, f"and {pattern} is no file, and matches none",
                                      "files that exist", Setting("data", "new/*.parquet")))
    return [path for paths in found for path in paths]


def _header(data: str, paths: Sequence[str]) -> str:
    """Returns the first line of the CSV files, which have to be alike: Beam reads line by line."""
    headers: dict[str, str] = {}
    for path in paths:
        with FileSystems.open(path) as file:
            headers[str(file.readline(), "utf-8-sig").rstrip("\r\n")] = path
    if len(headers) > 1:
        first, second, *_ = headers.values()
        raise ConfigError(Problem(
            "data", data, f"and the header of {first} is not that of {second}",
            "files with the same columns in the same order", "estimator-trainer predict"))
    return next(iter(headers))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the pipeline that the command line describes; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    own = {field.name for field in command_table.COMMANDS["predict"].flags}
    is_own = [word.partition("=")[0].lstrip("-").replace("-", "_").removeprefix("no") in own
              for word in words]
    try:
        line = command_line.parse(["predict", *(
            word for word, is_flag in zip(words, is_own) if is_flag)])
        config = line.config
        if not (config.output.endswith(("/", ".jsonl")) and config.export_dir and config.data):
            raise ConfigError(Problem(
                "output", config.output, f"and data is {config.data!r}, export_dir"
                f" {config.export_dir!r}", "a folder or a file .jsonl, files, and an export",
                "python -m estimator_trainer.beam --data='new/*.parquet' --export_dir=DIR"
                " --output=predicted/"))
        settings = {name: getattr(config, name) for name in line.user_set
                    if name not in _OF_FILES}
        answers = PredictFiles(config.data, **settings)
    except ConfigError as error:
        errors.show(error)
        return error.exit_code
    prefix = f"{config.output}part" if config.output.endswith("/") else (
        config.output.removesuffix(".jsonl"))
    options = PipelineOptions([word for word, is_flag in zip(words, is_own) if not is_flag])
    with beam.Pipeline(options=options) as pipeline:
        pipeline | answers | "Text" >> beam.Map(json.dumps) | beam.io.WriteToText(
            prefix, file_name_suffix=".jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())
