"""Plan: what would run, and all that speaks against it, known without TensorFlow."""
