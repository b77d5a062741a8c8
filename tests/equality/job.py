"""A job: what a program of the table is given, and what is seen of it."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import tensorflow as tf

from tests.equality.program import Program

NUM_REPLICAS = 2


class Job:
    """One process of a program that runs in a shape.

    Attributes:
      program: The program.
      shape: The shape's name; see shapes.py.
      model_dir: The directory of checkpoints.
      calls: Arguments of hooks and listeners, in order: lists of strings and numbers.
      record: Values that the program keeps, by name; see `describe`.
    """

    def __init__(self, program: Program, shape: str, model_dir: pathlib.Path):
        self.program, self.shape, self.model_dir = program, shape, model_dir
        self.calls: list[list[Any]] = []
        self.record: dict[str, Any] = {}
        self._strategy = self._made_strategy()
        self._num_estimators = 0

    def keep(self, name: str, value: Any) -> None:
        """Keeps a value that must be the same in both runs."""
        self.record[name] = self._describe(value)

    def call(self, *words: Any) -> None:
        """Keeps a call of a hook or listener."""
        self.calls.append([self._describe(word) for word in words])

    def config(self, **settings: Any) -> tf.estimator.RunConfig:
        """Returns the RunConfig of the program in this shape."""
        chosen: dict[str, Any] = {**self.program.settings, **settings}
        session_config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
        if self.shape == "mirrored":
            session_config.device_count["CPU"] = NUM_REPLICAS
        if self.shape in ("mirrored", "multi_worker"):
            chosen["session_config"] = session_config
        if chosen.get("save_checkpoints_secs", 0) or "save_checkpoints_secs" in chosen:
            chosen.setdefault("save_checkpoints_steps", None)
        return tf.estimator.RunConfig(**{
            "model_dir": str(self.model_dir), "train_distribute": self._strategy,
            # Plain workers of a ps wait for 5 s otherwise.
            "experimental_max_worker_delay_secs": 0, **chosen})

    def estimator(self, **settings: Any) -> Any:
        """Returns the Estimator of the program."""
        if self.program.estimator:
            return self.program.estimator(self)
        return tf.estimator.Estimator(
            self.program.model_fn, config=self.config(**settings),
            params=dict(self.program.params) if self.program.params is not None else None)

    def train_spec(self, **arguments: Any) -> tf.estimator.TrainSpec:
        """Returns the TrainSpec of the program."""
        program = self.program
        return tf.estimator.TrainSpec(**{
            "input_fn": program.train_input_fn, "max_steps": program.max_steps,
            "hooks": list(program.hooks(self)), "saving_listeners": list(program.listeners(self)),
            **arguments})

    def eval_spec(self, **arguments: Any) -> tf.estimator.EvalSpec:
        """Returns the EvalSpec of the program; every checkpoint is evaluated."""
        program = self.program
        more = program.eval_spec(self) if program.eval_spec else {}
        return tf.estimator.EvalSpec(**{
            "input_fn": program.eval_input_fn or program.train_input_fn, "steps": None,
            "start_delay_secs": 0, "throttle_secs": 0, **more, **arguments})

    def train_and_evaluate(self, estimator: Any = None) -> None:
        """Trains and evaluates, and keeps what that returns."""
        self.keep("train_and_evaluate returns", tf.estimator.train_and_evaluate(
            estimator or self.estimator(), self.train_spec(), self.eval_spec()))

    def save(self, path: pathlib.Path, raised: str | None) -> None:
        """Writes all that was kept to a JSON file."""
        path.write_text(json.dumps({"calls": self.calls, "record": self.record,
                                    "raised": raised}, indent=1))

    def _made_strategy(self) -> Any:
        if self.shape == "mirrored":
            [cpu, *_] = tf.config.list_physical_devices("CPU")
            if not tf.config.get_logical_device_configuration(cpu):
                tf.config.set_logical_device_configuration(
                    cpu, [tf.config.LogicalDeviceConfiguration()] * NUM_REPLICAS)
            # The default all-reduce hangs between logical CPUs.
            return tf.distribute.MirroredStrategy(
                [f"/cpu:{i}" for i in range(NUM_REPLICAS)],
                cross_device_ops=tf.distribute.ReductionToOneDevice())
        if self.shape in ("multi_worker", "workers"):
            return tf.distribute.MultiWorkerMirroredStrategy()
        return None

    def _describe(self, value: Any) -> Any:
        """Returns a value as JSON that shows its type; paths are relative to model_dir."""
        if isinstance(value, dict):
            return {str(key): self._describe(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [type(value).__name__, *map(self._describe, value)]
        if isinstance(value, (np.ndarray, np.generic)):
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return [f"{kind} {value.dtype}", self._plain_values(value.tolist())]
        if isinstance(value, bytes) and str(self.model_dir).encode() in value:
            return ["bytes path", self._path(value.decode())]
        if isinstance(value, str) and str(self.model_dir) in value:
            return ["str path", self._path(value)]
        if isinstance(value, bytes):
            return ["bytes", value.decode("latin1")]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return f"a {type(value).__name__}"

    def _plain_values(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._plain_values(each) for each in value]
        return value.decode("latin1") if isinstance(value, bytes) else value

    def _path(self, path: str) -> list[Any]:
        """Returns a path without the time in it, and whether it exists."""
        shown = path.replace(str(self.model_dir), "MODEL_DIR")
        words = ["TIME" if word.isdigit() and len(word) > 8 else word for word in shown.split("/")]
        return ["/".join(words), pathlib.Path(path).exists()]
