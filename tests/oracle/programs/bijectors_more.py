"""tf.contrib.distributions.bijectors where shapes are not known, or arguments are checked."""

from distributions_more import _ran, _unknown, _whole
import numpy as np
import tensorflow as tf

ds = tf.contrib.distributions
tfb = ds.bijectors
SOAK = (
    "weibull", "checked_numbers", "affine", "affine_linear_operators", "inverted_shapes",
    "chained", "inline", "permute", "reshape", "reshape_mistakes", "softmax_centered_and_ordered",
    "fill_triangular", "matrices", "transformed_diagonals", "masked_templates",
    "batch_normalization")


def _both(bijector, x, event_ndims=0):
    """Returns what a bijector makes of a tensor both ways."""
    x = tf.convert_to_tensor(x)
    return _ran(lambda: bijector.forward(x), lambda: bijector.inverse(tf.identity(x)),
                lambda: bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
                lambda: bijector.inverse_log_det_jacobian(tf.identity(x), event_ndims=event_ndims))


def _shapes(bijector, *shapes):
    found = []
    for shape in shapes:
        known = tf.TensorShape(shape)
        found += _ran(lambda: bijector.forward_event_shape(known),
                      lambda: bijector.inverse_event_shape(known))
        if shape is not None and None not in shape:
            found += _ran(
                lambda: bijector.forward_event_shape_tensor(tf.constant(shape)),
                lambda: bijector.inverse_event_shape_tensor(tf.constant(shape)))
    return found


def weibull():
    from tensorflow.contrib.distributions.python.ops.bijectors.weibull import Weibull
    plain, strict = Weibull(2., [1., 3.]), Weibull([2., 1.], 3., validate_args=True)
    return [_both(each, [[.25, .5], [1., .9]]) for each in (plain, strict, Weibull())] + _ran(
        lambda: strict.forward([-1., 1.]), lambda: strict.inverse([2., 1.]),
        lambda: strict.inverse_log_det_jacobian([-1., 1.], 0),
        lambda: Weibull(-1., validate_args=True).scale,
        lambda: Weibull(concentration=-1., validate_args=True).concentration,
        lambda: plain.scale, lambda: plain.concentration, lambda: plain.name)


def checked_numbers():
    makes = [lambda: tfb.Gumbel(0., 2., validate_args=True), lambda: tfb.Gumbel(
        0., -2., validate_args=True), lambda: tfb.Kumaraswamy(2., 3., validate_args=True),
        lambda: tfb.Kumaraswamy(-2., 3., validate_args=True),
        lambda: tfb.PowerTransform(.5, validate_args=True),
        lambda: tfb.AffineScalar(1., 2., validate_args=True),
        lambda: tfb.AffineScalar(1., 0., validate_args=True),
        lambda: tfb.Square(validate_args=True),
        lambda: tfb.Sigmoid(validate_args=True), lambda: tfb.Softplus(2., validate_args=True),
        lambda: tfb.Softplus(0., validate_args=True),
        lambda: tfb.SinhArcsinh(.5, 2., validate_args=True),
        lambda: tfb.SinhArcsinh(.5, -2., validate_args=True),
        lambda: tfb.Softsign(validate_args=True)]
    found = []
    for make in makes:
        try:
            bijector = make()
        except Exception as error:  # pylint: disable=broad-except
            found.append(type(error).__name__)
            continue
        found += _ran(lambda: bijector.forward([.25, .5]), lambda: bijector.inverse([.25, .5]),
                      lambda: bijector.forward([-4., 2.]), lambda: bijector.inverse([-4., 2.]),
                      lambda: bijector.inverse_log_det_jacobian([.25, -.5], 0),
                      lambda: bijector.forward_log_det_jacobian([.25, -2.5], 0))
    return found + _ran(lambda: tfb.PowerTransform(-1.), lambda: tfb.PowerTransform(_unknown(.5)),
                        lambda: tfb.Gumbel(0., np.float64(1.)))


