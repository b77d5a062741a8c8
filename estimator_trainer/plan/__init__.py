"""A plan tells what would run, and all that speaks against it, without TensorFlow."""
