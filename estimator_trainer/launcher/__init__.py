"""All tasks of a job on this machine, one process each."""
