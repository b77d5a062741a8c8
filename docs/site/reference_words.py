"""The words of the reference that no part of the program has as data.

tests/house/test_reference.py compares them with the program, and with what real jobs leave.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

# Origin of a file: each training, one with these exporters, one of several tasks, `launch`, or only
# a flag or a command.
LeftBy = Literal["training", "exporters", "cluster", "launch", "request"]


class File(NamedTuple):
    """A file of model_dir; a word of capitals in its path stands for any text."""

    path: str
    by: str
    when: str
    holds: str
    left_by: LeftBy

    @property
    def pattern(self) -> str:
        """The path as fnmatch takes it."""
        return re.sub(r"[A-Z]{2,}", "*", self.path)


_CHIEF, _LAST = "chief", "evaluator, else chief"
FILES = (
    File("record.json", _CHIEF, "before the first step, and when the run ends",
         "the plug-ins, params, settings, data, versions and runs of the model_dir:"
         " [record](record.md)", "training"),
    File("checkpoint", _CHIEF, "at each checkpoint", "the names of the checkpoints that are kept",
         "training"),
    File("model.ckpt-STEP.*", _CHIEF, "at each checkpoint: [flags](#checkpoints-and-logs)",
         "the variables at that global step (`.index`, `.data-*`), and the graph (`.meta`)",
         "training"),
    File("graph.pbtxt", _CHIEF, "before the first step", "the graph of training, as text",
         "training"),
    File("events.out.tfevents.*", _CHIEF,
         "every `--save_summary_steps` steps, by default at least 20 times; `*.report` after the"
         " final evaluation",
         "for TensorBoard: summaries of training; in `*.report` the record and HPARAMS",
         "training"),
    File("eval/events.out.tfevents.*", _LAST, "at each evaluation; `*.report` after the final one",
         "for TensorBoard: metrics; in `*.report` precision-recall curves and images of errors",
         "training"),
    File("export/final/TIME/*", _LAST, "after the final evaluation, with `--exporters=final`",
         "a SavedModel, with the record in `assets.extra/`", "training"),
    File("evaluated.json", _LAST, "after each evaluation",
         "its checkpoint and metrics, so that a restarted process does not evaluate the final"
         " checkpoint again", "training"),
    File("evaluation.json", _LAST, "after the final evaluation, unless `--noreport`",
         "the page's part on the final evaluation; may contain inputs of your data",
         "training"),
    File("history.jsonl", _CHIEF, "every 2 s, in a bucket every 30 s, and at the end",
         "[the lines of progress and evaluation](#historyjsonl) of every task", "training"),
    File("result.json", f"{_LAST}; a chief that is stopped or fails",
         "at the end, if there is a checkpoint", "[the result](#resultjson)", "training"),
    File("report.html", "chief, or `launch`", "at the end, unless `--noreport`; by `report`",
         "[the page of the run](report.md)", "training"),
    File("report.json", "chief, or `launch`", "with `report.html`",
         "[the data of the page](report.md#reportjson)", "training"),
    File("average/*", "`average`", "when it is typed", "[the mean of"
         " checkpoints](first_steps.md#the-mean-of-checkpoints)", "request"),
    File("best.json", _LAST, "after an evaluation that is the best so far, in a training until"
         " no improvement, or with `--exporters=best`",
         "[the best checkpoint so far](#bestjson)", "exporters"),
    File("best_checkpoint/*", _LAST, "with `best.json`", "a copy of that checkpoint", "exporters"),
    File("export/best/TIME/*", _LAST, "with `best.json`", "a SavedModel of that checkpoint",
         "exporters"),
    File("export/latest/TIME/*", _LAST, "after each evaluation, with `--exporters=latest`",
         "a SavedModel of the evaluated checkpoint", "exporters"),
    File("job.json", _CHIEF, "at each change, and every 5 s", "the job's state, for the other"
         " tasks: [storage](storage.md)", "cluster"),
    File("tasks/RUN.TASK.KIND", "worker, ps, evaluator", "for each message",
         "a message to the chief's run of that id: `stop`, `left`, `joined`", "cluster"),
    File("evaluator.beat", "evaluator", "every second, in a bucket every 5 s",
         "a heartbeat; at the end the last evaluated step", "cluster"),
    File("history/TASK.jsonl", "each task but the chief", "as `history.jsonl`",
         "the lines of that task, which the chief collects into `history.jsonl`", "cluster"),
    File("history/launch.jsonl", "`launch`", "when a process ends, on a disk only",
         "the ends of processes", "launch"),
    File("logs/TASK.log", "`launch`", "while the job runs, unless `--log_dir`",
         "the output of that task; `logs/report.log` is the output of the page's writer", "launch"),
    File("tmp_worker_INDEX/*", "worker", "in an all-reduce, where every trainer saves",
         "a worker's own checkpoints and events, which nothing reads", "request"),
    File("eval_NAME/events.out.tfevents.*", _LAST,
         "with `--eval_set`, and in a script whose EvalSpec has a name", "the same as in `eval/`",
         "request"),
    File("plugins/profile/*", _CHIEF, "with `--profile_steps`", "profiles, for TensorBoard",
         "request"),
    File("lease.json", _CHIEF, "during a training, every 10 s",
         "the training in this model_dir: task, host, process, start, last heartbeat",
         "request"),
    File("check-TASK.json", "`check --probe`", "when a task is checked",
         "a proof that this task can write there", "request"),
    File("source/*", "you, by the command that `manifest` prints",
         "for Vertex AI without `--image` and `--staging_bucket`", "the source package", "request"),
    File(".in_use", "the only process", "in a temporary model_dir, without `--model_dir`",
         "a lock: the next such training removes the directory unless it is in use", "request"))
# The titles of their tables.
LEFT_BY: dict[LeftBy, str] = {
    "training": "Every training", "exporters": "The exporters best and latest",
    "cluster": "A training of several tasks", "launch": "The command launch",
    "request": "In some cases only"}

# The reasons of an end, with the status, and what happened. The error itself is any other reason.
REASONS = (
    ("`train_steps`", "done", "The global step of `--train_steps` was reached."),
    ("`input_exhausted`", "done", "The training input ended."),
    ("`no_improvement`", "done", "Evaluations got no better"
     " ([until no improvement](job_ends.md#until-no-improvement)); the best checkpoint is the"
     " model."),
    ("`most_steps`", "done", "Evaluations got better up to the bound of such a training."),
    ("`early_stopping`", "done", "`--early_stopping_metric` did not improve for"
     " `--early_stopping_steps`."),
    ("`stop_at`", "done", "An evaluation reached the target of `--stop_at`."),
    ("`stopped_by_hook`", "done", "Your own hook called `request_stop`."),
    ("`own_train`", "done", "An Estimator class with its own `train` returned from it."),
    ("`max_secs`", "stopped", "The seconds of `--max_secs` were over; a checkpoint was saved, and"
     " the exit code is 0."),
    ("`SIGTERM`", "stopped", "This signal came; a checkpoint was saved."),
    ("`SIGINT`", "stopped", "This signal came, for example from Ctrl-C; a checkpoint was saved."),
    ("`asked by another`", "stopped", "Another trainer of an all-reduce requested the end, without"
     " a reason."),
    ("`configuration`", "failed", "A configuration error, in this task or in the chief; the error"
     " may follow after `:`."),
    ("any other text", "failed, lost", "The error, or the task that was lost."))

# By exit code: what it means, and what a scheduler should do.
EXIT_CODES = {
    0: ("The work is done, or `--max_secs` are over.", "nothing"),
    1: ("The model or the data failed, or there is a bug.", "not restart"),
    2: ("A configuration error was found before training; each has one sentence.", "not restart"),
    142: ("A task was lost, or training stalled. The last checkpoint is kept.", "restart"),
    143: ("A signal stopped the process; a training has saved a checkpoint.", "restart")}

# By kind of line in history.jsonl: when it is written, and its fields beside those of all lines.
HISTORY = {
    "start": ("A process of the task began.", "pid"),
    "model": ("The chief has built the model.", "parameters layers"),
    "trains": ("Training began, or continued after an interruption.", "step max_steps metric"),
    "serves": ("A ps began to serve.", ""),
    "train": ("Every `--log_every_steps` steps; by default at least 20 times in a run.",
              "step loss examples_per_sec steps_per_sec own_steps_per_sec others_updates secs"
              " input_wait paused_secs saving_secs cpu memory_mb"),
    "sample": ("A few steps of a trainer beside others were traced.",
               "step own_secs input_secs ps_secs workers_secs received_bytes sent_bytes"),
    "load": ("A ps has served for a while; every minute in a long run.", "secs cpu memory_mb"),
    "evaluation": ("An evaluation ended, of all sets.", "step examples secs metrics cpu memory_mb"),
    "evaluation_set": ("The evaluation of an `--eval_set` ended.",
                       "eval_name step examples secs metrics cpu memory_mb"),
    "end": ("The process is about to end.", "status step reason exit_code"),
    "exit": ("`launch` saw the process end.", "by began code")}
# Kinds that a short job may lack, and fields that only some jobs have.
HISTORY_RARE = {"sample", "load", "evaluation_set"}
HISTORY_OPTIONAL = {"own_steps_per_sec", "others_updates"}
HISTORY_FIELDS = {
    "task": "The task, such as `chief:0` or `local`.",
    "kind": "The kind of the line.",
    "time": "Seconds since 1970.",
    "pid": "Id of the process.",
    "parameters": "Number of trainable parameters.",
    "layers": "Each layer, with its parameters.",
    "step": "The global step; of an evaluation the checkpoint's.",
    "max_steps": "The global step at which training ends; null: at the end of its input.",
    "metric": "The metric that ends training when it gets no better; empty without that rule.",
    "loss": "The training loss at that step.",
    "examples_per_sec": "Training examples per second of this task alone.",
    "steps_per_sec": "Global steps per second, of all tasks together.",
    "own_steps_per_sec": "This task's own steps per second; with asynchronous ps only.",
    "others_updates": "Updates by other trainers for each of its own; with asynchronous ps only.",
    "input_wait": "Share of the time, from 0 to 1, spent waiting for batches; null if unknown.",
    "paused_secs": "Seconds spent on evaluations in this process since the previous line.",
    "saving_secs": "Seconds spent on checkpoints since the previous line.",
    "cpu": "CPU time of the process as a share of the time since the previous line; 1.0: a core.",
    "own_secs": "Seconds of a step in which the task computes; missing on GPUs.",
    "input_secs": "Seconds of a step in which the task waits for its batch.",
    "ps_secs": "Seconds of a step in which the task waits for the ps.",
    "workers_secs": "Seconds of a synchronous step in which the task waits for other trainers.",
    "received_bytes": "Bytes of the tensors that a step receives from other tasks.",
    "sent_bytes": "Bytes of the tensors that a step sends to the ps.",
    "memory_mb": "Memory of the process, in MB.",
    "examples": "Number of evaluated examples.",
    "secs": "Duration of the evaluation, or else the time since the previous line, in seconds.",
    "metrics": "The metrics, by name; in `evaluation` those of an `--eval_set` as SET/NAME.",
    "eval_name": "The name of the `--eval_set`.",
    "status": "The status of [the last line](#the-last-line).",
    "reason": "The reason of [the last line](#the-last-line).",
    "exit_code": "The exit code that the process is about to return.",
    "by": "The writer of the line: `launch`.",
    "began": "When the process began, in seconds since 1970.",
    "code": "The exit code; minus the signal's number if a signal killed the process."}

# Other words for flags, and flags that no group has.
ALIASES = (
    ("`python -m estimator_trainer`", "`estimator-trainer`"),
    ("no command", "`train`"),
    ("`--job_dir`, `--job-dir`", "`--model_dir`, as some platforms call it"),
    ("`--model-dir`", "`--model_dir`; the same for every flag"),
    ("`--noNAME`", "`--NAME=false`, for a flag that is true or false"),
    ("`--flagfile=FILE`", "the flags in that file, one per line; not after the `--` of `manifest`"),
    ("`-- --NAME=VALUE`", "`--plugin_flag=NAME=VALUE`, at the end of the line"),
    ("`--help`, `-h`, `--helpfull`, `help`", "prints all flags, or one command's"),
    ("`--version`", "prints the versions of the program, TensorFlow and Python"))

# The environment variables that the program reads or sets.
VARIABLES = (
    ("`TF_CONFIG`", "The cluster, and this process's task, as JSON: [clusters](clusters.md)."),
    ("`CLUSTER_SPEC`", "Vertex AI's list of pools, for a process without TF_CONFIG. With TF_CONFIG"
     " it only decides whether there is an evaluator."),
    ("`AIP_MODEL_DIR`", "model_dir, if neither `--model_dir` nor `--job_dir` is set."),
    ("`AIP_CHECKPOINT_DIR`", "The same, if AIP_MODEL_DIR is not set either."),
    ("`AIP_TENSORBOARD_LOG_DIR`, `AIP_TENSORBOARD_RESOURCE_NAME`",
     "Where Vertex AI's TensorBoard reads:"
     " [vertex](vertex.md#what-a-task-reads-from-the-service)."),
    ("`CLOUD_ML_TRIAL_ID`", "The number of a tuning trial, if TF_CONFIG has none:"
     " [vertex](vertex.md#tuning)."),
    ("`CLOUD_ML_HP_METRIC_FILE`", "The file to which `--trial_metric` writes, as the package"
     " cloudml-hypertune does; in a trial of Google's services `/tmp/hypertune/output.metrics` if"
     " it is not set."),
    ("`JOB_COMPLETION_INDEX`", "The number of a pod of Kubernetes, for `predict` into a folder: it"
     " needs [`--share`](predict.md#many-files-many-processes) beside it."),
    ("`SLURM_*`, `OMPI_*`, `PMI_RANK`, `PMI_SIZE`, `PMI_LOCAL_*`, `MPI_*`, `PMIX_RANK`,"
     " `PMIX_SIZE`, `MV2_COMM_WORLD_*`, `JSM_NAMESPACE_*`, `FLUX_TASK_*`, `FLUX_JOB_*`, `PALS_*`,"
     " `ALPS_APP_PE`, `PBS_JOBID`, `LSB_JOBID`",
     "The ranks of Slurm, MPI and other launchers, if no variable above has a cluster:"
     " [slurm](slurm.md#mpi)."),
    ("`CUDA_VISIBLE_DEVICES`", "The GPUs to use. `launch` divides them among its tasks."),
    ("`TF_USE_LEGACY_KERAS`", "On TensorFlow 2.16 and newer the program sets it to `1`, so that"
     " `tf.keras` is Keras 2; another value is an error."),
    ("`TPU_NAME`, `TPU_CONFIG`, `KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS`", "Whether there is a TPU for a"
     " TensorFlow 1 program that names none."),
    ("`NO_COLOR`", "With any value `launch` prints no colours."),
    ("`TF_CPP_MIN_LOG_LEVEL`", "The program sets it to `3` unless you have set it or"
     " `--verbose`."),
    ("`GCS_STAT_CACHE_MAX_AGE`", "The program sets it to `0` unless you have set it:"
     " [storage](storage.md)."),
    ("`TF_NUM_INTRAOP_THREADS`, `TF_NUM_INTEROP_THREADS`",
     "`--intra_op_threads` and `--inter_op_threads` set them. `launch` sets them for its tasks"
     " unless you have set them."),
    ("`TF_XLA_FLAGS`", "`--xla` adds `--tf_xla_cpu_global_jit` to it."),
    ("`TF_FORCE_GPU_ALLOW_GROWTH`, `TF_GRPC_WORKER_CACHE_QUEUES`, `PYTHONUNBUFFERED`",
     "`launch` sets them for its tasks unless you have set them."),
    ("`MALLOC_*`, `GLIBC_TUNABLES`, `LD_PRELOAD`", "If one is set, the program does not change the"
     " settings of the C library's malloc."),
    ("`ESTIMATOR_TRAINER_EVENTS_FD`, `ESTIMATOR_TRAINER_COMMAND`",
     "`launch` sets them for its tasks. Do not set them yourself."))
