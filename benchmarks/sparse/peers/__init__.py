"""The ways to train the model: one program each, and what they share."""
