"""tf.contrib.distributions where shapes are not known, or arguments are checked."""

import numpy as np
import tensorflow as tf

ds = tf.contrib.distributions
tfb = ds.bijectors
SOAK = (
    "binomial", "shapes_of_numbers", "shapes_of_vectors", "half_normal", "undefined_statistics",
    "negative_binomial_and_geometric", "deterministic", "one_hot", "mixture",
    "mixture_of_unknown_shapes", "mixture_same_family", "mixture_same_family_mistakes",
    "independent", "divergences_of_independents", "batch_reshape",
    "batch_reshape_of_unknown_shapes", "batch_reshape_mistakes", "quantized", "autoregressive",
    "operators_of_normals", "vectors", "sinh_arcsinh", "vectors_of_sinh_arcsinh", "transformed",
    "transformed_mistakes", "wishart", "statistics")


def _unknown(value, shape=None):
    """Returns a tensor whose shape is not known in the graph."""
    return tf.placeholder_with_default(np.asarray(value, np.float32), shape)


def _whole(value, shape=None):
    return tf.placeholder_with_default(np.asarray(value, np.int32), shape)


def _ran(*makes):
    """Returns what each function's tensors are, or the names of errors."""
    found = []
    for make in makes:
        try:
            made = make()
            with tf.Session() as session:
                found.append(session.run(made) if tf.contrib.framework.is_tensor(made)
                             or isinstance(made, list) else _text(made))
        except Exception as error:  # pylint: disable=broad-except
            found.append(type(error).__name__)
    return found


def _text(value):
    return type(value).__name__ if " object at " in str(value) else str(value)


def _shapes(distribution, *names):
    found = [str(distribution.batch_shape), str(distribution.event_shape),
             distribution.batch_shape_tensor(), distribution.event_shape_tensor(),
             tf.shape(distribution.sample([2, 3])), str(distribution.sample([2, 3]).shape)]
    return found + [getattr(distribution, name)() for name in names]


def binomial():
    for_all = ds.Binomial(5., probs=[.2, .5])
    odd = ds.Binomial([4., 5., 6.], logits=[.2, -.5, 3.], validate_args=True)
    return [[each.log_prob(2.), each.prob([[1.], [3.]]), each.cdf(4.), each.mean(),
             each.variance(), each.stddev(), each.mode(), each.log_cdf(1.), each.name,
             each.survival_function(3.), str(each.batch_shape), each.batch_shape_tensor(),
             each.event_shape_tensor()] for each in (for_all, odd)] + _ran(
                 lambda: for_all.sample(2), lambda: for_all.log_prob(2.5),
                 lambda: odd.log_prob(2.5), lambda: odd.log_prob(-1.), lambda: odd.cdf(7.),
                 lambda: for_all.entropy(), lambda: ds.Binomial([1., 2.]),
                 lambda: ds.Binomial(5.5, probs=.5, validate_args=True).mean(),
                 lambda: ds.Binomial(-5., probs=.5, validate_args=True).mean(),
                 lambda: ds.Binomial(5, probs=.5).mean())


def shapes_of_numbers():
    parameter = _unknown([1.5, 2.])
    return [_shapes(each, "mean") for each in (
        ds.Logistic(parameter, 2.), ds.HalfNormal(parameter), ds.Chi2(parameter),
        ds.InverseGamma(parameter, 1.), ds.Poisson(parameter), ds.Geometric(parameter),
        ds.Kumaraswamy(parameter, 2.), ds.NegativeBinomial(parameter, 1.),
        ds.Deterministic(parameter), ds.RelaxedBernoulli(.5, parameter))[:-1]] + [
            _shapes(ds.RelaxedBernoulli(.5, parameter)), _shapes(ds.Cauchy(0., parameter)),
            _shapes(ds.SinhArcsinh(parameter, 1.)), _shapes(ds.SinhArcsinh(parameter, 1., .5))]


def shapes_of_vectors():
    vectors = _unknown([[.5, 1., 2.], [1., 0., 3.]])
    rows = _unknown([[.5, 1., 2.], [1., 0., 3.]], [None, 3])
    found = []
    for each in (vectors, rows):
        found += [_shapes(ds.OneHotCategorical(each), "mode"),
                  _shapes(ds.ExpRelaxedOneHotCategorical(.5, each)),
                  _shapes(ds.RelaxedOneHotCategorical(.5, each))]
    return found


