"""All tasks of a job for a scheduler; each platform has a module."""
