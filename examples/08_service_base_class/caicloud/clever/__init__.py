"""What the service called its training."""
