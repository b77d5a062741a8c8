"""Every patch of TensorFlow, by what it patches, and every private name of it, with the reason."""
