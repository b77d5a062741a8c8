"""The input of a training step: batches, tensors as datasets, prefetch."""
