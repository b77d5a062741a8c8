"""Coordination is what the tasks of a job tell each other, through files in model_dir."""
