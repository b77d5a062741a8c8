"""`tf.contrib.seq2seq`: decoders, their helpers, attention and beam search."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.seq2seq"
_PLACES = {
    "attention": ("AttentionMechanism", "BahdanauAttention", "LuongAttention", "hardmax"),
    "attention_wrapper": ("AttentionWrapper", "AttentionWrapperState"),
    "basic_decoder": ("BasicDecoder", "BasicDecoderOutput"),
    "beam_search": ("BeamSearchDecoder",),
    "beam_step": ("BeamSearchDecoderOutput", "BeamSearchDecoderState",
                  "FinalBeamSearchDecoderOutput"),
    "beam_tree": ("gather_tree", "tile_batch"),
    "decoder": ("Decoder", "dynamic_decode"),
    "helper": ("CustomHelper", "GreedyEmbeddingHelper", "Helper", "InferenceHelper",
               "SampleEmbeddingHelper", "TrainingHelper"),
    "loss": ("sequence_loss",),
    "monotonic_attention": ("BahdanauMonotonicAttention", "LuongMonotonicAttention",
                            "monotonic_attention", "safe_cumprod"),
    "scheduled_sampling": ("ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper"),
}
# Programs with mechanisms, helpers and decoders of their own take these from 1.15's modules.
_INNER_NAMES = {
    "_BaseAttentionMechanism": "attention.MemoryAttention",
    "_BaseMonotonicAttentionMechanism": "monotonic_attention.MonotonicAttention",
    "_bahdanau_score": "attention.bahdanau_score",
    "_beam_search_step": "beam_step.beam_search_step",
    "_check_batch_beam": "beam_tree.check_is_of_beams",
    "_compute_attention": "attention_wrapper.compute_attention",
    "_length_penalty": "beam_step.length_penalty",
    "_luong_score": "attention.luong_score",
    "_mask_probs": "beam_step.mask_probs",
    "_maybe_mask_score": "attention.mask_score",
    "_monotonic_probability_fn": "monotonic_attention.monotonic_probability_fn",
    "_prepare_memory": "attention.prepare_memory",
    "_transpose_batch_time": "tensors.transpose_batch_time",
    "_unstack_ta": "tensors.unstacked",
    "_zero_state_tensors": "tensors.zeros",
    "bernoulli_sample": "sampling.bernoulli_sample",
    "categorical_sample": "sampling.categorical_sample",
    "gather_tree_from_array": "beam_tree.gather_tree_from_array",
}
NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _PLACES.items() for name in names},
    **{name: f"{_HERE}.{place}" for name, place in _INNER_NAMES.items()},
}
