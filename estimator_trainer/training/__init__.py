"""A training step, many steps in a loop, and the end of training."""
