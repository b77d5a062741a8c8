"""The starter is a model, its data and a test, for a user to begin with."""
