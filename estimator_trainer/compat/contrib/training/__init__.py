"""`tf.contrib.training`: HParams, queues, and the loops that are in tf_slim today."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.training"

NAMES = {
    **{name: f"{_HERE}.hparams.{name}" for name in ("HParams", "parse_values")},
    "HParamDef": f"{_HERE}.hparam_protos.HParamDef",
    **{name: f"{_HERE}.bucketing.{name}" for name in ("bucket", "bucket_by_sequence_length")},
    **{name: f"{_HERE}.sampling.{name}" for name in (
        "rejection_sample", "resample_at_rate", "stratified_sample", "weighted_resample")},
    **{name: f"{_HERE}.placement.{name}" for name in (
        "GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn")},
    "batch_sequences_with_states": f"{_HERE}.sequence_batches.batch_sequences_with_states",
    "_padding": f"{_HERE}.sequence_batches.padded",
    **{name: f"{_HERE}.state_saver.{name}" for name in (
        "NextQueuedSequenceBatch", "SequenceQueueingStateSaver")},
    "checkpoints_iterator": "tf.train.checkpoints_iterator",
    "evaluate_once": "tensorflow.python.training.evaluation._evaluate_once",
    **{name: f"tf_slim.evaluation.{name}" for name in (
        "StopAfterNEvalsHook", "SummaryAtEndHook", "get_or_create_eval_step",
        "wait_for_new_checkpoint")},
    "evaluate_repeatedly": "tf_slim.training.evaluation.evaluate_repeatedly",
    "clip_gradient_norms_fn": f"{_HERE}.gradients.clip_gradient_norms_fn",
    **{name: f"tf_slim.training.training.{name}" for name in (
        "add_gradients_summaries", "clip_gradient_norms", "create_train_op",
        "multiply_gradients", "train")},
    "FeedingQueueRunner": "tensorflow_estimator.python.estimator.inputs.queues"
                          ".feeding_queue_runner._FeedingQueueRunner",
}
