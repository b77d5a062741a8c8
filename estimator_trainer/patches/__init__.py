"""Every place where this program changes TensorFlow's behaviour, or reads a private name."""
