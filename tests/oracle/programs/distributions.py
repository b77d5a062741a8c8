"""tf.contrib.distributions; samples are compared by their shapes."""

from _ended import outcome as _error
import numpy as np
import tensorflow as tf

ds = tf.contrib.distributions
tfb = ds.bijectors
SOAK = ("an_autoencoder_is_trained", "batch_reshaped", "kl_divergences", "mixture_of_vectors",
        "mixture_same_family", "quantized", "sampled_shapes", "samples_of_the_graphs_seed",
        "vectors_of_laplace", "vectors_of_sinh_arcsinh", "wishart")


def _all(distribution, values, *names):
    """Returns what a distribution says about values, and its statistics."""
    found = {"shapes": [str(distribution.batch_shape), str(distribution.event_shape)],
             "dtype": distribution.dtype, "sample": distribution.sample([5, 2]).shape,
             "name": distribution.name, "log_prob": distribution.log_prob(values),
             "prob": distribution.prob(values)}
    for name in names:
        method = getattr(distribution, name)
        found[name] = method(values) if name in (
            "cdf", "log_cdf", "survival_function", "log_survival_function") else method()
    return found


STATISTICS = ("mean", "variance", "stddev", "mode", "entropy")


def cauchy():
    return _all(ds.Cauchy([0., 1.], [1., 2.]), [.5, -3.], "cdf", "log_cdf", "entropy", "mode",
                "survival_function", "mean")


def chi2():
    return _all(ds.Chi2([1., 4.]), [.5, 3.], "cdf", "mean", "variance", "mode", "entropy")


def logistic():
    return _all(ds.Logistic([0., 1.], 2.), [.5, -3.], "cdf", "log_cdf", "survival_function",
                "log_survival_function", *STATISTICS)


def half_normal():
    return _all(ds.HalfNormal([1., 3.]), [.5, -1.], "cdf", *STATISTICS)


def inverse_gamma():
    return _all(ds.InverseGamma([3., 1.5], [1., 2.]), [.5, 3.], "cdf", *STATISTICS)


def kumaraswamy():
    return _all(ds.Kumaraswamy([2., 3.], [3., 4.]), [.25, .7], "cdf", *STATISTICS)


def sinh_arcsinh():
    return _all(ds.SinhArcsinh([0., 1.], 2., skewness=.5, tailweight=[1., 2.]), [.5, -3.], "cdf")


def poisson():
    return [_all(ds.Poisson([1., 4.5]), [2., 3.], "cdf", "log_cdf", "mean", "variance", "mode"),
            ds.Poisson(log_rate=1.).rate, _error(ds.Poisson), _error(ds.Poisson, 1),
            _error(ds.Poisson, 1., 2.)]


def negative_binomial():
    return _all(ds.NegativeBinomial([5., 2.], logits=[.5, -1.]), [2., 3.], "cdf", "mean",
                "variance", "mode")


def geometric():
    return _all(ds.Geometric(probs=[.2, .5]), [2., 3.], "cdf", *STATISTICS)


def binomial():
    return _all(ds.Binomial([4., 5.], probs=[.2, .5]), [2., 3.], "cdf", "mean", "variance",
                "stddev", "mode")


def one_hot_categorical():
    return _all(ds.OneHotCategorical(probs=[[.2, .3, .5], [.1, .8, .1]]), [[1, 0, 0], [0, 0, 1]],
                "variance", "mode", "entropy", "covariance")


def relaxed_one_hot():
    return [_all(ds.ExpRelaxedOneHotCategorical(.5, logits=[.2, .3, .5]), [-1., -2., -.7]),
            _all(ds.RelaxedOneHotCategorical(.5, logits=[[.2, .3, .5]] * 2), [.1, .2, .7])]


def relaxed_bernoulli():
    return _all(ds.RelaxedBernoulli(.5, probs=[.2, .9]), [.3, .6], "cdf")


def deterministic():
    return [_all(ds.Deterministic([0., 2.], atol=.5), [.25, 3.], "cdf", *STATISTICS),
            _all(ds.VectorDeterministic([0., 2.]), [[0., 2.], [0., 1.]], "mean", "entropy")]