def shapes_of_static_parameters():
    return [sorted(each.param_shapes([3, 4]).items()) for each in (
        ds.Logistic, ds.HalfNormal)] + _ran(*[
            lambda each=each: sorted((key, str(value)) for key, value in each.param_static_shapes(
                [3, 4]).items()) for each in (
                    ds.Logistic, ds.HalfNormal, ds.Chi2, ds.Cauchy, ds.InverseGamma,
                    ds.RelaxedBernoulli, ds.OneHotCategorical, ds.ExpRelaxedOneHotCategorical)]) + (
        _ran(lambda: ds.Poisson.param_shapes([3]), lambda: ds.Geometric.param_shapes([3]),
             lambda: ds.Kumaraswamy.param_shapes([3]), lambda: ds.Binomial.param_shapes([3]),
             lambda: ds.NegativeBinomial.param_shapes([3]),
             lambda: ds.Autoregressive.param_shapes([3])))


def cauchy():
    strict = ds.Cauchy([0., 1.], 2., allow_nan_stats=False)
    loose = ds.Cauchy([0., 1.], 2.)
    return [loose.mean(), loose.stddev(), loose.variance(), loose.quantile([.25, .5]),
            strict.log_survival_function(.5)] + _ran(
                strict.mean, strict.stddev, strict.variance)


def half_normal():
    half = ds.HalfNormal([1., 3.], validate_args=True)
    return [half.quantile([.25, .9]), half.log_cdf([.5, 2.]), half.survival_function(1.),
            half.cdf(-1.), half.scale] + _ran(
                lambda: ds.HalfNormal(0., validate_args=True).mean(),
                lambda: half.log_prob(-1.), lambda: ds.HalfNormal(1).mean())


def undefined_statistics():
    return _ran(*[getattr(each, name) for name in ("mode", "mean", "variance") for each in (
        ds.InverseGamma([.5, 3.], 1., allow_nan_stats=False), ds.InverseGamma([.5, 3.], 1.),
        ds.Kumaraswamy([.5, 3.], 2., allow_nan_stats=False), ds.Kumaraswamy([.5, 3.], 2.),
        ds.Kumaraswamy(3., .5, allow_nan_stats=False),
        ds.Chi2([1., 3.], allow_nan_stats=False), ds.Chi2([1., 3.]))])


def negative_binomial_and_geometric():
    strict = ds.Geometric(probs=[.5, 1.], validate_args=True)
    return _ran(strict.entropy, strict.mean,
                lambda: strict.log_prob(1.5), lambda: strict.log_prob(0.),
                lambda: ds.Geometric(probs=.5).log_prob([1.5, -1.]),
                lambda: ds.Geometric(probs=.5).cdf([1.5, -1.]),
                lambda: ds.NegativeBinomial(-1., .5, validate_args=True).mean(),
                lambda: ds.NegativeBinomial([.5, 3.], 2.).mode(),
                lambda: ds.NegativeBinomial([.5, 3.], 2., validate_args=True).log_prob(-1.),
                lambda: ds.NegativeBinomial([.5, 3.], 2.).log_prob([1.5, 2.]),
                lambda: ds.NegativeBinomial([.5, 3.], 2.).log_cdf([1., 2.]))


def deterministic():
    strict = ds.Deterministic([0., 2.], atol=_unknown(-1.), validate_args=True)
    vector = ds.VectorDeterministic([0., 2.], validate_args=True)
    dynamic = ds.VectorDeterministic(_unknown(1.), validate_args=True)
    return _ran(lambda: strict.prob([0., 1.]), lambda: vector.prob([0., 2.]),
                lambda: vector.prob([[0., 2.], [1., 2.]]),
                lambda: vector.prob(_unknown([1., 2., 3.])),
                lambda: vector.prob(1.), lambda: ds.VectorDeterministic(1., validate_args=True),
                lambda: ds.VectorDeterministic(1.), dynamic.mean, dynamic.batch_shape_tensor,
                lambda: ds.VectorDeterministic([0., 2.], rtol=.5).prob([[0., 1.5], [0., 3.5]]),
                lambda: ds.VectorDeterministic([0., 2.]).log_prob([0., 2.]),
                lambda: ds.Deterministic(2., rtol=.5).cdf([0., 1.5, 3.5]),
                lambda: ds.Deterministic([1, 2]).prob([1, 1]),
                lambda: ds.Deterministic([1, 2]).sample(2))


