"""Code shared by the model_fns here; any other model_fn may use each module by itself.

    from model_fns.training import classifier

    DEFAULT_PARAMS = {**classifier.DEFAULT_PARAMS, "hidden_units": 100}

    def model_fn(features, labels, mode, params):
        logits = ...
        return classifier.spec(logits, labels, mode, params)

  schedules   learning rates as functions of the global step
  optimizers  optimizers by name, and clipping, accumulation, averages wrapped around them
  averages    moving averages of the variables, for evaluation and export
  update      from a loss to the EstimatorSpec of mode "train"
  classifier  from logits to the EstimatorSpec of any mode
  head        the same, for classes and numbers, with the metrics of canned Estimators
  columns     feature columns of any mixture of categories and numbers
  fields      their embeddings and scaled numbers
  one_layer   a network of one hidden layer
  tower       hidden layers with dropout
  class_names names of classes in predictions and exports
  errors      the error for wrong params

A module's DEFAULT_PARAMS are the params that it reads, with their defaults and units.
"""