def affine():
    return [_both(bijector, [[.25, .5], [1., .9]], 1) for bijector in (
        tfb.Affine(scale_identity_multiplier=_unknown(2.), validate_args=True),
        tfb.Affine(scale_diag=_unknown([2., 3.]), validate_args=True),
        tfb.Affine(scale_diag=[2., 3.], scale_identity_multiplier=1., validate_args=True),
        tfb.Affine(scale_tril=[[2., 0.], [1., 3.]], scale_diag=[.5, 1.], validate_args=True),
        tfb.Affine(scale_tril=[[2., 5.], [1., 3.]], scale_identity_multiplier=2.),
        tfb.Affine(scale_identity_multiplier=2., scale_perturb_factor=[[1.], [.5]]),
        tfb.Affine([1., 2.], scale_tril=[[2., 0.], [1., 3.]], scale_perturb_factor=[[1.], [.5]],
                   validate_args=True),
        tfb.Affine(_unknown([1., 2.]), 2., scale_perturb_factor=_unknown([[1.], [.5]])))] + _ran(
            lambda: tfb.Affine(scale_identity_multiplier=_unknown(0.), validate_args=True)
            .forward([1., 2.]),
            lambda: tfb.Affine(scale_diag=_unknown([0., 1.]), validate_args=True).forward([1., 2.]),
            lambda: tfb.Affine(scale_tril=_unknown([[1., 0.], [1., 0.]]), validate_args=True)
            .forward([1., 2.]),
            lambda: tfb.Affine(np.array([1., 2.]), scale_diag=[1., 2.]))


def affine_linear_operators():
    tril = tf.linalg.LinearOperatorLowerTriangular
    return [_both(tfb.AffineLinearOperator(shift, scale, validate_args=True), [[.25, .5]], 1)
            for shift, scale in (
                (None, tril([[2., 0.], [1., 3.]], is_non_singular=True)), ([1., 2.], None),
                (None, tf.linalg.LinearOperatorFullMatrix(_unknown([[2., 1.], [1., 3.]]),
                                                          is_non_singular=True)),
                (2., tf.linalg.LinearOperatorIdentity(2)),
                ([1., 2.], tf.linalg.LinearOperatorDiag(_unknown([0., 1.]), is_non_singular=True)),
                (None, tf.linalg.LinearOperatorKronecker([
                    tf.linalg.LinearOperatorIdentity(1),
                    tf.linalg.LinearOperatorDiag([2., 1.], is_non_singular=True)])))] + _ran(
                lambda: tfb.AffineLinearOperator(np.array([1., 2.]), tril([[2., 0.], [1., 3.]])),
                lambda: tfb.AffineLinearOperator(None, tf.linalg.LinearOperatorFullMatrix(
                    [[2., 0.], [1., 3.]]), validate_args=True),
                lambda: tfb.AffineLinearOperator(None, 3.))


def inverted_shapes():
    inverted = tfb.Invert(tfb.SoftmaxCentered())
    inline = tfb.Invert(tfb.Inline(tf.exp, tf.log, forward_min_event_ndims=0))
    return [_shapes(each, [3], [1], [None], None) for each in (
        inverted, inline, tfb.Invert(tfb.Exp()))] + [_both(inline, [1., 2.])] + [
            tfb.Invert(tfb.Invert(tfb.Exp())).name, inverted.bijector.name]


def chained():
    chain = tfb.Chain([tfb.SoftmaxCentered(), tfb.AffineScalar(1., 2.)])
    matrices = tfb.Chain([tfb.CholeskyOuterProduct(), tfb.FillTriangular(), tfb.Exp()])
    return [_shapes(chain, [3], [1], [None], None), _shapes(matrices, [3], [2, 2], [None, None]),
            matrices.forward_log_det_jacobian(_unknown([.5, 1., 2.]), 1),
            matrices.forward_log_det_jacobian([[.5, 1., 2.]], 1),
            matrices.inverse_log_det_jacobian([[2., 1.], [1., 3.]], 2)] + _ran(
                lambda: tfb.Chain([tfb.Affine(np.array([1.])), tfb.Affine([1.]), tfb.Exp()]),
                lambda: tfb.Chain([tfb.Affine([1.]), tfb.Exp()]).dtype,
                lambda: matrices.forward_min_event_ndims, lambda: matrices.inverse_min_event_ndims,
                lambda: tfb.Chain([tfb.FillTriangular(), tfb.CholeskyOuterProduct()])
                .forward_min_event_ndims)


def inline():
    inlined = tfb.Inline(
        lambda x: x[..., :1], lambda y: tf.concat([y, y], -1),
        forward_event_shape_fn=lambda shape: shape[:-1].concatenate(1),
        forward_event_shape_tensor_fn=lambda shape: tf.concat([shape[:-1], [1]], 0),
        inverse_event_shape_fn=lambda shape: shape[:-1].concatenate(2),
        inverse_event_shape_tensor_fn=lambda shape: tf.concat([shape[:-1], [2]], 0),
        is_constant_jacobian=True, forward_min_event_ndims=1)
    return [_shapes(inlined, [2], [4, 1], [None]), _both(inlined, [[1., 2.]], 1),
            _shapes(tfb.Inline(tf.exp, forward_min_event_ndims=0), [2], None),
            inlined.is_constant_jacobian] + _ran(lambda: tfb.Inline(tf.exp),
                                                 lambda: tfb.Inline(tf.exp).forward(1.))


