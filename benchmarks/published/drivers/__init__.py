"""Scripts that train an Estimator of a library, for `estimator-trainer run`.

These replace a library's own example if it needs a cluster or external data. They import
TensorFlow and the library, but nothing of this project, like a user's script.
"""