def one_hot():
    logits = [[.2, .3, .5], [1., 0., -1.]]
    strict = ds.OneHotCategorical(logits, validate_args=True)
    exp = ds.ExpRelaxedOneHotCategorical(_unknown(.5), logits, validate_args=True)
    return _ran(lambda: strict.log_prob([[1, 0, 0], [0, 1, 0]]), lambda: strict.log_prob([1, 0, 0]),
                lambda: exp.log_prob(tf.nn.log_softmax(logits)), lambda: exp.log_prob([1., 2., 3.]),
                lambda: exp.log_prob([-1., -2., -3.]), lambda: exp.event_size,
                lambda: ds.ExpRelaxedOneHotCategorical(0., logits, validate_args=True).logits,
                lambda: ds.OneHotCategorical(logits, dtype=tf.float32).sample(1).dtype,
                lambda: ds.OneHotCategorical(logits).prob([0, 1, 0]),
                lambda: ds.OneHotCategorical(logits).event_size,
                lambda: ds.OneHotCategorical(3.), lambda: strict.cross_entropy(strict),
                lambda: strict.log_prob(tf.one_hot([[0, 1], [2, 2]], 3)),
                lambda: ds.RelaxedBernoulli(.5, .2, validate_args=True).log_prob([.2, .9]),
                lambda: ds.RelaxedBernoulli(_unknown(-1.), .2, validate_args=True).log_prob(.2))


def mixture():
    cat = ds.Categorical(probs=[[.3, .7], [.5, .5]])
    parts = [ds.Normal([0., 1.], 1.), ds.Normal([2., 3.], 3.)]
    static = ds.Mixture(cat, parts, use_static_graph=True)
    vectors = ds.Mixture(cat, [ds.MultivariateNormalDiag([[0., 1.]] * 2, [1., 2.]),
                               ds.VectorDeterministic([[0., 1.]] * 2)], use_static_graph=True)
    return [_shapes(static, "mean", "stddev"), static.sample(2, seed=5),
            ds.Mixture(cat, parts).sample(2, seed=5), _shapes(vectors), static.log_cdf(.5),
            static.num_components, static.entropy_lower_bound()]


def mixture_of_unknown_shapes():
    logits, loc = _unknown([[.3, .7], [.5, .5]]), _unknown([0., 1.])
    some = ds.Mixture(ds.Categorical(logits=_unknown([[.3, .7], [.5, .5]], [None, 2])), [
        ds.Normal(loc, 1.), ds.Normal(loc, 3.)], validate_args=True)
    wrong = ds.Mixture(ds.Categorical(logits=_unknown([[.3, .7]] * 3, [None, 2])), [
        ds.Normal(loc, 1.), ds.Normal(loc, 3.)], validate_args=True)
    cat = ds.Categorical(probs=[.3, .7])
    return _ran(lambda: _shapes(some, "mean"), lambda: some.log_prob([.5, 1.]), some.stddev,
                lambda: wrong.log_prob([.5, 1.]),
                lambda: ds.Mixture(cat, ds.Normal(0., 1.)),
                lambda: ds.Mixture(ds.Categorical(logits=logits), [ds.Normal(loc, 1.)] * 2),
                lambda: ds.Mixture(cat, [ds.VectorDeterministic(loc)] * 2),
                lambda: ds.Mixture(cat, {1: 2}), lambda: ds.Mixture(3, [ds.Normal(0., 1.)]))


def mixture_same_family():
    cat = ds.Categorical(probs=[.3, .7])
    loc = _unknown([[0., 1.], [2., 3.], [1., 1.]])
    dynamic = ds.MixtureSameFamily(cat, ds.Normal(loc, 1.))
    batches = ds.MixtureSameFamily(ds.Categorical(_unknown([[.3, .7]] * 3)), ds.Normal(loc, 1.))
    events = ds.MixtureSameFamily(cat, ds.MultivariateNormalDiag([[0., 1.], [2., 3.]]))
    return _ran(*[make for each in (dynamic, batches, events) for make in (
        lambda each=each: _shapes(each), lambda each=each: each.log_prob(.5), each.mean,
        each.variance, each.covariance, lambda each=each: each.cdf(.5))])


