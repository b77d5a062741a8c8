"""`tf.contrib.distributions`, on the classes that TensorFlow still has in `tf.distributions`."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.distributions"
_CORE = "tensorflow.python.ops.distributions"
_MODULES = {
    "conditional": ("ConditionalDistribution", "ConditionalTransformedDistribution"),
    "continuous": ("Cauchy", "Chi2", "Chi2WithAbsDf", "HalfNormal", "InverseGamma", "Logistic"),
    "deterministic": ("Deterministic", "VectorDeterministic"),
    "discrete": ("Binomial", "Geometric", "NegativeBinomial", "Poisson"),
    "kumaraswamy": ("Kumaraswamy",),
    "mixtures": ("Mixture", "MixtureSameFamily"),
    "mvn": ("MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank",
            "MultivariateNormalFullCovariance", "MultivariateNormalTriL", "SinhArcsinh",
            "VectorExponentialDiag", "VectorLaplaceDiag", "VectorSinhArcsinhDiag"),
    "one_hot": ("ExpRelaxedOneHotCategorical", "OneHotCategorical", "RelaxedBernoulli",
                "RelaxedOneHotCategorical"),
    "quantized": ("QuantizedDistribution",),
    "reshaped": ("Autoregressive", "BatchReshape", "Independent"),
    "softplus": ("BetaWithSoftplusConcentration", "ExponentialWithSoftplusRate",
                 "GammaWithSoftplusConcentrationRate",
                 "InverseGammaWithSoftplusConcentrationRate", "LaplaceWithSoftplusScale",
                 "MultivariateNormalDiagWithSoftplusScale", "NormalWithSoftplusScale",
                 "StudentTWithAbsDfSoftplusScale"),
    "statistics": ("SeedStream", "assign_log_moving_mean_exp", "assign_moving_mean_variance",
                   "auto_correlation", "moving_mean_variance",
                   "normal_conjugates_known_scale_posterior",
                   "normal_conjugates_known_scale_predictive", "percentile"),
    "transformed": ("TransformedDistribution",),
    "wishart": ("WishartCholesky", "WishartFull"),
}
NAMES = {
    **{name: f"{_HERE}.{module}.{name}" for module, names in _MODULES.items() for name in names},
    **{name: f"{_CORE}.util.{name}" for name in (
        "fill_triangular", "fill_triangular_inverse", "matrix_diag_transform",
        "reduce_weighted_logsumexp", "softplus_inverse", "tridiag")},
    "bijectors": f"{_HERE}.bijectors",
}
MODULES = ("tf.distributions", f"{_HERE}.bijectors", f"{_HERE}.mvn")
DEFAULT = "use tensorflow_probability"
_BIJECTORS = "python.ops.bijectors"
INNER = {f"{_BIJECTORS}.{module}.{name}": f"{_HERE}.bijectors.{name}" for module, name in (
    ("kumaraswamy", "Kumaraswamy"), ("sinh_arcsinh", "SinhArcsinh"))}
