"""The module that programs import from `tensorflow.examples.tutorials.mnist`."""