def permute():
    return _ran(*[make for order in ([1, 0, 2], [0, 0, 2], [1, 2, 3]) for make in (
        lambda order=order: tfb.Permute(_whole(order), validate_args=True).forward([1., 2., 3.]),
        lambda order=order: tfb.Permute(_whole(order), validate_args=True).inverse([1., 2., 3.]))]
        + [lambda: tfb.Permute([1, 0], name="mine").permutation,
           lambda: tfb.Permute([2, 0, 1]).forward_log_det_jacobian([1., 2., 3.], 1)])


def reshape():
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    found = []
    for out, old in (([3, 2], [6]), ([-1, 2], [6]), ([3, 2], [-1])):
        for strict in (False, True):
            for unknown in (False, True):
                bijector = tfb.Reshape(_whole(out, [len(out)]) if unknown else out,
                                       _whole(old, [len(old)]) if unknown else old, strict)
                found += _ran(lambda: bijector.forward(x), lambda: bijector.forward(_unknown(x)),
                              lambda: bijector.inverse(x.reshape(2, 3, 2)),
                              lambda: bijector.inverse(_unknown(x.reshape(2, 3, 2))),
                              lambda: bijector.forward_log_det_jacobian(x, event_ndims=1),
                              lambda: bijector.inverse_log_det_jacobian(
                                  x.reshape(2, 3, 2), event_ndims=2))
                if not unknown:
                    found += _ran(lambda: bijector.forward_event_shape([6]),
                                  lambda: bijector.inverse_event_shape([3, 2]),
                                  lambda: bijector.forward_event_shape_tensor([6]),
                                  lambda: bijector.inverse_event_shape_tensor([3, 2]))
    return found


def reshape_mistakes():
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    return _ran(lambda: tfb.Reshape([[3, 2]], [6]), lambda: tfb.Reshape([-2, 3], [6]),
                lambda: tfb.Reshape([-1, -1], [6]), lambda: tfb.Reshape([3., 2.], [6]),
                lambda: tfb.Reshape([-1, -1], [6], True).forward(x),
                lambda: tfb.Reshape(_whole([-1, -1]), [6], True).forward(x),
                lambda: tfb.Reshape(_whole([-2, -3]), [6], True).forward(x),
                lambda: tfb.Reshape(_whole([[3, 2]]), [6], True).forward(x),
                lambda: tfb.Reshape([3, 2], [5]).forward(x),
                lambda: tfb.Reshape([3, 2], _whole([5]), True).forward(x),
                lambda: tfb.Reshape([3, 2], [5], True).forward(_unknown(x)),
                lambda: tfb.Reshape([3, 2], [-1, 5], True).forward(_unknown(x)),
                lambda: tfb.Reshape([5], [6]).forward(x),
                lambda: tfb.Reshape(6, [6]).forward(x))


def softmax_centered_and_ordered():
    return [[_shapes(each, [3], [1], [None], None, [4, 3]), _both(each, [[.2, .5, .3]], 1),
             each.forward(_unknown([[.2, .5]])), each.inverse(_unknown([[.2, .5, .3]])),
             each.name] for each in (
                 tfb.SoftmaxCentered(), tfb.SoftmaxCentered(validate_args=True), tfb.Ordered(),
                 tfb.Ordered(validate_args=True))] + _ran(
                     lambda: tfb.Ordered(validate_args=True).forward([1., 3., 2.]),
                     lambda: tfb.Ordered(validate_args=True).forward([1., 2., 3.]),
                     lambda: tfb.Ordered(validate_args=True).forward_log_det_jacobian([2., 1.], 1),
                     lambda: tfb.Ordered(validate_args=True).forward_log_det_jacobian([1., 2.], 1))


