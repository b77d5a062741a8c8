"""The service's name for its training."""
