"""A job has several tasks: `launch` runs them here, `manifest` writes them for a scheduler."""