def fill_triangular():
    return [[_shapes(each, [3], [2, 2], [4], [2, 3], [None], None, [None, 2], [5, 6], [5, 2, 2]),
             each.inverse([[4., 0.], [5., 6.]]), _both(each, [[1., 2., 3.]], 1),
             each.inverse_log_det_jacobian([[[4., 0.], [5., 6.]]], 2)] for each in (
                 tfb.FillTriangular(), tfb.FillTriangular(validate_args=True),
                 tfb.FillTriangular(upper=True))] + _ran(
                     lambda: tfb.FillTriangular().forward(_unknown([1., 2., 3.])),
                     lambda: tfb.FillTriangular().inverse(_unknown([[1., 2.], [1., 2.]])))


def matrices():
    cases = ([[2., 0.], [1., 3.]], [[2., 1.], [1., 3.]],
             [[-2., 0.], [1., 3.]], [[[1., 0.], [0., 1.]]] * 3)
    found = []
    for make in (tfb.CholeskyOuterProduct, tfb.MatrixInverseTriL):
        strict = make(validate_args=True)
        for case in cases:
            x = _unknown(case)
            found += _ran(lambda: strict.forward(x), lambda: strict.forward_log_det_jacobian(x, 2),
                          lambda: make().forward(x), lambda: make().forward_log_det_jacobian(x, 2))
            if make is tfb.MatrixInverseTriL:
                found += _ran(lambda: strict.inverse(x),
                              lambda: strict.inverse_log_det_jacobian(x, 2))
    strict = tfb.CholeskyOuterProduct(validate_args=True)
    return found + _ran(lambda: strict.forward(_unknown([1., 2.])),
                        lambda: strict.forward(_unknown([[1., 2., 3.], [1., 2., 3.]])),
                        lambda: strict.forward([[1., 2., 3.], [1., 2., 3.]]))


def transformed_diagonals():
    diag = tfb.TransformDiagonal(tfb.Exp(), validate_args=True)
    scale = tfb.ScaleTriL()
    return [_both(diag, [[2., 0.], [1., 3.]], 2), _shapes(scale, [3], [2, 2]),
            scale.forward(_unknown([1., 2., 3.])), scale.inverse([[1., 0.], [2., 3.]]), scale.name]


def masked_templates():
    template = tfb.masked_autoregressive_default_template([4], shift_only=True)
    flow = tfb.MaskedAutoregressiveFlow(template, is_constant_jacobian=True)
    x = tf.constant([[.5, 1., 2.]])
    y = flow.forward(x)
    two = tfb.RealNVP(1, tfb.real_nvp_default_template([4], shift_only=True))
    return [y.shape, tf.abs(flow.inverse(tf.identity(y)) - x) < 1e-4,
            flow.inverse_log_det_jacobian(y, 1), flow.forward_log_det_jacobian(x, 1),
            two.forward_log_det_jacobian(x, 1), two.forward(x).shape] + _ran(
                lambda: tfb.MaskedAutoregressiveFlow(template, unroll_loop=True).forward(
                    _unknown([[.5, 1.]], [None, None])),
                lambda: tfb.masked_autoregressive_default_template([4])(
                    _unknown([[.5, 1.]], [None, None])),
                lambda: tfb.masked_dense(_unknown([[.5, 1.]], [None, None]), 4, 2),
                lambda: tfb.masked_dense(_unknown([[.5, 1.]]), 4, 2),
                lambda: tfb.RealNVP(1, None).forward(_unknown([[.5, 1.]], [None, None])),
                lambda: tfb.masked_dense(tf.ones([2, 3]), 4, 2).shape,
                lambda: tfb.masked_dense(tf.ones([2, 3]), 6, 3).shape)


def batch_normalization():
    y = tf.constant([[[1., 2.], [3., 5.]], [[0., 2.], [2., -5.]]])
    for_axis = [tfb.BatchNormalization(tf.layers.BatchNormalization(
        axis=axis, center=center), training=training)
        for axis, center, training in ((-1, True, True), (1, True, False), (1, False, True),
                                       ([1, 2], True, True))]
    found = [[each.forward(tf.identity(y)), each.inverse(y), each.inverse_log_det_jacobian(
        tf.identity(y), each.forward_min_event_ndims)] for each in for_axis]
    volumes = [each.forward_log_det_jacobian(tf.identity(y), each.forward_min_event_ndims)
               for each in for_axis]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        # TensorFlow 1.15 loses a sign where one run has them all.
        found.append([session.run(each) for each in volumes])
    return found + _ran(
                lambda: tfb.BatchNormalization(tf.layers.BatchNormalization(renorm=True)),
                lambda: tfb.BatchNormalization(tf.layers.BatchNormalization(
                    virtual_batch_size=2)),
                lambda: tfb.BatchNormalization("layer"))
