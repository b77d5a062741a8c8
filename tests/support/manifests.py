"""Runs `manifest` for the tests in a folder of their own, and reads what it wrote."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
from typing import Any, Sequence
from unittest import mock

import yaml

from estimator_trainer.manifest import manifest, source_package
from estimator_trainer.plugins import plugin
from estimator_trainer.settings import command_line, job_config
from tests.support import jobs, platform_schemas

# Slurm's job packs no code, and runs no image.
PLATFORMS = tuple(name for name in job_config.PLATFORMS if name != "slurm")
# A shell, YAML or Kubernetes could take these for something else.
ODD = ["--warm_start_vars=a $(HOME) $$(INDEX) $$$(X) $ ${Y} 'one' \"two\" \\ back: # yes",
       "--params_file=", "--early_stopping_metric=größe 💥\u2028\x7f\ttab\nline", "--seed=0"]
# Each shape is a count of tasks by role, and the strategy that trains them.
SHAPES = [({"chief": c, "worker": w, "ps": p, "evaluator": e}, d)
          for c, (w, p, d), e in itertools.product(
              (0, 1), ((2, 1, "none"), (4, 3, "parameter_server"),
                       (3, 0, "multi_worker_mirrored"), (1, 1, "none")), (0, 1))]
SHAPES += [({"chief": 1, "worker": 0, "ps": 0, "evaluator": e}, "none") for e in (0, 1, 3)]


def write(*job_flags: str, flags: Sequence[str] = ()) -> str:
    """Runs `manifest`; returns what it prints. Its files are in manifest/."""
    line = _line(job_flags, flags)
    with mock.patch.object(source_package, "archive", _archive):
        return manifest.write(line.job, line.config, line.flags)


_archive_of, _archives = source_package.archive, {}


def _archive(used: Sequence[plugin.Plugin], *args: Any) -> bytes:
    """Makes each package of the project's own plug-ins once: it is the same for the same sources.
    """
    if not all(pathlib.Path(each.path).is_relative_to(jobs.REPO) for each in used):
        return _archive_of(used, *args)
    key = repr(([each.path for each in used], args))
    if key not in _archives:
        _archives[key] = _archive_of(used, *args)
    return _archives[key]


def objects(*job_flags: str, flags: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Returns what `manifest` would write into the job's file, without the source package."""
    line = _line(job_flags, flags)
    files = manifest.BY_NAME[line.job.platform].files(line.job, line.config, line.flags)
    return list(yaml.safe_load_all(files["job.yaml"]))


def _line(job_flags: Sequence[str], flags: Sequence[str]) -> command_line.CommandLine:
    if not any(flag.startswith("--image") for flag in job_flags):
        job_flags = (*job_flags, "--image=REGISTRY/digits:1")
    return command_line.parse(
        ["manifest", *job_flags, "--", "--model_dir=gs://bucket/job", *flags])


def documents() -> list[dict[str, Any]]:
    """Returns what the job's file holds; of a REST request, the CustomJobSpec."""
    body = pathlib.Path("manifest/job.json")
    if body.exists():
        job = json.loads(body.read_text())
        platform_schemas.check_google("aiplatform.v1", "GoogleCloudAiplatformV1CustomJob", job)
        body.unlink()
        return [job["jobSpec"]]
    return list(yaml.safe_load_all(pathlib.Path("manifest/job.yaml").read_text(encoding="utf-8")))


def counts(shape: dict[str, int]) -> list[str]:
    return [f"--{role}={count}" for role, count in shape.items()]


def expanded(text: str, variables: dict[str, str]) -> str:
    """Returns a pod's text as Kubernetes expands it: $(NAME) where it knows it, and $$ to $.

    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
    """
    def one(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return variables.get(match[1], match[0])
    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)
