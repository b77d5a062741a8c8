"""All tasks of a job for a scheduler."""
