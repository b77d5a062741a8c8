"""Runs a whole script as a task of a job: its Estimator trains in the role of the task."""
