"""`tf.contrib.slim`, which is the package tf_slim today."""

from __future__ import annotations

FUNCTIONS = """
    add_arg_scope add_model_variable apply_regularization arg_scope arg_scope_func_key
    arg_scoped_arguments assert_global_step assert_or_get_global_step assign_from_checkpoint
    assign_from_checkpoint_fn assign_from_values assign_from_values_fn avg_pool2d avg_pool3d
    batch_norm bias_add bucketize conv1d conv2d conv2d_in_plane conv2d_transpose conv3d
    conv3d_transpose convolution convolution1d convolution2d convolution2d_in_plane
    convolution2d_transpose convolution3d convolution3d_transpose create_global_step
    current_arg_scope dense_to_sparse dropout elu filter_variables flatten fully_connected gdn
    get_global_step get_local_variables get_model_variables get_or_create_global_step
    get_trainable_variables get_unique_variable get_variable_full_name get_variables
    get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
    group_norm has_arg_scope images_to_sequence instance_norm l1_l2_regularizer l1_regularizer
    l2_regularizer layer_norm legacy_fully_connected legacy_linear legacy_relu linear
    local_variable max_pool2d max_pool3d maxout model_variable one_hot_encoding optimize_loss pool
    recompute_grad relu relu6 repeat rev_block scale_gradient separable_conv2d
    separable_convolution2d sequence_to_images softmax spatial_softmax stack sum_regularizer
    summarize_activation summarize_activations summarize_biases summarize_collection
    summarize_tensor summarize_tensors summarize_variables summarize_weights unit_norm variable
    variance_scaling_initializer xavier_initializer xavier_initializer_conv2d
    GDN RevBlock VariableDeviceChooser OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES""".split()
_MODULES = """
    data evaluation initializers layers learning losses metrics nets optimizers queues
    regularizers summaries training""".split()

NAMES = {
    **{name: f"tf_slim.{name}" for name in (*FUNCTIONS, *_MODULES)},
    "data_decoder": "tf_slim.data.data_decoder",
    "dataset": "tf_slim.data.dataset",
    "dataset_data_provider": "tf_slim.data.dataset_data_provider",
    "model_analyzer": "tf_slim.model_analyzer",
    "parallel_reader": "tf_slim.data.parallel_reader",
    "prefetch_queue": "tf_slim.data.prefetch_queue",
    "tfexample_decoder": "tf_slim.data.tfexample_decoder",
}
DEFAULT = "copy it from tensorflow/models, research/slim, into the program"