def mixture_same_family_mistakes():
    cat, normals = ds.Categorical(probs=[.3, .7]), ds.Normal([[0., 1.], [2., 3.], [1., 1.]], 1.)
    return _ran(lambda: ds.MixtureSameFamily(ds.Normal(0., 1.), normals),
                lambda: ds.MixtureSameFamily(ds.OneHotCategorical(probs=[.3, .7]), normals),
                lambda: ds.MixtureSameFamily(ds.Categorical([[.3, .7]] * 2), normals),
                lambda: ds.MixtureSameFamily(cat, ds.Normal(0., 1.)),
                lambda: ds.MixtureSameFamily(cat, normals).covariance(),
                lambda: ds.MixtureSameFamily(cat, ds.WishartFull(
                    3., [[[1., 0.], [0., 1.]]] * 2)).covariance())


def independent():
    loc = _unknown([[0., 1.], [2., 3.]])
    rows = _unknown([[0., 1.], [2., 3.]], [None, 2])
    return _ran(*[make for each in (
        ds.Independent(ds.Normal(loc, 1.), validate_args=True),
        ds.Independent(ds.Normal(loc, 1.), reinterpreted_batch_ndims=1, validate_args=True),
        ds.Independent(ds.Normal(loc, 1.), reinterpreted_batch_ndims=_whole(2), validate_args=True),
        ds.Independent(ds.Normal(rows, 1.), reinterpreted_batch_ndims=_whole(1)),
        ds.Independent(ds.Normal(loc, 1.), reinterpreted_batch_ndims=3, validate_args=True),
        ds.Independent(ds.Normal(rows, 1.)),
        ds.Independent(ds.MultivariateNormalDiag(rows, [1., 2.]), 1)) for make in (
            lambda each=each: _shapes(each), lambda each=each: each.log_prob([.5, 1.]), each.mean,
            each.entropy, each.mode, each.variance, each.stddev)])


def divergences_of_independents():
    loc = _unknown([[0., 1.], [2., 3.]])

    def normal(shape, ndims=None):
        return ds.Independent(ds.Normal(tf.zeros(shape), 1.), ndims)
    mvn = ds.MultivariateNormalDiag(tf.zeros([2, 2]))
    return _ran(lambda: ds.kl_divergence(ds.Independent(ds.Normal(loc, 1.)), normal([2, 2])),
                lambda: ds.kl_divergence(normal([2, 3]), normal([2, 2])),
                lambda: ds.kl_divergence(normal([2, 2], 2), ds.Independent(mvn, 1)),
                lambda: ds.kl_divergence(ds.Independent(mvn, 1), ds.Independent(mvn, 1)),
                lambda: ds.kl_divergence(normal([2, 2]), normal([2, 2], 2)),
                lambda: ds.kl_divergence(normal([4, 2, 2]), normal([4, 2, 2])))


def batch_reshape():
    inner = ds.Normal(np.arange(6, dtype=np.float32), 2.)
    x = np.ones([4, 2, 3], np.float32)
    mvn = ds.MultivariateNormalDiag(np.arange(12, dtype=np.float32).reshape(6, 2))
    plain, strict = ds.BatchReshape(inner, [2, 3]), ds.BatchReshape(inner, [2, -1], True)
    vectors = ds.BatchReshape(mvn, [3, -1], validate_args=True)
    return _ran(lambda: _shapes(plain), lambda: _shapes(strict), lambda: _shapes(vectors),
                vectors.covariance, vectors.stddev, vectors.mean, plain.mode, *[
                    lambda name=name, each=each: getattr(each, name)(x) for each in (plain, strict)
                    for name in ("cdf", "log_cdf", "survival_function", "log_survival_function",
                                 "prob")] + [
                    getattr(strict, name) for name in ("entropy", "mean", "mode", "stddev")])


def batch_reshape_of_unknown_shapes():
    inner = ds.Normal(_unknown(np.arange(6.)), 2.)
    x = np.ones([4, 2, 3], np.float32)
    found = []
    for shape in ([2, 3], [2, -1], _whole([2, 3]), _whole([-1, 3]), _whole([2, 3], [None]),
                  _whole([-1, -1]), _whole([4, -1]), _whole([2, 2]), _whole(6)):
        for strict in (False, True)[not isinstance(shape, list):]:
            def make(shape=shape, strict=strict):
                return ds.BatchReshape(inner, shape, validate_args=strict)
            found += _ran(lambda: make().batch_shape, lambda: make().batch_shape_tensor())
            found += _ran(lambda: make().mean(), lambda: make().log_prob(x),
                          lambda: make().log_prob(_unknown(x)),
                          lambda: make().log_prob(_unknown(x[0, 0])),
                          lambda: make().log_prob(_unknown(x[:, :, :2])))
    return found


