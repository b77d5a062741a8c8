"""Jobs: all tasks of a job at once, on this machine (launch) or for a scheduler (manifest)."""