def softplus_parameters():
    return [each.log_prob(.5) for each in (
        ds.BetaWithSoftplusConcentration(1., 2.), ds.ExponentialWithSoftplusRate(1.),
        ds.GammaWithSoftplusConcentrationRate(1., 2.), ds.LaplaceWithSoftplusScale(1., 2.),
        ds.InverseGammaWithSoftplusConcentrationRate(1., 2.), ds.NormalWithSoftplusScale(0., -1.),
        ds.StudentTWithAbsDfSoftplusScale(-3.5, 0., 1.), ds.Chi2WithAbsDf(-3.5))] + [
            ds.MultivariateNormalDiagWithSoftplusScale([0., 1.], [-1., 1.]).log_prob([.5, .5]),
            ds.NormalWithSoftplusScale(0., -1.).name]


def mixture():
    mixed = ds.Mixture(ds.Categorical(probs=[.3, .7]), [ds.Normal(0., 1.), ds.Normal(2., 3.)])
    return [_all(mixed, [.5, 3.], "cdf", "log_cdf", "mean", "stddev", "variance"),
            mixed.entropy_lower_bound()]


def mixture_of_vectors():
    mixed = ds.Mixture(
        ds.Categorical(probs=[[.3, .7], [.5, .5]]),
        [ds.MultivariateNormalDiag(np.zeros([2, 3], np.float32) + shift) for shift in (0., 1.)])
    return _all(mixed, [.5, 1., 2.], "mean")


def mixture_mistakes():
    cat, normal = ds.Categorical(probs=[.3, .7]), ds.Normal(0., 1.)
    return [_error(ds.Mixture, cat, []), _error(ds.Mixture, cat, [normal]),
            _error(ds.Mixture, normal, [normal, normal]), _error(ds.Mixture, cat, [normal, 3]),
            _error(ds.Mixture, cat, [normal, ds.Poisson(np.float64(1.))]),
            _error(ds.Mixture, cat, [normal, ds.Normal([0., 1.], 1.)])]


def mixture_same_family():
    mixed = ds.MixtureSameFamily(ds.Categorical(probs=[.3, .7]), ds.Normal([0., 2.], [1., 3.]))
    vectors = ds.MixtureSameFamily(
        ds.Categorical(probs=[.3, .7]),
        ds.MultivariateNormalDiag([[0., 1.], [2., 3.]], scale_identity_multiplier=[1., 2.]))
    return [_all(mixed, [.5, 3.], "cdf", "mean", "variance", "stddev"),
            _all(vectors, [.5, 3.], "mean", "variance", "covariance"),
            _error(ds.MixtureSameFamily, ds.Categorical(probs=[.3, .7]),
                   ds.Normal([0., 1., 2.], 1.))]


def independent():
    inner = ds.Normal([[0., 1.], [2., 3.]], 1.)
    return [_all(ds.Independent(inner), [.5, .5], "mean", "variance", "stddev", "mode", "entropy"),
            _all(ds.Independent(inner, reinterpreted_batch_ndims=2), [.5, .5]),
            _error(ds.Independent, inner, 3)]


def batch_reshaped():
    inner = ds.MultivariateNormalDiag(np.arange(12, dtype=np.float32).reshape(6, 2))
    reshaped = ds.BatchReshape(inner, [2, 3])
    return [_all(reshaped, np.ones([2, 3, 2], np.float32), "mean", "variance", "covariance",
                 "entropy"), _error(ds.BatchReshape, inner, [4]),
            _error(reshaped.log_prob, np.ones([2], np.float32))]


def quantized():
    plain = ds.QuantizedDistribution(ds.Normal(0., 2.))
    limited = ds.QuantizedDistribution(ds.Logistic(0., 2.), low=-1., high=2.)
    return [_all(each, [-3., -1., 0., 2., 4.], "cdf", "log_cdf", "survival_function")
            for each in (plain, limited)]


def autoregressive():
    def conditional(x=None):
        loc = tf.zeros([3]) if x is None else tf.concat(
            [tf.zeros_like(x[..., :1]), x[..., :-1]], -1)
        return ds.Independent(ds.Normal(loc, 1.), reinterpreted_batch_ndims=1)
    return _all(ds.Autoregressive(conditional), [.5, 1., 2.])


def mvn_diag():
    return [_all(each, [.5, 1.], *STATISTICS[:4], "covariance", "entropy") for each in (
        ds.MultivariateNormalDiag([1., 2.], [.5, 2.]),
        ds.MultivariateNormalDiag([1., 2.], [.5, 2.], scale_identity_multiplier=2.))] + [
            ds.MultivariateNormalDiag([1., 2.]).log_prob([0., 0.]),
            _error(ds.MultivariateNormalDiag)]