def batch_reshape_mistakes():
    inner = ds.Normal(np.arange(6, dtype=np.float32), 2.)
    reshaped = ds.BatchReshape(inner, [2, 3])
    return _ran(lambda: ds.BatchReshape(inner, 6), lambda: ds.BatchReshape(inner, [[6]]),
                lambda: ds.BatchReshape(inner, [-2, 3]), lambda: ds.BatchReshape(inner, [0, 3]),
                lambda: ds.BatchReshape(inner, [-2, -3]), lambda: ds.BatchReshape(inner, [4]),
                lambda: ds.BatchReshape(inner, [6.]), lambda: reshaped.log_prob([1., 2., 3.]),
                lambda: reshaped.log_prob(1.),
                lambda: reshaped.log_prob(np.ones([2, 2], np.float32)),
                lambda: ds.BatchReshape(inner, [4, -1]), lambda: ds.BatchReshape(inner, [-1, -1]),
                lambda: ds.BatchReshape(inner, [4, -1]).mean())


def quantized():
    plain = ds.QuantizedDistribution(ds.Normal(_unknown([0., 1.]), 2.), low=-2., high=3.)
    strict = ds.QuantizedDistribution(ds.Normal([0., 1.], 2.), low=-2., high=3., validate_args=True)
    one_sided = ds.QuantizedDistribution(ds.Exponential([.5, 1.]), high=3.)
    import_gamma = ds.QuantizedDistribution(ds.StudentT(4., [.5, 1.], 2.), low=0.)
    return [_shapes(plain), strict.low, plain.high, plain.distribution.name,
            plain.log_prob([1., 2.]), one_sided.log_prob([1., 3.]), one_sided.cdf([[1.5], [3.]]),
            import_gamma.prob([0., 2.]), one_sided.low, plain.log_survival_function([-2., 1.])] + (
                _ran(lambda: strict.prob([1., 2.]), lambda: strict.prob([1.5, 2.]),
                     lambda: strict.cdf([1.5, 2.]), lambda: strict.log_prob([4., 2.]),
                     plain.mean, plain.entropy,
                     lambda: ds.QuantizedDistribution(ds.Normal(0., 1.), low=.5, validate_args=True)
                     .prob(1.),
                     lambda: ds.QuantizedDistribution(ds.Normal(0., 1.), 3., 1., validate_args=True)
                     .prob(1.),
                     lambda: ds.QuantizedDistribution(ds.MultivariateNormalDiag([0., 1.]))
                     .prob([1., 1.]), lambda: ds.QuantizedDistribution(3),
                     lambda: ds.QuantizedDistribution(ds.Poisson(3.)).prob([1., 2.])))


def autoregressive():
    def of(loc):
        return lambda x=None: ds.Independent(
            ds.Normal(loc if x is None else .5 * x, 1.), reinterpreted_batch_ndims=1)
    dynamic = ds.Autoregressive(of(_unknown([0., 0., 1.])), sample0=tf.zeros([3]), num_steps=2)
    return _ran(lambda: _shapes(dynamic), lambda: dynamic.log_prob([1., 2., 3.]),
                lambda: _shapes(ds.Autoregressive(of(tf.zeros([2, 3])))),
                lambda: ds.Autoregressive(of(_unknown([0., 0., 1.]))),
                lambda: ds.Autoregressive(of(tf.zeros([3])), num_steps=0),
                lambda: ds.Autoregressive(of(tf.zeros([3])), sample0=tf.ones([3])).num_steps,
                lambda: ds.Autoregressive(of(tf.zeros([3]))).prob([1., 2., 3.]))


