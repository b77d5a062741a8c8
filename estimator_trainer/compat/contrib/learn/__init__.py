"""`tf.contrib.learn`: the Estimator's ancestor, its canned models, Experiment and datasets."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.learn"
_MNIST = "estimator_trainer.compat.tensorflow1.tutorials.input_data"
_OWN = {
    "canned": """
        DNNClassifier DNNEstimator DNNLinearCombinedClassifier DNNLinearCombinedEstimator
        DNNLinearCombinedRegressor DNNRegressor LinearClassifier LinearEstimator LinearRegressor
        LogisticRegressor""",
    "class_heads": "binary_svm_head multi_class_head multi_label_head",
    "datasets": """
        DATASETS Dataset SYNTHETIC circles load_boston load_csv_with_header
        load_csv_without_header load_dataset load_iris make_dataset maybe_download retry
        shrink_csv spirals urlretrieve_with_retry""",
    "estimator": "BaseEstimator Estimator Evaluable NotFittedError Trainable",
    "experiment": "Experiment run tune",
    "exports": """
        ExportStrategy InputFnOps build_default_serving_input_fn build_parsing_serving_input_fn
        garbage_collect_exports get_most_recent_export get_timestamped_export_dir
        make_best_model_export_strategy make_export_strategy make_parsing_export_strategy""",
    "feeder": """
        DataFeeder StreamingDataFeeder extract_pandas_data extract_pandas_labels
        extract_pandas_matrix HAS_PANDAS setup_train_data_feeder""",
    "graph_actions": "infer run_feeds run_feeds_iter run_n",
    "graph_io": """
        queue_parsed_features read_batch_examples read_batch_features read_batch_record_features
        read_keyed_batch_examples read_keyed_batch_features""",
    "heads": """
        Head loss_only_head multi_head no_op_train_fn poisson_regression_head regression_head""",
    "keys": "Environment MetricKey ModeKeys PredictionKey ProblemType TaskType",
    "kmeans": "KMeansClustering",
    "linear_models": """
        bidirectional_rnn categorical_variable embedding_lookup get_rnn_model linear_regression
        linear_regression_zero_init logistic_regression logistic_regression_zero_init
        mean_squared_error_regressor softmax_classifier""",
    "metric_spec": "MetricSpec",
    "model_fn": "ModelFnOps",
    "monitors": """
        BaseMonitor EveryN RunHookAdapterForMonitors StopAtStep ValidationMonitor
        replace_monitors_with_hooks""",
    "reports": """
        CaptureVariable CheckpointSaver LoggingTrainable NanLoss NanLossDuringTrainingError
        PrintTensor StepCounter SummarySaver get_default_monitors""",
    "scores": "accuracy_score mean_squared_error train_test_split",
    "run_config": "ClusterConfig RunConfig",
    "sklearn_interface": """
        SKCompat infer_real_valued_columns_from_input infer_real_valued_columns_from_input_fn""",
    "text": """
        ByteProcessor CategoricalProcessor CategoricalVocabulary TOKENIZER_RE VocabularyProcessor
        tokenizer""",
}
NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items()
       for name in names.split()},
    **{name: f"{_MNIST}.{name}" for name in ("DataSet", "load_mnist", "read_data_sets")},
    "Datasets": f"{_MNIST}.Datasets",
    "coordinator": "tensorflow.python.training.coordinator",
    **{f"_{name}": f"{_HERE}.{module}.{name}" for module, name in (
        ("class_heads", "binary_svm_head"), ("class_heads", "multi_class_head"),
        ("class_heads", "multi_label_head"), ("heads", "multi_head"),
        ("heads", "poisson_regression_head"), ("heads", "regression_head"))},
    **{name: f"tf.estimator.inputs.{name}" for name in ("numpy_input_fn", "pandas_input_fn")},
    **{name: f"tf.train.{name}" for name in (
        "CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook", "FinalOpsHook",
        "GlobalStepWaiterHook", "LoggingTensorHook", "MonitoredSession", "NanTensorHook",
        "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues",
        "StepCounterHook", "StopAtStepHook", "SummarySaverHook")},
}
_LOOP = "use tf.estimator.train_and_evaluate with TrainSpec and EvalSpec"
INSTEAD = {
    "DynamicRnnEstimator": "use tf.contrib.estimator.RNNEstimator",
    "SVM": "use tf.estimator.experimental.LinearSDCA with a hinge loss",
    "StateSavingRnnEstimator": "use tf.contrib.estimator.RNNEstimator",
    "evaluate": _LOOP,
    "extract_dask_data": "call compute() of the data",
    "extract_dask_labels": "call compute() of the data",
    "read_keyed_batch_examples_shared_queue": "use tf.contrib.learn.read_keyed_batch_examples",
    "read_keyed_batch_features_shared_queue": "use tf.contrib.learn.read_keyed_batch_features",
    "train": _LOOP,
}
DEFAULT = "use tf.estimator"
