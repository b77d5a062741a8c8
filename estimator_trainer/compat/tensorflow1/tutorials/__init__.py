"""What programs import from `tensorflow.examples.tutorials.mnist`."""
