"""Model functions, one plug-in per module.

A module has, as the Estimator API defines it:

    DEFAULT_PARAMS = {"learning_rate": 0.1}   # a literal; gives --param its names and types

    DATA = "tables"                           # optional, for `list`: what the model is for
    LABELS = ("classes", "numbers")           # optional, what it learns; for `list` and `check`
    FIRST_PARAMS = ("learning_rate",)         # optional, for `list`: the params to set first

    def model_fn(features, labels, mode, params):
        return tf.estimator.EstimatorSpec(...)

`features` is what the input_fn yields, a dict of [batch, ...] tensors for the input_fns here;
`labels` is None in mode "infer". The loss is the mean over the batch that is passed to the
function: the Estimator averages gradients over synchronous replicas, so N replicas with 1/N of the
batch each take the same step as one process. A param of 0 documented as "from the data" gets its
value from the input_fn's `data_params`.
"""
