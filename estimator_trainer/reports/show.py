"""The command `show`: the record, runs, evaluations, checkpoints and exports of a model_dir."""

import json
import posixpath
from typing import Any

import tensorflow as tf

from estimator_trainer import errors, result as result_lib
from estimator_trainer.coordination import checkpoints, shared_files
from estimator_trainer.evaluation import average, event_files
from estimator_trainer.record import record_file, run_record
from estimator_trainer.reports import run_files, what_ran

_INDENT = 13


def show(model_dir: str, as_json: bool) -> str:
    """Returns the output of `show`, as text or as JSON; raises ConfigError without a training."""
    content = found_in(model_dir)
    return json.dumps(content, indent=2) if as_json else "\n".join(_lines(content))


def found_in(model_dir: str) -> dict[str, Any]:
    """Returns the content of a model_dir for JSON."""
    damaged: list[str] = []
    record = record_file.read_if_whole(model_dir, damaged.append)
    sizes = checkpoints.all_of(model_dir)
    if record is None and not sizes and not damaged:
        raise errors.ConfigError(run_files.not_a_training(
            model_dir, f"which holds neither {run_record.NAME} nor a checkpoint"))
    best = checkpoints.read_best(model_dir, damaged.append)
    ended = checkpoints.read_result(model_dir, damaged.append)
    return {
        "model_dir": model_dir,
        "record": record and json.loads(run_record.to_json(record)),
        "evaluations": event_files.read(model_dir),
        "checkpoints": [{"step": step, "bytes": size} for step, size in sizes.items()],
        "average": [*average.steps(model_dir, damaged.append)],
        "best": best and {"step": best.step, best.metric: best.value},
        "exports": _exports(model_dir, damaged),
        "result": ended and json.loads(result_lib.to_json(ended)),
        "damaged": damaged,
    }


def _exports(model_dir: str, damaged: list[str]) -> list[dict[str, Any]]:
    pattern = posixpath.join(shared_files.escape(model_dir), "export", "*", "*", "saved_model.pb")
    folders = [posixpath.dirname(path) for path in sorted(tf.io.gfile.glob(pattern))]
    records = [record_file.copy_of(folder, damaged.append) for folder in folders]
    return [{"path": folder, **({"step": record.step} if record else {})}
            for folder, record in zip(folders, records)]


def _lines(content: dict[str, Any]) -> list[str]:
    record = content["record"]
    lines = [_line("model_dir", content["model_dir"])]
    if record:
        lines += _of_record(run_record.from_json(json.dumps(record), run_record.NAME))
    else:
        why = what_ran.no_record(content["model_dir"], content["damaged"])
        lines.append(_line("written by", f"not known: {why}"))
    lines += _block("evaluations", [_metrics(each) for each in content["evaluations"]])
    lines += _block("checkpoints", [f"step {each['step']}, {each['bytes'] / 1e6:.1f} MB"
                                    for each in content["checkpoints"]])
    if content["average"]:
        lines.append(_line("average", "the mean of the checkpoints of steps"
                           f" {', '.join(map(str, content['average']))}"))
    lines += [_line("best", _metrics(content["best"]))] if content["best"] else []
    lines += _block("exports", [
        each["path"] + (f" of step {each['step']}" if "step" in each else "")
        for each in content["exports"]])
    ended = content["result"]
    lines += _block("damaged", content["damaged"]) if content["damaged"] else []
    return lines + ([_line("result", f"{ended['status']} at step {ended['step']}"
                           f" ({ended['reason']})"),
                     *([_line("", ended["note"])] if ended["note"] else [])] if ended else [])


def _of_record(record: run_record.RunRecord) -> list[str]:
    used = [f"--{kind}={what_ran.describe_plugin(entry)}"
            for kind, entry in record.plugins.items()]
    params = [f"{key}={json.dumps(value)}{' (user-set)' * (key in record.given)}"
              for key, value in sorted(record.params.items())]
    params += [f"{key}={shown}" for key, shown in sorted(record.unrecorded.items())]
    return [*_block("written by", used), *_block("params", _wrapped(params)),
            *_block("settings", _wrapped([f"--{name}={_flag(value)}" for name, value in
                                          record.settings.items()])),
            *_block("data", [f"{name}: {json.dumps(value)}" for name, value in
                             record.data.items()]),
            _line("versions", ", ".join(f"{name} {version}" for name, version in
                                        record.versions.items() if version)),
            *_block("runs", [line for run in record.runs for line in (
                run_record.describe(run), f"  {run_record.command_line(run['command'])}",
                *(f"  {change}" for change in run.get("changes", ())))])]


def _metrics(metrics: dict[str, Any]) -> str:
    eval_name = metrics.get("eval_name")
    return "step {}{}  {}".format(
        metrics.get("global_step", metrics.get("step")), f" on {eval_name}" if eval_name else "",
        "  ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                  for name, value in metrics.items()
                  if name not in ("global_step", "step", "eval_name")))


def _flag(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _wrapped(words: list[str], width: int = 86) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _block(title: str, lines: list[str]) -> list[str]:
    return [_line(title if i == 0 else "", line) for i, line in enumerate(lines or ["-"])]


def _line(title: str, text: str) -> str:
    return f"{title:{_INDENT}}{text}"
