"""What would run, and every problem with it, found without TensorFlow."""