def operators_of_normals():
    diag = tf.linalg.LinearOperatorDiag(_unknown([1., 2.]))
    return _ran(lambda: _shapes(ds.MultivariateNormalLinearOperator([0., 1.], diag), "mean",
                                "covariance", "entropy", "mode", "stddev"),
                lambda: _shapes(ds.MultivariateNormalLinearOperator(_unknown([[0., 1.]] * 3), diag),
                                "variance"),
                lambda: ds.MultivariateNormalLinearOperator([0., 1.]),
                lambda: ds.MultivariateNormalLinearOperator(
                    scale=tf.linalg.LinearOperatorDiag([1, 2])),
                lambda: ds.MultivariateNormalLinearOperator(
                    scale=tf.linalg.LinearOperatorIdentity(2, [3]), loc=2.).log_prob([1., 2.]),
                lambda: ds.MultivariateNormalDiagPlusLowRank(
                    [0., 1.], scale_identity_multiplier=2.,
                    scale_perturb_factor=[[1.], [2.]]).covariance(),
                lambda: ds.MultivariateNormalTriL([0., 1.]).covariance(),
                lambda: ds.MultivariateNormalFullCovariance([0., 1.]).covariance(),
                lambda: ds.MultivariateNormalFullCovariance(
                    [0., 1.], [[2., .5], [.5, 1.]], validate_args=True).stddev(),
                lambda: ds.MultivariateNormalFullCovariance(
                    [0., 1.], [[2., .5], [.6, 1.]], validate_args=True).stddev(),
                lambda: ds.MultivariateNormalFullCovariance(
                    [0., 1.], [[2., 3.], [3., 1.]], validate_args=True).stddev(),
                lambda: ds.MultivariateNormalDiag(scale_identity_multiplier=2.),
                lambda: ds.MultivariateNormalDiag([0., 1., 2.], [1., 2.]),
                lambda: ds.MultivariateNormalDiag(3., [1., 2.]).mean(),
                lambda: ds.MultivariateNormalTriL([0., 1.], [[1., 0.], [1., 0.]],
                                                  validate_args=True).sample())


def vectors():
    found = []
    for each in (ds.VectorLaplaceDiag, ds.VectorExponentialDiag):
        found += _ran(*[make for one in (
            each(_unknown([[1., 2.]] * 3), [.5, 2.]), each([1., 2.], scale_identity_multiplier=2.),
            each(None, [.5, 2.])) for make in (
                lambda one=one: _shapes(one, "mean", "mode", "stddev", "variance", "covariance"),
                lambda one=one: one.log_prob([3., 4.]), one.entropy)])
    return found


def sinh_arcsinh():
    loc = _unknown([0., 1.])
    return _ran(lambda: ds.SinhArcsinh(loc, 2., skewness=.5, validate_args=True).log_prob(.5),
                lambda: _shapes(ds.SinhArcsinh(loc, 2., tailweight=_unknown([1., 2.]))),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Laplace(0., 1.)).log_prob(.5),
                lambda: ds.SinhArcsinh(0., 2., .1, .5, ds.Logistic(0., 1.), True).cdf(.5),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Laplace(np.float64(0.), 1.)),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Laplace([0., 1.], 1.)),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.MultivariateNormalDiag([0., 1.])),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Poisson(1.), validate_args=True),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Laplace(loc, 1.),
                                       validate_args=True).log_prob(.5),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Laplace(_unknown(0.), 1.),
                                       validate_args=True).log_prob(.5),
                lambda: ds.SinhArcsinh(0., 2., distribution=ds.Laplace(_unknown(0.), 1.),
                                       ).log_prob(.5))


def vectors_of_sinh_arcsinh():
    return _ran(*[lambda args=args: _shapes(ds.VectorSinhArcsinhDiag(**args)) for args in (
        dict(loc=[1., 2.], scale_diag=[.5, 2.], skewness=[.1, .2]),
        dict(loc=[1., 2.], skewness=[[.1, .2]] * 3), dict(scale_diag=[.5, 2.], tailweight=[2., 3.]),
        dict(loc=_unknown([[1., 2.]] * 3), scale_diag=[.5, 2.], skewness=.5),
        dict(loc=[1., 2.], scale_diag=[.5, 2.], skewness=_unknown([[.1, .2]] * 3)),
        dict(scale_identity_multiplier=2., loc=[1., 2.], distribution=ds.Laplace(0., 1.)),
        dict(), dict(scale_diag=[1., 0.], validate_args=True))]) + _ran(
            lambda: ds.VectorSinhArcsinhDiag([1., 2.], [.5, 2.], skewness=[.1, .2]).log_prob(
                [1., 1.]),
            lambda: ds.VectorSinhArcsinhDiag([1., 2.], [.5, 2.], skewness=_unknown(
                [[.1, .2]] * 3)).log_prob([1., 1.]),
            lambda: ds.VectorSinhArcsinhDiag([1., 2.], [.5, 0.], validate_args=True
                                             ).log_prob([1., 1.]))


