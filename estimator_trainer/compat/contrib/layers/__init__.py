"""`tf.contrib.layers`: its layers are in tf_slim, its feature columns in this folder."""

from __future__ import annotations

# Functions of this package and of tf.contrib.framework that tf_slim has.
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
_HERE = "estimator_trainer.compat.contrib.layers"
_OWN = {
    "column_inputs": """
        check_feature_columns infer_real_valued_columns input_from_feature_columns
        joint_weighted_sum_from_feature_columns sequence_input_from_feature_columns
        transform_features weighted_sum_from_feature_columns""",
    "column_parsing": """
        create_feature_spec_for_parsing make_place_holder_tensors_for_base_features
        parse_feature_columns_from_examples parse_feature_columns_from_sequence_examples""",
    "columns": """
        sparse_column_with_hash_bucket sparse_column_with_integerized_feature
        sparse_column_with_keys sparse_column_with_vocabulary_file weighted_sparse_column
        _FeatureColumn _SparseColumn _SparseColumnHashed _SparseColumnIntegerized
        _SparseColumnKeys _SparseColumnVocabulary _SparseIdLookupConfig _WeightedSparseColumn""",
    "crosses": "sparse_feature_cross SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    "embedding_columns": """
        embedding_column one_hot_column scattered_embedding_column shared_embedding_columns
        _EmbeddingColumn _OneHotColumn _ScatteredEmbeddingColumn""",
    "embeddings": """
        embedding_lookup_sparse_with_distributed_aggregation embedding_lookup_unique
        safe_embedding_lookup_sparse scattered_embedding_lookup
        scattered_embedding_lookup_sparse""",
    "encoders": "bow_encoder embed_sequence",
    "numeric_columns": """
        bucketized_column crossed_column real_valued_column _BucketizedColumn _CrossedColumn
        _RealValuedColumn _RealValuedVarLenColumn""",
    "targets": "ProblemType binary_svm_target multi_class_target regression_target "
               "get_default_binary_metrics_for_eval",
}
OWN = {name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items()
       for name in names.split()}
NAMES = {
    **{name: f"tf_slim.{name}" for name in FUNCTIONS},
    **OWN,
    "_real_valued_var_len_column": f"{_HERE}.numeric_columns.real_valued_var_len_column",
    "_Transformer": f"{_HERE}.columns.Features",
    "_create_sequence_feature_spec_for_parsing": f"{_HERE}.column_parsing.sequence_feature_spec",
    "dense_to_sparse_tensor": f"{_HERE}.columns.dense_to_sparse",
    **{name: f"tf_slim.layers.sparse_ops.{name}" for name in (
        "indicators_to_sparse_ids", "sparse_row_envelope")},
    "_inner_flatten": "tf_slim.layers.layers._inner_flatten",
    "adaptive_clipping_fn": "tf_slim.layers.optimizers.adaptive_clipping_fn",
    "poincare_normalize": "tf_slim.layers.layers.poincare_normalize",
    "utils": "tf_slim.layers.utils",
    **{name: f"tf_slim.layers.utils.{name}" for name in (
        "collect_named_outputs", "convert_collection_to_dict", "append_tensor_alias",
        "channel_dimension", "constant_value", "gather_tensors_aliases", "get_tensor_aliases",
        "get_variable_collections", "last_dimension", "n_positive_integers", "smart_cond",
        "static_cond", "two_element_tuple")},
}
INSTEAD = {"DataFrameColumn": "use tf.contrib.layers.real_valued_column"}
