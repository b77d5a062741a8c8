"""Evaluation: a checkpoint is evaluated and exported, and the best one is kept."""