def transformed():
    base, scalar = ds.Normal(_unknown([0., 1.]), 1.), ds.Normal(_unknown(0.), 1.)
    found = []
    for make in (
            lambda: ds.TransformedDistribution(base, tfb.Exp()),
            lambda: ds.TransformedDistribution(scalar, tfb.Exp(), batch_shape=[2]),
            lambda: ds.TransformedDistribution(scalar, tfb.Exp(), [2], validate_args=True),
            lambda: ds.TransformedDistribution(base, tfb.Exp(), [2], validate_args=True),
            lambda: ds.TransformedDistribution(scalar, tfb.Affine([1., 2.]), event_shape=[2]),
            lambda: ds.TransformedDistribution(base, tfb.Affine([1., 2., 3.]), event_shape=[3]),
            lambda: ds.TransformedDistribution(ds.Normal(0., 1.), tfb.Affine([1., 2.]),
                                               event_shape=_whole([2])),
            lambda: ds.TransformedDistribution(ds.Normal(0., 1.), tfb.Affine([1., 2.]), _whole([3]),
                                               _whole([2]), validate_args=True),
            lambda: ds.TransformedDistribution(ds.Normal([0., 1.], 1.), tfb.Exp(), _whole([])),
            lambda: ds.TransformedDistribution(ds.Normal([0., 1.], 1.), tfb.Exp(), [])):
        found += _ran(lambda: _shapes(make()), lambda: make().log_prob([.5, 1.]),
                      lambda: make().prob([[.5, 1.]]), lambda: make().cdf([.5, 1.]),
                      lambda: make().entropy(), lambda: make().log_survival_function([.5, 1.]))
    return found


def transformed_mistakes():
    normal = ds.Normal(0., 1.)
    shifted = ds.TransformedDistribution(normal, tfb.Affine([1., 2.]), event_shape=[2])
    folded = ds.TransformedDistribution(normal, tfb.AbsoluteValue())
    return _ran(lambda: ds.TransformedDistribution(normal, tfb.Exp(), [2.]),
                lambda: ds.TransformedDistribution(normal, tfb.Exp(), [[2]]),
                lambda: ds.TransformedDistribution(normal, tfb.Exp(), [0]),
                lambda: ds.TransformedDistribution(normal, tfb.Exp(), [-1]),
                lambda: ds.TransformedDistribution(normal, tfb.Exp(), 2),
                lambda: ds.TransformedDistribution(normal, tfb.Exp(), _whole([0]),
                                                   validate_args=True).batch_shape_tensor(),
                lambda: ds.TransformedDistribution(normal, tfb.Exp(), _whole([2], [None]),
                                                   validate_args=True).batch_shape_tensor(),
                lambda: ds.TransformedDistribution(ds.Normal([0., 1.], 1.), tfb.Exp(), _whole(
                    [2], [None]), validate_args=True).batch_shape_tensor(),
                lambda: shifted.cdf([1., 1.]), lambda: shifted.quantile([.5, .5]),
                lambda: shifted.survival_function([1., 1.]), lambda: folded.cdf(1.),
                lambda: folded.quantile(.5), folded.entropy, lambda: folded.log_prob([1., 2.]),
                lambda: folded.prob([1., 2.]), lambda: folded.log_survival_function(1.),
                lambda: ds.TransformedDistribution(normal).log_prob(1.),
                lambda: ds.TransformedDistribution(normal).name, folded.mean, folded.mode,
                lambda: ds.TransformedDistribution(normal, tfb.Exp()).log_survival_function(
                    [.5, 3.]))


def conditional():
    class Shifted(ds.ConditionalDistribution):
        def __init__(self):
            super(Shifted, self).__init__(tf.float32, ds.FULLY_REPARAMETERIZED, False, True,
                                          name="Shifted")

        def _batch_shape(self):
            return tf.TensorShape([])

        _event_shape = _batch_shape

        def _batch_shape_tensor(self):
            return tf.constant([], tf.int32)

        _event_shape_tensor = _batch_shape_tensor

        def _sample_n(self, n, seed=None, by=0.):
            return tf.ones([n]) + by

        def _log_prob(self, x, by=0.):
            return -tf.abs(x - by)

        def _cdf(self, x, by=0.):
            return tf.sigmoid(x - by)

    shifted = Shifted()
    return _ran(lambda: shifted.sample([2], by=3.), *[
        lambda name=name: getattr(shifted, name)(1., by=2.) for name in (
            "log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")])