def mvn_tril_and_covariance():
    tril = np.array([[1., 0.], [.5, 2.]], np.float32)
    return [_all(each, [.5, 1.], *STATISTICS[:4], "covariance", "entropy") for each in (
        ds.MultivariateNormalTriL([1., 2.], tril),
        ds.MultivariateNormalFullCovariance([1., 2.], tril.dot(tril.T)))] + [
            _error(ds.MultivariateNormalTriL)]


def mvn_plus_low_rank():
    return _all(ds.MultivariateNormalDiagPlusLowRank(
        [1., 2., 3.], [.5, 2., 1.], scale_perturb_factor=[[1.], [.5], [.2]],
        scale_perturb_diag=[.7]), [.5, 1., 2.], "mean", "variance", "covariance")


def vectors_of_laplace():
    found = [_all(each, [2.5, 3.], *STATISTICS[:4], "covariance") for each in (
        ds.VectorLaplaceDiag([1., 2.], [.5, 2.]), ds.VectorExponentialDiag([1., 2.], [.5, 2.]))]
    return [{key: each[key] for key in each if key != "name"} for each in found]


def vectors_of_sinh_arcsinh():
    return _all(ds.VectorSinhArcsinhDiag([1., 2.], [.5, 2.], skewness=.3, tailweight=2.), [.5, 1.])


def wishart():
    scale = np.array([[2., .5], [.5, 1.]], np.float32)
    value = np.array([[3., 1.], [1., 2.]], np.float32)
    full = ds.WishartFull(4., scale)
    chol = ds.WishartCholesky(4., np.linalg.cholesky(scale), cholesky_input_output_matrices=True)
    return [_all(full, value, *STATISTICS), full.mean_log_det(), full.log_normalization(),
            _all(chol, np.linalg.cholesky(value), "mean", "variance", "mode", "entropy"),
            _error(ds.WishartFull, 1., scale)]


def transformed():
    log_normal = ds.TransformedDistribution(ds.Normal([0., 1.], 1.), tfb.Exp(), name="LogNormal")
    shifted = ds.TransformedDistribution(ds.Normal(0., 1.), tfb.Affine(
        [1., 2.], scale_tril=[[1., 0.], [.5, 2.]]), event_shape=[2])
    batched = ds.TransformedDistribution(ds.Normal(0., 1.), tfb.AffineScalar([1., 2.], 3.),
                                         batch_shape=[2])
    folded = ds.TransformedDistribution(ds.Normal(1., 1.), tfb.AbsoluteValue())
    return [_all(log_normal, [.5, 3.], "cdf", "log_cdf", "survival_function"),
            _all(shifted, [.5, 3.], "entropy"), _all(batched, [.5, 3.], "cdf", "entropy"),
            _all(folded, [.5, 3.]), log_normal.quantile([.3, .6]), _error(log_normal.entropy),
            _error(ds.TransformedDistribution, ds.Normal([0., 1.], 1.), tfb.Exp(), [2])]


def transformed_batch_of_events():
    each = ds.TransformedDistribution(ds.Normal([0., 1., 2.], 1.), tfb.Softplus(), event_shape=[2])
    return _all(each, np.ones([3, 2], np.float32))


def kl_divergences():
    tril = np.array([[1., 0.], [.5, 2.]], np.float32)
    a, b = ds.MultivariateNormalDiag([1., 2.], [.5, 2.]), ds.MultivariateNormalTriL([0., 1.], tril)
    return [ds.kl_divergence(a, b), ds.kl_divergence(b, a), b.kl_divergence(b),
            a.cross_entropy(b),
            ds.kl_divergence(ds.OneHotCategorical(probs=[.2, .8]),
                             ds.OneHotCategorical(probs=[.5, .5])),
            ds.kl_divergence(ds.Independent(ds.Normal([0., 1.], 1.), 1),
                             ds.Independent(ds.Normal([1., 1.], 2.), 1)),
            _error(ds.kl_divergence, a, ds.Cauchy(0., 1.))]


def sampled_shapes():
    seed = dict(seed=3)
    return [str(each.sample([2], **seed).shape) for each in (
        ds.Poisson([1., 2.]), ds.Geometric(probs=.5), ds.NegativeBinomial([1., 2.], probs=.5),
        ds.Logistic(0., [1., 2.]), ds.RelaxedOneHotCategorical(.5, probs=[[.5, .5]] * 3))]


