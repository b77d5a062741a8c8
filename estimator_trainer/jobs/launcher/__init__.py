"""The launcher runs the tasks of a job as processes of this machine."""
