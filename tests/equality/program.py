"""A program of the table: model_fn, input_fns and what it does with its Estimator."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence

SAVE_STEPS = 4
USUAL_SHAPES = ("one", "mirrored", "ps", "ps_worker", "multi_worker")


def _none(job: Any) -> Sequence[Any]:
    return ()


@dataclasses.dataclass(frozen=True)
class Program:
    """One program, which runs by itself and under `estimator-trainer run`.

    Attributes:
      model_fn: The model_fn; None where `estimator` makes the Estimator.
      train_input_fn: The input_fn of training.
      eval_input_fn: The input_fn of evaluation; None takes that of training.
      max_steps: The global step at which training ends; None trains to the end of the input.
      run_config: Arguments of RunConfig; the table's defaults stand below them.
      params: The params of the model_fn.
      hooks: Returns the hooks of training.
      listeners: Returns the saving listeners of training.
      eval_spec: Returns more arguments of EvalSpec.
      estimator: Makes the Estimator from the job.
      main: Does all there is to do with the job, in place of one `train_and_evaluate`.
      is_plugin: Whether the two functions also run as plug-ins of the command line.
      flags: Further flags of the command line, for the plug-ins.
      shapes: The shapes that the program has; see shapes.py.
      why: Why it has not the usual ones, in words.
      plain_fails: Why the plain Estimator fails, by shape, in words. There ours has to fail, too.
      ours_trains: The shapes of these in which ours trains all the same.
    """

    model_fn: Callable[..., Any] | None = None
    train_input_fn: Callable[..., Any] | None = None
    eval_input_fn: Callable[..., Any] | None = None
    max_steps: int | None = 8
    run_config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    hooks: Callable[[Any], Sequence[Any]] = _none
    listeners: Callable[[Any], Sequence[Any]] = _none
    eval_spec: Callable[[Any], Mapping[str, Any]] | None = None
    estimator: Callable[[Any], Any] | None = None
    main: Callable[[Any], None] | None = None
    is_plugin: bool = False
    flags: Sequence[str] = ()
    shapes: Sequence[str] = USUAL_SHAPES
    why: str = ""
    plain_fails: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ours_trains: Sequence[str] = ()

    def __post_init__(self) -> None:
        if set(USUAL_SHAPES) - set(self.shapes) and not self.why:
            raise ValueError("a program that has not all usual shapes says why")

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of RunConfig."""
        return {"save_checkpoints_steps": SAVE_STEPS, "tf_random_seed": 1,
                "save_summary_steps": 2, **self.run_config}
