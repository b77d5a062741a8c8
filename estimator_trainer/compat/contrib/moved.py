"""Small packages of `tf.contrib`: modules that moved unchanged, and packages of a few names."""

from __future__ import annotations

from typing import Any, NamedTuple


class Table(NamedTuple):
    """The fields of a package that `compat/tensorflow1/namespace.py` reads."""

    NAMES: dict[str, Any]
    MODULES: tuple[str, ...] = ()
    INSTEAD: dict[str, str] = {}
    DEFAULT: str = ""


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes the configuration of TensorBoard's projector beside a summary writer's events."""
    from tensorboard.plugins import projector
    projector.visualize_embeddings(summary_writer.get_logdir(), config)


GONE = Table({})
# Modules that did not change.
WHOLE = {
    "keras": "tf.keras",
    "lite": "tf.lite",
    "nccl": "tensorflow.python.ops.nccl_ops",
    "signal": "tf.signal",
}
TABLES = {
    "autograph": Table({
        **{name: f"tensorflow.python.autograph.impl.api.{name}" for name in (
            "AutoGraphError", "convert", "converted_call", "do_not_convert", "to_code",
            "to_graph")},
        **{name: f"tensorflow.python.autograph.core.converter.{name}" for name in (
            "ConversionOptions", "Feature")},
        **{name: f"tensorflow.python.autograph.lang.directives.{name}" for name in (
            "set_element_type", "set_loop_options")},
        "stack": "tensorflow.python.autograph.lang.special_functions.stack"}, ("tf.autograph",)),
    "batching": Table({"batch_function": "tf.nondifferentiable_batch_function"}),
    "gan": Table({name: f"tensorflow_gan.{name}" for name in (
        "CycleGANModel", "GANLoss", "GANModel", "GANTrainOps", "GANTrainSteps", "InfoGANModel",
        "cyclegan_loss", "cyclegan_model", "estimator", "eval", "features", "gan_loss",
        "gan_model", "gan_train", "gan_train_ops", "get_joint_train_hooks",
        "get_sequential_train_hooks", "get_sequential_train_steps", "infogan_model", "losses")}),
    "hooks": Table({"ProfilerHook": "tf.train.ProfilerHook"}),
    "input_pipeline": Table({}, (), {}, "use tf.data"),
    "linalg": Table({"LinearOperatorTriL": "tf.linalg.LinearOperatorLowerTriangular"},
                    ("tf.linalg",)),
    "linear_optimizer": Table({}, (), {
        "SDCAOptimizer": "use tf.estimator.experimental.LinearSDCA"}),
    "losses": Table({name: f"tf_slim.losses.{name}" for name in (
        "absolute_difference", "add_loss", "cluster_loss", "compute_weighted_loss",
        "contrastive_loss", "cosine_distance", "get_losses", "get_regularization_losses",
        "get_total_loss", "hinge_loss", "lifted_struct_loss", "log_loss",
        "mean_pairwise_squared_error", "mean_squared_error", "npairs_loss",
        "npairs_loss_multilabel", "sigmoid_cross_entropy", "softmax_cross_entropy",
        "sparse_softmax_cross_entropy", "triplet_semihard_loss")}),
    "proto": Table({name: f"tf.io.{name}" for name in ("decode_proto", "encode_proto")}),
    "periodic_resample": Table({}, (), {}, "use tf.nn.depth_to_space, or tf.reshape and "
                                           "tf.transpose, as TensorFlow has no kernel for it now"),
    "resampler": Table({
        "resampler": "estimator_trainer.compat.contrib.image.resampling.resampler"}),
    "sparsemax": Table({
        name: f"estimator_trainer.compat.contrib.nn.sparsemax.{name}" for name in (
            "sparsemax", "sparsemax_loss")}),
    "staging": Table({"StagingArea": "tensorflow.python.ops.data_flow_ops.StagingArea"}),
    "stateless": Table({f"stateless_{old}": f"tf.random.stateless_{new}" for old, new in (
        ("multinomial", "multinomial"), ("random_normal", "normal"),
        ("random_uniform", "uniform"), ("truncated_normal", "truncated_normal"))}),
    "tensorboard": Table({
        "ProjectorConfig": "tensorboard.plugins.projector.ProjectorConfig",
        "EmbeddingInfo": "tensorboard.plugins.projector.EmbeddingInfo",
        "visualize_embeddings": visualize_embeddings}),
    "tensorrt": Table({"create_inference_graph":
                       "tensorflow.python.compiler.tensorrt.trt_convert.create_inference_graph"}),
    "util": Table({
        **{name: f"tensorflow.python.framework.meta_graph.{name}" for name in (
            "ops_used_by_graph_def", "stripped_op_list_for_graph")},
        "make_ndarray": "tf.make_ndarray", "make_tensor_proto": "tf.make_tensor_proto",
        "constant_value": "tf.get_static_value",
        "load_op_library": "tf.load_op_library"}),
}
