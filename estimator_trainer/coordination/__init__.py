"""Coordination of the tasks of a job, through files in model_dir."""