def samples_under_seeds():
    return [ds.MultivariateNormalDiag([1., 2.], [.5, 2.]).sample(2, seed=3),
            ds.Logistic([0., 1.], 1.).sample(2, seed=3), ds.HalfNormal(2.).sample(2, seed=3),
            ds.Cauchy(0., 1.).sample(3, seed=3), ds.Geometric(probs=.3).sample(3, seed=5)]


def gradients():
    loc, scale = tf.constant([1., 2.]), tf.constant([.5, 2.])
    mvn = ds.MultivariateNormalDiag(loc, scale)
    mixed = ds.MixtureSameFamily(ds.Categorical(logits=loc), ds.Normal(loc, scale))
    return [tf.gradients(mvn.log_prob([0., 0.]), [loc, scale]),
            tf.gradients(mixed.log_prob(.3), [loc, scale]),
            tf.gradients(ds.kl_divergence(mvn, ds.MultivariateNormalDiag([0., 0.])), [loc, scale])]


def copies_and_parameters():
    mvn = ds.MultivariateNormalDiag([1., 2.], [.5, 2.], name="mine")
    return [repr(mvn), str(mvn), sorted(mvn.parameters), mvn.copy(loc=[0., 0.]).mean(),
            isinstance(mvn, ds.Distribution), isinstance(mvn, ds.TransformedDistribution),
            ds.Poisson(2.).copy(rate=3.).mean()]


def dynamic_shapes():
    loc = tf.placeholder_with_default(np.zeros([2, 3], np.float32), [None, 3])
    mvn = ds.MultivariateNormalDiag(loc, tf.ones([3]))
    wild = ds.Logistic(tf.placeholder_with_default(np.zeros([2], np.float32), None), 1.)
    return [str(mvn.batch_shape), str(mvn.event_shape), mvn.batch_shape_tensor(),
            mvn.log_prob(tf.ones([3])), mvn.mean(), tf.shape(mvn.sample(4)),
            str(wild.batch_shape), wild.batch_shape_tensor(), wild.log_prob([1., 2.])]


def validated_arguments():
    def run(make):
        with tf.Session() as session:
            session.run(make())
        return "fine"
    return [_error(run, make) for make in (
        lambda: ds.Logistic(0., -1., validate_args=True).mean(),
        lambda: ds.Poisson(-1., validate_args=True).mean(),
        lambda: ds.Poisson(1., validate_args=True).log_prob(1.5),
        lambda: ds.Binomial(4., probs=.5, validate_args=True).log_prob(5.),
        lambda: ds.MultivariateNormalDiag([0., 0.], [1., 0.], validate_args=True).sample(),
        lambda: ds.Logistic(0., -1.).mean())]


def percentiles():
    x = np.array([[1., 5., 2.], [7., 3., 4.]], np.float32)
    return [ds.percentile(x, 50.), ds.percentile(x, 30., interpolation="lower"),
            ds.percentile(x, 30., interpolation="higher"), ds.percentile(x, 50., axis=[1]),
            ds.percentile(x, 10., axis=0, keep_dims=True), ds.percentile([1, 2, 3, 4], 75),
            _error(ds.percentile, x, 50., interpolation="linear"),
            _error(ds.percentile, x, 50., axis=[3])]


def auto_correlations():
    x = np.sin(np.arange(12, dtype=np.float32)).reshape(2, 6)
    return [ds.auto_correlation(x), ds.auto_correlation(x, axis=0, center=False),
            ds.auto_correlation(x, max_lags=2, normalize=False),
            _error(ds.auto_correlation, [1, 2])]


def moving_statistics():
    mean, variance = ds.moving_mean_variance(tf.constant([1., 2.]), .9)
    return [mean, variance]


def moving_assignments():
    mean = tf.get_variable("mean", initializer=[1., 2.])
    variance = tf.get_variable("variance", initializer=[1., 1.])
    log_mean = tf.get_variable("log_mean", initializer=[0., 1.])
    return [ds.assign_moving_mean_variance(mean, variance, [2., 2.], .5)[1],
            ds.assign_log_moving_mean_exp(log_mean, [1., 1.], .9)]


