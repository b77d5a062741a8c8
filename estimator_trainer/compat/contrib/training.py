"""`tf.contrib.training`: HParams, and the loops that are in tf_slim today."""

from __future__ import annotations

from estimator_trainer.compat.contrib import hparams

NAMES = {
    "HParams": hparams.HParams,
    "checkpoints_iterator": "tf.train.checkpoints_iterator",
    **{name: f"tf_slim.evaluation.{name}" for name in (
        "StopAfterNEvalsHook", "SummaryAtEndHook", "evaluate_once", "evaluate_repeatedly",
        "get_or_create_eval_step", "wait_for_new_checkpoint")},
    **{name: f"tf_slim.training.training.{name}" for name in (
        "add_gradients_summaries", "clip_gradient_norms", "create_train_op",
        "multiply_gradients", "train")},
    "FeedingQueueRunner": "tensorflow_estimator.python.estimator.inputs.queues"
                          ".feeding_queue_runner._FeedingQueueRunner",
}
INSTEAD = {
    "batch_sequences_with_states": "use tf.data",
    "bucket": "use tf.data.experimental.bucket_by_sequence_length",
    "bucket_by_sequence_length": "use tf.data.experimental.bucket_by_sequence_length",
    "rejection_sample": "use tf.data.experimental.rejection_resample",
    "resample_at_rate": "use tf.data.experimental.rejection_resample",
    "stratified_sample": "use tf.data.experimental.rejection_resample",
}
