"""The settings of checkpoints and logs, and of when a run ends."""

import dataclasses

from estimator_trainer import deadlines
from estimator_trainer.settings.setting import setting


@dataclasses.dataclass(frozen=True)
class CheckpointConfig:
    """Checkpoints, logs, and the reasons to end early."""

    save_checkpoints_steps: int = setting(
        "Checkpoints and logs", 0, "Steps between checkpoints; 0 = as --num_evaluations says, and"
        " at least every 600 seconds.", minimum=0)
    save_checkpoints_secs: int = setting("Checkpoints and logs", 0, "Seconds between checkpoints; 0"
                                         " = by steps. `multi_worker_mirrored` saves by steps only,"
                                         " every 1000 at most by default.", minimum=0)
    force: bool = setting(
        "Checkpoints and logs", False, "Train in a model_dir where another training goes on. That"
        " training ends, and this one goes on from its last checkpoint.")
    keep_checkpoint_max: int = setting(
        "Checkpoints and logs", 5, "Checkpoints to keep; 0 = all.", minimum=0)
    keep_checkpoint_every_n_hours: float = setting(
        "Checkpoints and logs", 10000.0, "Hours of training after which one more checkpoint is kept"
        " for good, beside those of --keep_checkpoint_max.", minimum=1e-6)
    save_summary_steps: int = setting(
        "Checkpoints and logs", 0, "Steps between TensorBoard summaries; 0 = at least 20 summaries"
        " in a run, and one every 100 steps.", minimum=0)
    worker_events: bool = setting(
        "Checkpoints and logs", False, "Write the TensorBoard summaries of each worker beside ps,"
        " not of the chief alone: into MODEL_DIR/worker_0, and so on.")
    log_every_steps: int = setting(
        "Checkpoints and logs", 0, "Steps between two lines of progress, in the log and in"
        " history.jsonl; 0 = 100 in the log, and at least 20 lines of a run in history.jsonl.",
        minimum=0)
    check_numerics: bool = setting(
        "Checkpoints and logs", True, "Look, before each checkpoint, whether a trainable variable"
        " is NaN or infinite; that ends training of plug-ins, and a script is warned.")
    report: bool = setting("Checkpoints and logs", True, "Write MODEL_DIR/report.html at the end,"
                           " the page of the run, with charts of the final evaluation.")
    column_importance: bool = setting(
        "Checkpoints and logs", True, "Find out for this page which columns matter to the model: in"
        " the final evaluation, for 10 s at most.")
    track: tuple[str, ...] = setting(
        "Checkpoints and logs", (), "Trackers that receive the run: mlflow, wandb, or a function of"
        " yours, FILE.py:function. Repeatable.")
    verbose: bool = setting(
        "Checkpoints and logs", False, "Show all that TensorFlow logs, deprecations included.")

    early_stopping_metric: str = setting(
        "Ending", "", "Training ends when this metric improves no more; default: none.")
    early_stopping_mode: str = setting(
        "Ending", "min", "Whether lower (min) or higher (max) is better.", choices=("min", "max"))
    early_stopping_steps: int = setting(
        "Ending", 1000, "Steps without improvement after which training ends.", minimum=1)
    stop_at: str = setting(
        "Ending", "", "Training ends at the first evaluation that reaches this target, such as"
        " 'accuracy>=0.98'.")
    max_secs: int = setting(
        "Ending", 0, "Seconds, from the start of the chief's process, after which training saves,"
        " and every task ends with 0, to be continued; 0 = no limit.", minimum=0)
    peer_timeout_secs: int = setting("Ending", deadlines.PEER_TIMEOUT_SECS, "Seconds after which a"
                                     " task that has answered, and no longer does, is lost; those"
                                     " that need it exit with 142.", minimum=1)
    stall_timeout_secs: int = setting("Ending", deadlines.STALL_TIMEOUT_SECS, "Seconds without any"
                                      " progress, at the start too, before a task prints its stacks"
                                      " and exits with 142.", minimum=1)