def conjugates():
    prior = ds.Normal([0., 1.], [1., 2.])
    after = ds.normal_conjugates_known_scale_posterior(prior, 2., tf.constant([3., 4.]), 5)
    following = ds.normal_conjugates_known_scale_predictive(prior, 2., tf.constant([3., 4.]), 5)
    return [after.mean(), after.stddev(), following.mean(), following.stddev(),
            _error(ds.normal_conjugates_known_scale_posterior, 3, 2., tf.constant(1.), 5)]


def functions_of_matrices():
    return [ds.fill_triangular([1., 2., 3., 4., 5., 6.]),
            ds.fill_triangular_inverse([[4., 0.], [5., 6.]]), ds.softplus_inverse([.5, 20.]),
            ds.tridiag([1., 2.], [3., 4., 5.], [6., 7.]),
            ds.matrix_diag_transform([[1., 2.], [3., 4.]], tf.nn.softplus),
            ds.reduce_weighted_logsumexp([1., 2.], w=[.5, -.1])]


def seed_streams():
    first, second = ds.SeedStream(3, "salt"), ds.SeedStream(None, "salt")
    return [first() % 1000003, first() % 1000003, second(), first.original_seed, first.salt]


def mixture_of_the_same_family():
    mixture = ds.MixtureSameFamily(ds.Categorical(probs=[.3, .7]), ds.Normal([-1., 1.], [.1, .5]))
    return [mixture.log_cdf([-9., 0., 1.]), mixture.cdf([0., 1.])]


def from_modules():
    from tensorflow.contrib.distributions.python.ops import bijectors
    from tensorflow.contrib.distributions.python.ops.bijectors.affine import Affine
    from tensorflow.contrib.distributions.python.ops.mvn_diag import MultivariateNormalDiag
    from tensorflow.python.ops.distributions import transformed_distribution
    return [Affine is tfb.Affine, MultivariateNormalDiag is ds.MultivariateNormalDiag,
            bijectors.Exp is tfb.Exp,
            transformed_distribution.TransformedDistribution is ds.TransformedDistribution]


def an_autoencoder_is_trained():
    images = tf.round(tf.random_uniform([4, 6]))
    hidden = tf.layers.dense(images, 5, tf.nn.relu)
    encoded = ds.MultivariateNormalDiag(tf.layers.dense(hidden, 2),
                                        tf.layers.dense(hidden, 2, tf.nn.softplus))
    prior = ds.MultivariateNormalDiag(tf.zeros(2), tf.ones(2))
    decoded = ds.Independent(ds.Bernoulli(logits=tf.layers.dense(encoded.sample(), 6)), 1)
    loss = tf.reduce_mean(ds.kl_divergence(encoded, prior) - decoded.log_prob(images))
    train = tf.train.AdamOptimizer(.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(tf.trainable_variables()), session.run([loss, train])[0]]


def samples_of_the_graphs_seed():
    kinds = (
        lambda: ds.MultivariateNormalDiag([0., 1.], [1., 2.]),
        lambda: ds.MultivariateNormalDiag(tf.zeros([3, 2]), tf.ones([3, 2])),
        lambda: ds.MultivariateNormalTriL([0., 1.], [[1., 0.], [1., 2.]]),
        lambda: ds.VectorLaplaceDiag([0., 1.], [1., 2.]),
        lambda: ds.VectorSinhArcsinhDiag([0., 1.], [1., 2.], skewness=.3),
        lambda: ds.TransformedDistribution(ds.Normal(0., 1.), ds.bijectors.Exp()),
        lambda: ds.TransformedDistribution(
            ds.Normal(0., 1.), ds.bijectors.AffineScalar(1., 2.), event_shape=[2]),
        lambda: ds.OneHotCategorical(probs=[.3, .7]),
        lambda: ds.ExpRelaxedOneHotCategorical(.5, logits=[.1, .9]),
        lambda: ds.RelaxedOneHotCategorical(.5, logits=[.1, .9]),
        lambda: ds.RelaxedBernoulli(.5, probs=[.2, .8]), lambda: ds.SinhArcsinh(0., 1.),
        lambda: ds.Kumaraswamy(2., 3.), lambda: ds.WishartFull(4., tf.eye(2)),
        lambda: ds.Logistic(0., 1.), lambda: ds.Deterministic(1.))
    return [[kind().sample(2), tf.random_uniform([2])] for kind in kinds]
