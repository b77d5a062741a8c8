"""Packs of what a training step sends between tasks: gradients, variables and rows."""
