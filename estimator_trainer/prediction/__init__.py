"""Prediction: new data in, answers out."""
