"""The command `manifest`: writes the files with which a scheduler runs a job.

    job + flags ──► run_plan.for_job ──► the Platform in BY_NAME ──► job.yaml
                                     └─► source_package ──► Dockerfile

No file contains anything of this process's environment.
"""

import os
import pathlib
import re
import shlex
import stat
from typing import Iterator, Mapping, Sequence

from estimator_trainer import errors, redaction, storage
from estimator_trainer.checks import model_dir_name, run_plan
from estimator_trainer.checks.plan import Plan
from estimator_trainer.cluster import task_config
from estimator_trainer.manifest import (google_cloud, kubernetes, own_paths,
                                        platform as platform_lib, role_resources, slurm,
                                        source_package, tuning)
from estimator_trainer.manifest.platform import Platform
from estimator_trainer.plugins import param_defaults, source_files, trackers
from estimator_trainer.plugins.plugin import Plugin
from estimator_trainer.settings.job_config import JobConfig, ROLES
from estimator_trainer.settings.trainer_config import TrainerConfig

# Settings that name a file or a directory for every task.
_PATHS = ("model_dir", "params_file", "warm_start_from", "export_dir", "data", "output")
# All files that `manifest` writes, of which some may be left from an earlier job.
_NAMES = ("job.yaml", "job.json", "job.sbatch", "Dockerfile")
_NODES_OWN = ("/tmp/", "/var/tmp/", "/dev/shm/")
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]*")


