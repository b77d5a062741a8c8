"""The record of a model_dir: what wrote it, and what a later run may change."""
