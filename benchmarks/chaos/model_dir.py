"""Checks the files of a finished job against the promises of docs/job_ends.md."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import pathlib
import re
from typing import Any, Callable

from estimator_trainer import tensorflow_import
from tests.support import jobs

# Non-chief trainers of an all-reduce save there, as docs/reference.md says.
_SAVES_OF_WORKERS = re.compile(r"tmp_worker_\d+")
# Each of two faults may kill a save after its checkpoint is complete and before it is listed.
_UNLISTED = 2
_HALF_MADE = re.compile(r"te?mp|\.new$")


@dataclasses.dataclass(frozen=True)
class Expected:
    """The state that a job should leave.

    Attributes:
      steps: The steps that may be the last one.
      exporters: Names of the exporters.
      keep_checkpoint_max: Checkpoints that are kept.
      has_events: Whether the events of all evaluations must exist.
    """

    steps: range
    exporters: tuple[str, ...]
    keep_checkpoint_max: int
    has_events: bool = True


def quiet_tensorflow() -> None:
    """Imports TensorFlow without the deprecation warnings of its readers."""
    tensorflow_import.load(is_verbose=False)
    import tensorflow as tf
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)


def broken(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    """Returns a sentence for each promise that a model_dir breaks."""
    checks: list[Callable[[pathlib.Path, Expected], list[str]]] = [
        _checkpoints, _evaluations, _exports, _best, _result, _readable, _shown, _half_made]
    problems = []
    for check in checks:
        try:
            problems += check(model_dir, expected)
        except Exception as error:  # A file that is missing or cannot be read breaks a promise.
            problems.append(f"{check.__name__[1:]} can be read; {type(error).__name__}:"
                            f" {str(error)[:200]}")
    return problems


def variable(model_dir: pathlib.Path, name: str) -> Any:
    """Returns a variable of the newest checkpoint in a folder."""
    import tensorflow as tf  # The import takes seconds, and the job should start before.
    return tf.train.load_variable(str(model_dir), name)


def _checkpoints(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    import tensorflow as tf
    step = jobs.saved_step(model_dir)
    problems = []
    if step not in expected.steps:
        problems.append(f"the last step is {_either(expected.steps)}; it is {step}")
    state = tf.train.get_checkpoint_state(str(model_dir))
    for path in state.all_model_checkpoint_paths:
        reader = tf.train.load_checkpoint(path)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    found = {name[1] for name in _matches(model_dir, r"model\.ckpt-(\d+)\.index")}
    if len(found) > expected.keep_checkpoint_max + _UNLISTED:
        problems.append(f"{expected.keep_checkpoint_max} checkpoints are kept; there are those of"
                        f" {sorted(map(int, found))}")
    return problems


def _evaluations(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    if not expected.has_events:
        return []
    step = jobs.saved_step(model_dir)
    count = jobs.evaluated_steps(model_dir).count(step)
    return [] if count == 1 else [f"step {step} is evaluated once; eval/ has it {count} times"]


def _exports(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    step, problems = jobs.saved_step(model_dir), []
    for exporter in expected.exporters:
        # Another check finds half-written exports.
        paths = sorted(path for path in (model_dir / "export" / exporter).iterdir()
                       if path.name.isdigit())
        steps = {path.name: int(variable(path / "variables" / "variables", "global_step"))
                 for path in paths}
        for path in paths:
            problems += _answers(path)
        count = collections.Counter(steps.values())
        if (exporter != "best" and count[step] != 1) or max(count.values(), default=0) > 1:
            problems.append(f"{exporter} exports a step once; it has {steps}, the last step is"
                            f" {step}")
        if exporter == "final" and len(steps) != 1:
            problems.append(f"final exports once; it has {steps}")
        if exporter != "final" and len(steps) > 2:
            problems.append(f"{exporter} keeps 2 exports; it has {steps}")
    return problems


def _answers(path: pathlib.Path) -> list[str]:
    """Loads a SavedModel, and compares its prediction with its variable."""
    import tensorflow as tf
    slope = float(variable(path / "variables" / "variables", "slope"))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(path))
        signature = loaded.signature_def["serving_default"]
        [answer] = session.run(signature.outputs["y"].name,
                               {signature.inputs["x"].name: [0.5]})
    return [] if math.isclose(answer, slope / 2, rel_tol=1e-5) else [
        f"an export answers as its variables say; {path} answers {answer}, not {slope / 2}"]


def _best(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    if "best" not in expected.exporters:
        return []
    best = json.loads((model_dir / "best.json").read_text(encoding="utf-8"))
    problems = []
    if not pathlib.Path(best["export"]).is_dir():
        problems.append(f"best.json names an export that is there; {best['export']} is not")
    step = jobs.saved_step(model_dir / "best_checkpoint")
    if step != best["step"]:
        problems.append(f"best_checkpoint/ has the step of best.json, {best['step']}; it has"
                        f" {step}")
    return problems


def _result(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    step, content, problems = jobs.saved_step(model_dir), jobs.result(model_dir), []
    seen = {name: content.get(name) for name in ("status", "step", "reason")}
    promised = {"status": "done", "step": step, "reason": "train_steps"}
    if seen != promised:
        problems.append(f"result.json says {promised}; it says {seen}")
    exports = [pathlib.Path(path) for path in content["exports"]]
    gone = [str(path.relative_to(model_dir)) for path in exports if not path.is_dir()]
    if gone:
        problems.append(f"exports of result.json are there; {', '.join(gone)} are not")
    named = {path.parent.name for path in exports}
    if not named >= {name for name in expected.exporters if name != "best"}:
        problems.append(f"result.json names an export of {', '.join(expected.exporters)}; it names"
                        f" {[str(path.relative_to(model_dir)) for path in exports]}")
    loss = _evaluated_loss(model_dir, step)
    found = content["metrics"].get("loss", math.nan)
    if expected.has_events and not math.isclose(found, loss, rel_tol=1e-5):
        problems.append(f"result.json has the metrics of step {step}, loss {loss}; it has"
                        f" {content['metrics']}")
    return problems


def _evaluated_loss(model_dir: pathlib.Path, step: int) -> float:
    import tensorflow as tf
    values = [value.simple_value for path in (model_dir / "eval").glob("events*")
              for event in tf.compat.v1.train.summary_iterator(str(path)) if event.step == step
              for value in event.summary.value if value.tag == "loss"]
    return values[-1] if values else math.nan


def _readable(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    problems = []
    names = ["record.json", "result.json", "job.json", "best.json", "evaluation.json"]
    paths = [model_dir / name for name in names if (model_dir / name).exists()]
    lines = [*model_dir.glob("history.jsonl"), *model_dir.glob("history/*.jsonl")]
    if not (model_dir / "record.json").exists() or not (model_dir / "history.jsonl").exists():
        problems.append("record.json and history.jsonl are there; they are not both")
    for path in paths + lines:
        text = path.read_text(encoding="utf-8")
        for each in text.splitlines() if path in lines else [text]:
            try:
                json.loads(each)
            except ValueError as error:
                problems.append(f"{path.name} can be read; {error}: {each[:100]!r}")
    return problems


def _shown(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    ran = jobs.trainer("show", f"--model_dir={model_dir}", "--json", timeout_secs=60)
    try:
        if ran.returncode == 0 and isinstance(json.loads(ran.stdout), dict):
            return []
    except ValueError:
        pass
    return [f"`show --json` prints JSON; it ended with {ran.returncode}: {ran.stderr[-300:]}"]


def _half_made(model_dir: pathlib.Path, expected: Expected) -> list[str]:
    names = [str(path.relative_to(model_dir)) for path in sorted(model_dir.rglob("*"))
             if _HALF_MADE.search(path.name) and not _SAVES_OF_WORKERS.fullmatch(path.name)]
    return [f"nothing half made is left; there is {', '.join(names[:5])}"] if names else []


def _matches(folder: pathlib.Path, pattern: str) -> list[re.Match[str]]:
    found = (re.fullmatch(pattern, path.name) for path in folder.iterdir())
    return [match for match in found if match]


def _either(steps: range) -> str:
    return f"{steps[0]}" if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
