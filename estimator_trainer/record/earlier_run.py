"""The earlier run of a model_dir, as the result of a later one tells of it."""

from __future__ import annotations

import dataclasses

from absl import logging

from estimator_trainer.checks.plan import Plan
from estimator_trainer.coordination import checkpoints
from estimator_trainer.estimator.loaded_plugins import LoadedPlugins
from estimator_trainer.plugins import fingerprints
from estimator_trainer.record import record_file
from estimator_trainer.result import Result


@dataclasses.dataclass(frozen=True)
class EarlierRun:
    """What an earlier run leaves to this one.

    Attributes:
      is_finished: Whether it had trained to the last step, so that this run trains nothing.
      edited: One text for each plug-in whose source is not what wrote the checkpoint.
      note: What the result says of this; "" if there is nothing to say.
      is_other: Whether this run differs from the earlier one.
    """

    is_finished: bool = False
    edited: tuple[str, ...] = ()
    note: str = ""
    is_other: bool = False

    def told_in(self, ended: Result) -> Result:
        """Returns the result with the note, and logs the note as one of the last lines."""
        if self.note:
            logging.log(logging.WARNING if self.is_other else logging.INFO, "%s", self.note)
        return dataclasses.replace(ended, was_finished=self.is_finished, note=self.note)


def of(plan: Plan, parts: LoadedPlugins, is_finished: bool) -> EarlierRun:
    """Compares this run with the record, which the begin of this run is going to change.

    Args:
      plan: The plan, with the changes of plug-ins, settings and params.
      parts: The plug-ins, with their sources that were edited.
      is_finished: Whether the earlier run had trained to the last step.
    """
    edited = tuple(f"{kind} changed ({', '.join(paths)})" for kind, paths in parts.edited.items())
    edited += _edited_script(plan)
    folder, step = plan.config.model_dir, checkpoints.latest_step(plan.config.model_dir)
    if not is_finished:
        note = (f"Training went on from step {step}, but not with what wrote its checkpoint:"
                f" {'; '.join(edited)}.") if edited else ""
        return EarlierRun(False, edited, note, bool(edited))
    note = (f"Nothing was trained: an earlier run had reached step {step} of train_steps"
            f" {plan.config.max_steps} in {folder}, and the metrics are of its checkpoint.")
    changes = [*edited, *map(str, plan.changes)]
    if changes:
        note += (f" Since then {'; '.join(changes)}. To train with this: another model_dir, a"
                 f" larger train_steps, or remove {folder}.")
    return EarlierRun(True, edited, note, bool(changes))


def as_recorded(model_dir: str) -> EarlierRun:
    """Returns what the chief has recorded of the earlier run, for a task beside it."""
    # The task beside the chief has done its work, and does not fail for the record.
    record = record_file.read_if_whole(model_dir)
    if not record or not record.runs:
        return EarlierRun()
    run = record.runs[-1]
    return EarlierRun(run.get("was_finished", False), note=run.get("note", ""))


def _edited_script(plan: Plan) -> tuple[str, ...]:
    """Returns a text if the script is not the one that is recorded."""
    record = record_file.read(plan.config.model_dir) if plan.script else None
    before = record and record.plugins.get("script", {}).get("sha256")
    if plan.script is None or before in (None, "", fingerprints.sha256(plan.script.path)):
        return ()
    return (f"the script changed ({plan.script.name})",)
