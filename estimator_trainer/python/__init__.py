"""Keywords, data in memory and errors of the Python functions in `estimator_trainer/api.py`."""
