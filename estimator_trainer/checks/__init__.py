"""The plan of a run, and every problem with it, found without TensorFlow."""
