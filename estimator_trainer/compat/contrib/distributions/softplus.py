"""Distributions whose positive parameters are softplus(x) of what they get.

Follows the API of `tensorflow/contrib/distributions/python/ops/` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops.distributions import beta, exponential, gamma, laplace, normal, student_t

from estimator_trainer.compat.contrib.distributions import continuous, mvn

_V1 = tf.compat.v1


class BetaWithSoftplusConcentration(beta.Beta):
    """Beta of softplus(concentration1) and softplus(concentration0)."""

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "BetaWithSoftplusConcentration") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(
                tf.nn.softplus(concentration1, name="softplus_concentration1"),
                tf.nn.softplus(concentration0, name="softplus_concentration0"), validate_args,
                allow_nan_stats, name)
        self._parameters = parameters


class ExponentialWithSoftplusRate(exponential.Exponential):
    """Exponential of softplus(rate)."""

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "ExponentialWithSoftplusRate") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[rate]) as name:
            super().__init__(tf.nn.softplus(rate, name="softplus_rate"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(gamma.Gamma):
    """Gamma of softplus(concentration) and softplus(rate)."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "GammaWithSoftplusConcentrationRate") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[concentration, rate]) as name:
            super().__init__(tf.nn.softplus(concentration, name="softplus_concentration"),
                             tf.nn.softplus(rate, name="softplus_rate"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class InverseGammaWithSoftplusConcentrationRate(continuous.InverseGamma):
    """InverseGamma of softplus(concentration) and softplus(rate)."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "InverseGammaWithSoftplusConcentrationRate") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[concentration, rate]) as name:
            super().__init__(tf.nn.softplus(concentration, name="softplus_concentration"),
                             tf.nn.softplus(rate, name="softplus_rate"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class LaplaceWithSoftplusScale(laplace.Laplace):
    """Laplace of softplus(scale)."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "LaplaceWithSoftplusScale") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[loc, scale]) as name:
            super().__init__(loc, tf.nn.softplus(scale, name="softplus_scale"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class NormalWithSoftplusScale(normal.Normal):
    """Normal of softplus(scale)."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "NormalWithSoftplusScale") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[scale]) as name:
            super().__init__(loc, tf.nn.softplus(scale, name="softplus_scale"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(student_t.StudentT):
    """StudentT of floor(|df|) and softplus(scale)."""

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "StudentTWithAbsDfSoftplusScale") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[df, scale]) as name:
            super().__init__(tf.floor(tf.abs(df)), loc,
                             tf.nn.softplus(scale, name="softplus_scale"), validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalDiagWithSoftplusScale(mvn.MultivariateNormalDiag):
    """MultivariateNormalDiag of softplus(scale_diag)."""

    def __init__(self, loc: Any, scale_diag: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiagWithSoftplusScale") -> None:
        parameters = dict(locals())
        with _V1.name_scope(name, values=[scale_diag]) as name:
            super().__init__(loc, tf.nn.softplus(scale_diag), None, validate_args,
                             allow_nan_stats, name)
        self._parameters = parameters
