"""Estimator: the user's functions are adapted, and the Estimator is built from them."""
