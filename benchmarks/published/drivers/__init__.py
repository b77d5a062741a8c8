"""Scripts that train an Estimator of a library, for `estimator-trainer run`.

Where a library's own example wants a cluster or data from elsewhere, these take its place. They
import TensorFlow, the library, and nothing of this project, as a user's script would.
"""
