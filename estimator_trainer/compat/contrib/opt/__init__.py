"""`tf.contrib.opt`: all of its optimizers."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.opt"
_OWN = {
    "adam_family": ("AdaMaxOptimizer", "AdamGSOptimizer", "LazyAdamGSOptimizer",
                    "LazyAdamOptimizer", "NadamOptimizer"),
    "agn": ("AGNOptimizer",),
    "decoupled_decay": ("AdamWOptimizer", "DecoupledWeightDecayExtension", "MomentumWOptimizer",
                        "ShampooWOptimizer", "extend_with_decoupled_weight_decay"),
    "elastic_average": ("ElasticAverageOptimizer",),
    "external_optimizer": ("ExternalOptimizerInterface", "ScipyOptimizerInterface"),
    "ggt": ("GGTOptimizer",),
    "matrix_functions": ("matrix_inverse_pth_root", "matrix_square_root"),
    "model_average": ("ModelAverageOptimizer",),
    "moving_average": ("MovingAverageOptimizer",),
    "rates": ("LARSOptimizer", "RegAdagradOptimizer"),
    "shampoo": ("GetParam", "ShampooOptimizer"),
    "sign": ("AddSignOptimizer", "PowerSignOptimizer", "get_cosine_decay_fn",
             "get_linear_decay_fn", "get_restart_decay_fn"),
    "step_wrappers": ("DropStaleGradientOptimizer", "MultitaskOptimizerWrapper",
                      "VariableClippingOptimizer", "clip_gradients_by_global_norm"),
    "worker_copies": ("AGNCustomGetter", "ElasticAverageCustomGetter", "GLOBAL_VARIABLE_NAME",
                      "GRAD_VARIABLE_NAME", "LOCAL_VARIABLE_NAME", "ModelAverageCustomGetter"),
}

NAMES = {name: f"{_HERE}.{module}.{name}" for module, names in _OWN.items() for name in names}
