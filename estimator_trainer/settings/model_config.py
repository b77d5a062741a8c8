"""The settings of the model: the plug-ins, their params and the model_dir."""

import dataclasses

from estimator_trainer.settings.setting import setting


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    """The plug-ins with their params, and the directory of the model."""

    model_fn: str = setting("What to train", "cnn", "model_fn plug-in: a name in model_fns/, a"
                            " dotted module or a file; `:NAME` after it picks another function.")
    input_fn: str = setting("What to train", "digits", "input_fn plug-in, named the same way.")
    train_input_fn: str = setting(
        "What to train", "", "input_fn plug-in of training alone, in place of --input_fn.")
    eval_input_fn: str = setting(
        "What to train", "", "input_fn plug-in of evaluation and `predict` alone.")
    serving_input_fn: str = setting(
        "What to train", "", "Plug-in whose function returns the ServingInputReceiver of exports;"
        " default: the input_fn module's own, else derived from its data.")
    param: tuple[str, ...] = setting(
        "What to train", (), "A plug-in's param, as key=value. Repeatable; `list` shows them all.")
    params_file: str = setting("What to train", "", "JSON object of params. --param wins over it.",
                               is_path=True)
    plugin_flag: tuple[str, ...] = setting(
        "What to train", (), "An absl flag that a plug-in's module defines, as name=value."
        " Repeatable; or all of them after `--`: -- --name=value")
    model_dir: str = setting(
        "What to train", "",
        "Directory of checkpoints, evaluations and exports, shared by all tasks. Default:"
        " --job_dir, then $AIP_MODEL_DIR, then (in one process only) a new temporary directory.",
        is_path=True)
    tf1: bool = setting("What to train", False, "Give the plug-ins TensorFlow 1's names and"
                        " behaviour, and tf.contrib, by `import tensorflow`.")
    tf1_op_seeds: bool = setting(
        "What to train", True, "With --tf1: an op without a seed of its own takes it from the"
        " number of operations before it, as in TensorFlow 1.15; false: from the number of random"
        " ops, as in later versions.")
    allow_changed: tuple[str, ...] = setting(
        "What to train", (), "Params and settings, with commas, in which a resumed training may"
        " differ from record.json in model_dir, even where that changes its model or its data.")
