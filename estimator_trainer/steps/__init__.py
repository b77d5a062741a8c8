"""Steps: a training step, many of them in a loop, and the last one."""
