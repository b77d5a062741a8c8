"""The settings of evaluations and exports, and of the data that `predict` reads and writes."""

import dataclasses

from estimator_trainer.cluster import topology
from estimator_trainer.settings.setting import setting


@dataclasses.dataclass(frozen=True)
class EvaluationConfig:
    """Evaluations, exports and predictions."""

    eval_distribute: str = setting(
        "Evaluation", "none", "Strategy for evaluation, which runs in one process.",
        choices=topology.ONE_PROCESS)
    eval_steps: int = setting(
        "Evaluation", 0, "Batches an evaluation takes; 0 = the whole set.", minimum=0)
    eval_set: tuple[str, ...] = setting(
        "Evaluation", (), "Further data to evaluate on, as NAME:param=value,param=value, the params"
        " of the input_fn that differ, or NAME:input_fn=PLUGIN. Repeatable.")
    eval_every_steps: int = setting(
        "Evaluation", 0,
        "Steps between evaluations (and so checkpoints); 0 = at every checkpoint.", minimum=0)
    num_evaluations: int = setting(
        "Evaluation", 10, "Checkpoints, and so evaluations, that are spread over --train_steps"
        " where nothing else says when to save; 0 = by time alone.", minimum=0)
    eval_throttle_secs: int = setting(
        "Evaluation", 0, "Least seconds from one evaluation's start to the next.", minimum=0)
    trial_metric: str = setting(
        "Evaluation", "", "Metric that a trial of a tuning job reports at each evaluation.")
    checkpoint: str = setting("Evaluation", "latest", "Checkpoint for `evaluate`, `predict` and"
                              " `export`: latest, best, average (of `average`), all (evaluate only)"
                              " or step=N.")

    exporters: tuple[str, ...] = setting(
        "Export and prediction", ("final",),
        "Comma-separated exporters: final, latest, best; or `none`.")
    exports_to_keep: int = setting(
        "Export and prediction", 5, "Exports that `latest` and `best` keep.", minimum=1)
    best_metric: str = setting(
        "Export and prediction", "loss", "Metric that decides which checkpoint is best; of an"
        " --eval_set NAME/METRIC.")
    best_mode: str = setting(
        "Export and prediction", "min", "Whether the lowest (min) or the highest (max) is best.",
        choices=("min", "max"))
    serving_input: str = setting(
        "Export and prediction", "raw",
        "What exports take, the default signature's first, with commas: raw, the features as"
        " tensors or JSON; example, serialized tf.Example protos; csv, lines without the label.")
    forward_key: str = setting(
        "Export and prediction", "",
        "Feature, or column that is no feature, such as customer_id: copied unchanged into"
        " predictions and exports, to tell instances apart.")
    export_dir: str = setting(
        "Export and prediction", "",
        "For `predict`: a SavedModel to predict with instead of a checkpoint.", is_path=True)
    data: str = setting(
        "Export and prediction", "", "For `predict`: the data to predict: files, a folder, or `-`"
        " for JSON lines on standard input; default: the input_fn's evaluation data.", is_path=True)
    with_inputs: bool = setting(
        "Export and prediction", False,
        "For `predict`: write texts, numbers and file names of the input beside the predictions.")
    all: bool = setting(
        "Export and prediction", False,
        "For `predict`: write everything that the model predicts, such as logits; without it, of a"
        " canned Estimator, the class, the probabilities, or the number.")
    output: str = setting(
        "Export and prediction", "", "For `predict`: the file to write, whose ending decides: .csv,"
        " .parquet, .feather or .jsonl; another one: the kind of --data. A folder, DIR/ or"
        " 'DIR/*.ENDING', gets a part for each file of --data. Default: JSON lines on standard"
        " output.", is_path=True)
    share: str = setting(
        "Export and prediction", "", "For `predict` into a folder: I/N, of N processes the share of"
        " process I, from 0. Default: by TF_CONFIG, a Slurm array, or ranks of Slurm or MPI.")