def wishart():
    scale = np.array([[2., .5], [.5, 1.]], np.float32)
    dynamic = ds.WishartFull(_unknown([3., 4.]), _unknown(scale), validate_args=True)
    cholesky = ds.WishartCholesky(4., np.linalg.cholesky(scale), validate_args=True)
    factor = ds.WishartCholesky(4., np.linalg.cholesky(scale), True)
    return _ran(lambda: _shapes(dynamic, "mean", "stddev", "entropy", "mode"), dynamic.scale,
                cholesky.scale, factor.scale, factor.stddev, factor.variance,
                lambda: dynamic.log_prob(scale), dynamic.mean_log_det, cholesky.stddev,
                lambda: ds.WishartFull(1., _unknown(scale), validate_args=True).mean(),
                lambda: ds.WishartFull(_unknown(1.), scale, validate_args=True).mean(),
                lambda: ds.WishartFull(_unknown(1.), scale).mean(),
                lambda: ds.WishartFull(3, [[1, 0], [0, 1]]),
                lambda: ds.WishartFull(3., [[2., 1.], [.5, 1.]], validate_args=True).mean(),
                lambda: ds.WishartFull(3., [[1., 3.], [3., 1.]], validate_args=True).mean(),
                lambda: ds.WishartCholesky(3., [[1., 0.], [1., -1.]], validate_args=True).mean(),
                lambda: cholesky.cholesky_input_output_matrices, lambda: cholesky.dimension,
                lambda: ds.WishartFull(2.5, scale).mode(),
                lambda: ds.WishartFull(2.5, scale, allow_nan_stats=False).mode(),
                lambda: ds.WishartFull([2., 3.], [scale, scale]).batch_shape,
                lambda: tf.shape(ds.WishartFull([2., 3.], [scale, scale]).sample(4)))


def statistics():
    x = np.array([[1., 5., 2.], [7., 3., 4.]], np.float32)
    unknown = _unknown(x)
    return _ran(lambda: ds.percentile(x, [50.]), lambda: ds.percentile(unknown, 50.),
                lambda: ds.percentile(unknown, 50., keep_dims=True),
                lambda: ds.percentile(unknown, 50., axis=0),
                lambda: ds.percentile(x, 50., axis=_whole([0])),
                lambda: ds.percentile(x, 101., validate_args=True),
                lambda: ds.percentile(x, _unknown(-1.), validate_args=True),
                lambda: ds.percentile(x, 100., validate_args=True),
                lambda: ds.percentile(x, 50., axis=[0, 1], keep_dims=True),
                lambda: ds.percentile(x, 50., axis=[-1], keep_dims=True),
                lambda: ds.percentile(x, 50., axis=[-1, 1]),
                lambda: ds.percentile(x, 50., keep_dims=True),
                lambda: ds.auto_correlation(unknown, max_lags=1),
                lambda: ds.auto_correlation(x, max_lags=10),
                lambda: ds.auto_correlation(tf.complex(x, x)),
                lambda: str(ds.auto_correlation(x, max_lags=1).shape))


def moving_assignments_mistakes():
    whole = tf.get_variable("whole", initializer=[1, 2])
    single = tf.get_variable("single", initializer=[1., 2.])
    double = tf.get_variable("double", initializer=np.array([1., 2.]))
    return _ran(lambda: ds.assign_moving_mean_variance(whole, whole, [1, 2], .5),
                lambda: ds.assign_moving_mean_variance(single, double, [1., 2.], .5),
                lambda: ds.assign_log_moving_mean_exp(whole, [1, 2], .5),
                lambda: ds.moving_mean_variance([1, 2], .5))


def conjugates_mistakes():
    prior = ds.Normal([0., 1.], [1., 2.])
    double = tf.constant([3., 4.], tf.float64)
    return _ran(lambda: ds.normal_conjugates_known_scale_posterior(prior, 2., double, 5),
                lambda: ds.normal_conjugates_known_scale_predictive(prior, 2., double, 5),
                lambda: ds.normal_conjugates_known_scale_predictive(3, 2., tf.constant(3.), 5))
