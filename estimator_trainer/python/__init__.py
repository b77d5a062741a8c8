"""What the functions of `estimator_trainer/api.py` have in common, and no command has."""