def write(job: JobConfig, config: TrainerConfig, flags: tuple[str, ...],
          script: source_files.Script | None = None) -> str:
    """Writes the job's files into its output_dir.

    Args:
      flags: The same settings as words of the command line, which the job contains unchanged.

    Returns:
      The paths of the files, notes and warnings, and the commands to type next.

    Raises:
      ConfigError: if the job cannot run, with every problem; then nothing is written.
    """
    platform = BY_NAME[job.platform]
    does_predict = platform_lib.does_predict(flags)
    job = job.of_workers if does_predict else job
    plan = _ready_plan(job, config, flags, script)
    contents = dict(platform.files(job, config, flags))
    if not platform.shares_disk:
        tensorflow = platform.tensorflow(job)
        contents[source_package.NAME] = source_package.archive(
            _packed(plan, script), tensorflow, config.tf1,
            [*[storage.PLUGIN] * storage.needs_plugin(config.paths.values()),
             *trackers.requirements(config.track),
             *source_package.TENSORBOARD * job.tensorboard])
        if job.image:
            contents["Dockerfile"] = kubernetes.dockerfile(
                source_package.NAME, tensorflow, job).encode()
    folder = pathlib.Path(job.output_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            _write(folder / name, content, bool(_secret_warnings(flags)))
    except OSError as error:
        raise errors.ConfigError(errors.Problem(
            "output_dir", job.output_dir, f"which cannot be written: {error.strerror}",
            "a directory, existing or not", errors.Setting("output_dir", "manifest"))) from error
    quoted = shlex.quote(str(folder))
    image = [f"docker build -t {job.image} {quoted}", f"docker push {job.image}"]
    commands = image * bool(job.image) + platform.commands(job, config, quoted)
    return "\n".join([*(f"wrote {folder / name}" for name in contents),
                      *(f"NOTE: {folder / name} is of an earlier job, and no part of this one"
                        for name in _NAMES if name not in contents and (folder / name).exists()),
                      *_warnings(platform, job, "output" if does_predict else "model_dir", config),
                      *_path_warnings(platform, job, plan, script), *_secret_warnings(flags),
                      "Next:", *(f"  {line}" for line in commands)])


def _write(path: pathlib.Path, content: bytes, has_secrets: bool) -> None:
    if not has_secrets:
        path.write_bytes(content)
        return
    # Others may be permitted to read the old file, or have it open already.
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
    with open(descriptor, "wb") as file:
        file.write(content)


def _packed(plan: Plan, script: source_files.Script | None) -> list[Plugin]:
    """Returns the code of a job: the script, or plug-ins and code named in params; trackers."""
    if script:
        return [script.plugin, *trackers.functions(plan.config.track)]
    of_sets = [each.plugin for each in plan.eval_sets if each.plugin]
    return [*plan.plugins, *of_sets,
            *param_defaults.code_of(plan.params.values if plan.params else {}),
            *trackers.functions(plan.config.track)]


def _ready_plan(job: JobConfig, config: TrainerConfig, flags: Sequence[str],
                script: source_files.Script | None) -> Plan:
    """Returns the plan of the job's tasks, or raises ConfigError with every problem."""
    tasks = task_config.of_counts({role: getattr(job, role) for role in ROLES})
    platform = BY_NAME[job.platform]
    wrong_roles = role_resources.problems(job, platform.role_keys)
    chief = "chief" if job.chief else "worker"
    num_gpus = job.gpus if wrong_roles else role_resources.of_role(job, chief).gpus
    if platform_lib.does_predict(flags):
        has_plugins = any(flag.lstrip("-").startswith(("model_fn", "input_fn")) for flag in flags)
        plan = run_plan.for_prediction_job(config, has_plugins)
    else:
        plan = run_plan.for_job(config, tasks, script, num_gpus)
    problems = [*plan.problems, *([] if platform.shares_disk else _path_problems(config, flags)),
                *_storage_problems(platform, job, config),
                *_code_problems(plan, script), *kubernetes.name_problems(job.name),
                *(problem for flag in flags for problem in _text_problems(flag))]
    if job.image and not _IMAGE.fullmatch(job.image):
        problems.append(errors.Problem("image", job.image, expected="the name of a container image",
                                       example=errors.Setting("image", "REGISTRY/digits:1")))
    if job.chief_name != "chief" and not platform.takes_master:
        problems.append(errors.Problem(
            "chief_name", job.chief_name,
            f"a role that {job.platform} does not write into TF_CONFIG",
            example=(errors.Setting("chief_name", "chief"), errors.Setting("evaluator", 1))))
    if job.most_workers > job.worker:
        problems += _scaling_problems(platform, job, config)
    problems += tuning.problems(job, plan, flags)
    problems += _tensorboard_problems(platform, job, config.model_dir, flags)
    errors.refuse([*problems, *(wrong_roles or platform.problems(job, config))])
    return plan


def _scaling_problems(platform: Platform, job: JobConfig,
                      config: TrainerConfig) -> list[errors.Problem]:
    """Returns the problems of a job whose workers are to join and leave."""
    text = f"{job.worker}:{job.most_workers}"
    if not platform.scales_workers:
        return [errors.Problem(
            "worker", text, f"and {job.platform} starts a fixed number of workers", "one number, or"
            " a platform whose workers join and leave: kubernetes, jobset, or `launch` on one"
            " machine", errors.Setting("worker", job.most_workers))]
    if not job.ps:
        return [errors.Problem(
            "worker", text, "and the job has no ps, without which all trainers make each step"
            " together", "one number, or a ps", errors.Setting("ps", 1))]
    if not job.chief:
        return [errors.Problem(
            "worker", text, "and worker:0 is the chief, whose pod is made like those of the workers"
            " that join", "a chief", errors.Setting("chief", 1), beside=errors.Setting("chief", 0))]
    return job.synchronous_problems(config.sync_replicas)


def _tensorboard_problems(platform: Platform, job: JobConfig, model_dir: str,
                          flags: Sequence[str]) -> list[errors.Problem]:
    whys = ["and the tasks predict"] * platform_lib.does_predict(flags)
    whys += [f"which {job.platform} does not run"] * (not platform.runs_tensorboard)
    whys += ["and the script chooses its model_dir"] * (not model_dir)
    return [model_dir_name.no_tensorboard(why, model_dir) for why in whys[:job.tensorboard]]


def _path_problems(config: TrainerConfig, flags: Sequence[str]) -> Iterator[errors.Problem]:
    """Yields a problem for each flag whose value is valid on this machine only."""
    for name in _PATHS:
        path = getattr(config, name)
        if path and not path.startswith("/") and "://" not in path:
            root = "/shared" if name == "params_file" else "gs://bucket"
            yield errors.Problem(name, path, "relative to a directory of this machine",
                                 "a path that every task can open",
                                 f"-- {errors.Setting(name, root + '/' + path.rpartition('/')[2])}")
    for pair in config.param:
        key, _, value = pair.partition("=")
        if value.startswith(("./", "../")) and not param_defaults.code_of({key: value}):
            yield errors.Problem(
                f"param {key}", value, "a file of this machine, which the job does not pack",
                "a path that every task can open, or for code FILE.py:NAME",
                f"-- {errors.Param(key, 'gs://bucket/' + value.rpartition('/')[2])}",
                errors.Param(key))
    for flag in flags:
        if flag.lstrip("-").partition("=")[0] == "flagfile" and flag.startswith("-"):
            yield errors.Problem("flag", flag, "which names a file of this machine",
                                 "its flags themselves", "-- --model_dir=gs://bucket/job",
                                 "the words after `--`")


def _storage_problems(platform: Platform, job: JobConfig,
                      config: TrainerConfig) -> list[errors.Problem]:
    """Returns a problem for each setting whose file system is missing in the job."""
    if platform.shares_disk:
        return run_plan.storage_problems(config.paths)
    # The source package requires the storage plug-in, where its TensorFlow can load it.
    found = (storage.problem(name, path, platform.tensorflow(job), storage.PLUGIN)
             for name, path in config.paths.items())
    return [problem for problem in found if problem]


def _code_problems(plan: Plan, script: source_files.Script | None) -> list[str]:
    defaults = {key: value for plugin in plan.plugins
                for key, value in (plugin.default_params or {}).items()}
    named = param_defaults.code_problems(plan.params.values, defaults) if plan.params else []
    return named + [problem for code in _packed(plan, script)
                    for problem in source_files.problems(code)]


def _text_problems(flag: str) -> list[errors.Problem]:
    try:
        flag.encode("utf-8")
    except UnicodeEncodeError:
        return [errors.Problem("flag", redaction.masked_words([flag])[0],
                               "which is not UTF-8, as the text of a job must be", "another value",
                               source="the words after `--`")]
    return []


def _warnings(platform: Platform, job: JobConfig, name: str, config: TrainerConfig) -> list[str]:
    """Returns a note on the folder of a setting that the tasks may not share."""
    folder = getattr(config, name)
    if not folder:
        return ["NOTE: the script chooses its model_dir; every task must be able to open it. For"
                " example: a bucket"]
    mount = platform.mount(job)
    if platform.shares_disk:
        is_shared = not folder.startswith(_NODES_OWN)
        problem = errors.Problem(name, folder, "which on most clusters each node has for itself",
                                 "a directory that all share", f"-- --{name}=runs/digits")
    else:
        is_shared = "://" in folder or bool(mount) and f"{folder}/".startswith(
            f"{mount.rstrip('/')}/")
        problem = errors.Problem(name, folder, "and nothing mounts it: each task would see a"
                                 " directory of its own, lost with its container",
                                 f"{platform.mount_advice}a bucket",
                                 f"-- --{name}=gs://bucket/job")
    return [] if is_shared else [f"WARNING: {problem}"]


def _path_warnings(platform: Platform, job: JobConfig, plan: Plan,
                   script: source_files.Script | None) -> list[str]:
    """Returns a warning for each path that the tasks cannot open."""
    if platform.shares_disk:
        return []
    params = {key: value for key, value in plan.params.values.items() if isinstance(value, str)
              and key in plan.params.user_set} if plan.params else {}
    settings = {name: getattr(plan.config, name) for name in _PATHS if name != "model_dir"}
    return [f"WARNING: {problem}" for problem in own_paths.warnings(
        params, settings, script, platform.mount(job), platform.mount_advice, plan.eval_sets)]


def _secret_warnings(flags: Sequence[str]) -> list[str]:
    shown = redaction.masked_words(flags)
    found = [word.lstrip("-") for word, flag in zip(shown, flags) if word != flag]
    if not found:
        return []
    return [f"WARNING: {', '.join(found)} is written into the job as it is, for all who may read"
            " the job, its pods or this folder. Expected a file that the platform mounts from its"
            " store of secrets, or a variable, and a plug-in that reads it. For example:"
            " -- --param password_file=/run/secrets/password"]


BY_NAME: Mapping[str, Platform] = {
    "tfjob": kubernetes.TFJOB, "kubernetes": kubernetes.KUBERNETES, "jobset": kubernetes.JOBSET,
    "vertex": google_cloud.VERTEX, "ai-platform": google_cloud.AI_PLATFORM,
    "slurm": slurm.SLURM}
