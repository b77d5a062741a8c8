"""A TensorFlow graph: its operations, its names, and the state that modules share in it."""
