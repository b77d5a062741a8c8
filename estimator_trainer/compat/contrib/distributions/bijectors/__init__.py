"""`tf.contrib.distributions.bijectors`, on the base class that TensorFlow still has."""

from tensorflow.python.ops.distributions.bijector import Bijector
from tensorflow.python.ops.distributions.identity_bijector import Identity

from estimator_trainer.compat.contrib.distributions.bijectors.affine import (Affine,
                                                                             AffineLinearOperator)
from estimator_trainer.compat.contrib.distributions.bijectors.composed import (Chain,
                                                                               ConditionalBijector,
                                                                               Inline, Invert)
from estimator_trainer.compat.contrib.distributions.bijectors.cumulative import (Gumbel,
                                                                                 Kumaraswamy,
                                                                                 Weibull)
from estimator_trainer.compat.contrib.distributions.bijectors.flows import (
    BatchNormalization, masked_autoregressive_default_template, masked_dense,
    MaskedAutoregressiveFlow, real_nvp_default_template, RealNVP)
from estimator_trainer.compat.contrib.distributions.bijectors.numbers import (AbsoluteValue,
                                                                              AffineScalar, Exp,
                                                                              PowerTransform,
                                                                              Sigmoid, SinhArcsinh,
                                                                              Softplus, Softsign,
                                                                              Square)
from estimator_trainer.compat.contrib.distributions.bijectors.vectors import (CholeskyOuterProduct,
                                                                              FillTriangular,
                                                                              MatrixInverseTriL,
                                                                              Ordered, Permute,
                                                                              Reshape, ScaleTriL,
                                                                              SoftmaxCentered,
                                                                              TransformDiagonal)

__all__ = [
    "AbsoluteValue", "Affine", "AffineLinearOperator", "AffineScalar", "BatchNormalization",
    "Bijector", "Chain", "CholeskyOuterProduct", "ConditionalBijector", "Exp", "FillTriangular",
    "Gumbel", "Identity", "Inline", "Invert", "Kumaraswamy", "MaskedAutoregressiveFlow",
    "MatrixInverseTriL", "Ordered", "Permute", "PowerTransform", "RealNVP", "Reshape", "ScaleTriL",
    "Sigmoid", "SinhArcsinh", "SoftmaxCentered", "Softplus", "Softsign", "Square",
    "TransformDiagonal", "Weibull", "masked_autoregressive_default_template", "masked_dense",
    "real_nvp_default_template"]
