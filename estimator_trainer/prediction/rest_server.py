"""`serve`: an export behind TensorFlow Serving's REST interface, on this machine, for trials."""

import functools
import posixpath
from typing import Any

from absl import logging

from estimator_trainer import errors, local_server
from estimator_trainer.coordination import checkpoints
from estimator_trainer.prediction.rest_model import RestModel
from estimator_trainer.settings.command_table import ServeConfig


def serve(settings: ServeConfig) -> None:
    """Serves an export until Ctrl-C, or SIGTERM.

    Raises:
      ConfigError: if there is no export, or the port is taken.
    """
    export_dir = settings.export_dir or newest_export(settings.model_dir)
    model = RestModel(export_dir, settings.model_name)
    logging.info("serves %s, for trials on this machine alone", export_dir)
    local_server.serve(functools.partial(_Handler, model), settings.port, model.path)


def newest_export(model_dir: str) -> str:
    """Returns the export of a model_dir that was made last; raises ConfigError without one."""
    found = [path for path in checkpoints.exports_in(model_dir)
             if posixpath.basename(path).isdigit()]
    if not found:
        raise errors.ConfigError(errors.Problem(
            "model_dir", model_dir, "which holds no export",
            "the directory of a training that has exported",
            f"estimator-trainer export --model_dir={model_dir}"))
    return max(found, key=lambda path: int(posixpath.basename(path)))


class _Handler(local_server.Handler):
    """Answers with the JSON of a model."""

    def __init__(self, model: RestModel, *args: Any):
        self._model = model
        super().__init__(*args)

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        """Answers with the status or the metadata of the model."""
        self._answer(b"")

    def do_POST(self) -> None:  # pylint: disable=invalid-name
        """Answers with predictions."""
        length = self.headers.get("Content-Length", "")
        self._answer(self.rfile.read(int(length)) if length.isdigit() else b"")

    def _answer(self, body: bytes) -> None:
        if self.is_foreign():
            return
        response = self._model.answer(self.command, self.path, body)
        self.answer("application/json", response.text.encode("utf-8", "surrogateescape"),
                    response.code)
