"""`tf.contrib.layers`: its layers are in tf_slim, its feature columns in this folder."""

from __future__ import annotations

from estimator_trainer.compat.contrib import slim

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
    **{name: slim.NAMES[name] for name in slim.FUNCTIONS},
    **OWN,
    "_real_valued_var_len_column": f"{_HERE}.numeric_columns.real_valued_var_len_column",
    "_Transformer": f"{_HERE}.columns.Features",
    "_create_sequence_feature_spec_for_parsing": f"{_HERE}.column_parsing.sequence_feature_spec",
    "dense_to_sparse_tensor": f"{_HERE}.columns.dense_to_sparse",
    "utils": "tf_slim.layers.utils",
    **{name: f"tf_slim.layers.utils.{name}" for name in (
        "collect_named_outputs", "convert_collection_to_dict", "append_tensor_alias",
        "gather_tensors_aliases", "get_tensor_aliases", "smart_cond")},
}
INSTEAD = {"DataFrameColumn": "use tf.contrib.layers.real_valued_column"}
