"""tf.contrib.distributions.bijectors."""

from _ended import outcome as _error
import numpy as np
import tensorflow as tf

ds = tf.contrib.distributions
tfb = ds.bijectors
SOAK = ("batch_normalization", "real_nvp", "masked_flow_unrolled")


def _all(bijector, x, event_ndims=0):
    """Returns both ways, and the Jacobians."""
    x = tf.constant(x)
    y = bijector.forward(x)
    # A bijector keeps what it computed; the inverse is of another tensor.
    again = tf.identity(y)
    return {"name": bijector.name, "forward": y, "inverse": bijector.inverse(again),
            "fldj": bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
            "ildj": bijector.inverse_log_det_jacobian(again, event_ndims=event_ndims),
            "constant": bijector.is_constant_jacobian,
            "ndims": [bijector.forward_min_event_ndims, bijector.inverse_min_event_ndims]}


def of_numbers():
    x = [.25, .5, .75]
    return [_all(each, x) for each in (
        tfb.Exp(), tfb.Identity(), tfb.PowerTransform(.5), tfb.PowerTransform(), tfb.Sigmoid(),
        tfb.Softplus(), tfb.Softplus(hinge_softness=2.), tfb.Softsign(), tfb.Square(),
        tfb.SinhArcsinh(.5, 2.), tfb.SinhArcsinh(), tfb.Gumbel(1., 2.), tfb.Kumaraswamy(2., 3.))]


def of_numbers_in_vectors():
    return [_all(each, [[.25, .5, .75], [.1, .2, .3]], 1) for each in (
        tfb.Exp(), tfb.AffineScalar(1., 2.), tfb.Sigmoid(), tfb.Invert(tfb.Softplus()))]


def absolute_value():
    both = tfb.AbsoluteValue()
    return [both.forward([-1., 2.]), both.inverse([1., 2.]),
            both.inverse_log_det_jacobian([1., 2.], event_ndims=0)]


def affine_scalar():
    return [_all(each, [1., 2.]) for each in (
        tfb.AffineScalar(), tfb.AffineScalar(1.), tfb.AffineScalar(scale=-2.),
        tfb.AffineScalar([1., 2.], [3., 4.]))]


def affine():
    x = [[1., 2.], [3., 4.]]
    return [_all(each, x, 1) for each in (
        tfb.Affine(), tfb.Affine([1., 2.]), tfb.Affine(scale_identity_multiplier=2.),
        tfb.Affine([1., 2.], scale_diag=[2., 3.]),
        tfb.Affine(scale_tril=[[2., 0.], [1., 3.]]),
        tfb.Affine(scale_diag=[2., 3.], scale_identity_multiplier=1.),
        tfb.Affine(scale_diag=[2., 3.], scale_perturb_factor=[[1.], [2.]]),
        tfb.Affine(scale_diag=[2., 3.], scale_perturb_factor=[[1.], [2.]],
                   scale_perturb_diag=[.5]))] + [
            _error(tfb.Affine, scale_perturb_diag=[.5])]


def affine_batches():
    return _all(tfb.Affine([[1., 2.], [3., 4.]], scale_tril=[[[2., 0.], [1., 3.]]] * 2),
                [[1., 2.], [3., 4.]], 1)


def affine_linear_operator():
    operator = tf.linalg.LinearOperatorLowerTriangular([[2., 0.], [1., 3.]])
    return [_all(tfb.AffineLinearOperator([1., 2.], operator), [[1., 2.], [3., 4.]], 1),
            _all(tfb.AffineLinearOperator(), [1., 2.], 1),
            _error(tfb.AffineLinearOperator, scale=[[1.]])]


def chain():
    return [_all(tfb.Chain([tfb.Exp(), tfb.AffineScalar(1., 2.)]), [.25, .5]),
            _all(tfb.Chain([tfb.Softplus(), tfb.Affine(scale_diag=[2., 3.])]), [.25, .5], 1),
            _all(tfb.Chain(), [1., 2.]), tfb.Chain([tfb.Exp(), tfb.Sigmoid()]).name,
            _error(tfb.Chain, [tfb.AbsoluteValue()])]


def chain_changes_ranks():
    return _all(tfb.Chain([tfb.CholeskyOuterProduct(), tfb.ScaleTriL()]), [.5, 1., 2.], 1)["ndims"]


def inline():
    inlined = tfb.Inline(
        forward_fn=tf.exp, inverse_fn=tf.log, forward_min_event_ndims=0,
        inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
        forward_log_det_jacobian_fn=lambda x: x, name="mine")
    return [_all(inlined, [.5, 1.]), _error(tfb.Inline(forward_min_event_ndims=0).forward, 1.)]


def invert():
    return [_all(tfb.Invert(tfb.Exp()), [.5, 2.]), _error(tfb.Invert, tfb.AbsoluteValue()),
            _all(tfb.Invert(tfb.SoftmaxCentered()), [.2, .3, .5], 1)]


def softmax_centered():
    centered = tfb.SoftmaxCentered()
    return [_all(centered, [[.5, 1.], [2., -1.]], 1), str(centered.forward_event_shape([2])),
            str(centered.inverse_event_shape([3])), centered.forward_event_shape_tensor([2])]


def ordered():
    return _all(tfb.Ordered(), [1., 1.5, 3.], 1)


def permute():
    return [_all(tfb.Permute([2, 0, 1]), [[1., 2., 3.]], 1), _error(tfb.Permute, [0, 0, 1]),
            _error(tfb.Permute, [0., 1.])]


def reshape():
    reshaped = tfb.Reshape([2, -1], [6])
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    return [reshaped.forward(x), reshaped.inverse(x.reshape(2, 2, 3)),
            str(reshaped.forward_event_shape([6])), str(reshaped.inverse_event_shape([2, 3])),
            reshaped.forward_event_shape_tensor([6]),
            _error(tfb.Reshape, [2.]), _error(reshaped.forward, x[:, :4])]


def triangular_matrices():
    return [_all(tfb.FillTriangular(), [1., 2., 3.], 1), tfb.FillTriangular(upper=True).forward(
        [1., 2., 3.]), _all(tfb.ScaleTriL(), [1., 2., 3.], 1),
            _all(tfb.ScaleTriL(tfb.Exp(), None), [1., 2., 3.], 1),
            str(tfb.FillTriangular().forward_event_shape([6])),
            _error(tfb.FillTriangular().forward_event_shape, tf.TensorShape([5]))]


def matrices():
    tril = [[2., 0.], [1., 3.]]
    return [_all(each, tril, 2) for each in (
        tfb.CholeskyOuterProduct(), tfb.MatrixInverseTriL(), tfb.TransformDiagonal(tfb.Exp()))]


def masked_dense():
    layer = tfb.masked_dense(tf.ones([2, 3]), 6, num_blocks=3, exclusive=True, name="mine")
    weights = tf.trainable_variables()[0]
    return [layer.shape, tf.not_equal(weights, 0.)]


def masked_flow():
    template = tfb.masked_autoregressive_default_template(hidden_layers=[6, 6])
    flow = tfb.MaskedAutoregressiveFlow(template)
    x = tf.constant([[.5, 1., 2.]])
    y = flow.forward(x)
    return [tf.abs(flow.inverse(tf.identity(y)) - x) < 1e-4, y.shape, flow.name,
            tf.abs(flow.forward_log_det_jacobian(x, 1)
                   + flow.inverse_log_det_jacobian(tf.identity(y), 1)) < 1e-4]


def masked_flow_unrolled():
    def shift_and_log_scale(x):
        before = tf.concat([tf.zeros_like(x[..., :1]), x[..., :-1]], -1)
        return before, .1 * before
    return [_all(tfb.MaskedAutoregressiveFlow(shift_and_log_scale, unroll_loop=unroll),
                 [[.5, 1., 2.]], 1) for unroll in (False, True)]


def flow_distribution():
    flow = ds.TransformedDistribution(
        ds.MultivariateNormalDiag(tf.zeros([2])), tfb.Chain([
            tfb.MaskedAutoregressiveFlow(lambda x: (tf.zeros_like(x), .5 * tf.ones_like(x))),
            tfb.Permute([1, 0])]))
    return [flow.log_prob([[.5, 1.]]), flow.sample(3).shape]


def real_nvp():
    flow = tfb.RealNVP(1, tfb.real_nvp_default_template([4]))
    x = tf.constant([[.5, 1., 2.]])
    fixed = tfb.RealNVP(1, lambda x, units: (tf.tile(x, [1, units]), .1 * tf.tile(x, [1, units])))
    return [tf.abs(flow.inverse(tf.identity(flow.forward(x))) - x) < 1e-4,
            _all(fixed, [[.5, 1., 2.]], 1), _error(tfb.RealNVP, 0, None),
            _error(tfb.RealNVP(3, None).forward, x)]


def batch_normalization():
    normalized = tfb.BatchNormalization()
    y = tf.constant([[1., 2.], [3., 5.]])
    return [normalized.inverse(y), normalized.inverse_log_det_jacobian(y, 1),
            normalized.forward(tf.identity(y)), _error(tfb.BatchNormalization, 3)]


def own_bijector():
    class Leaky(tfb.Bijector):
        def __init__(self, alpha=.5, name="leaky"):
            super(Leaky, self).__init__(forward_min_event_ndims=0, name=name)
            self.alpha = alpha

        def _forward(self, x):
            return tf.where(x >= 0, x, self.alpha * x)

        def _inverse(self, y):
            return tf.where(y >= 0, y, y / self.alpha)

        def _inverse_log_det_jacobian(self, y):
            return tf.where(y >= 0, tf.zeros_like(y), -tf.log(self.alpha) * tf.ones_like(y))

    transformed = ds.TransformedDistribution(ds.Normal(0., 1.), Leaky())
    return [_all(Leaky(), [-1., 2.]), transformed.log_prob([-1., 2.])]


def conditional():
    class Shift(tfb.ConditionalBijector):
        def __init__(self):
            super(Shift, self).__init__(forward_min_event_ndims=0, is_constant_jacobian=True,
                                        name="shift")

        def _forward(self, x, by=0.):
            return x + by

        def _inverse(self, y, by=0.):
            return y - by

        def _inverse_log_det_jacobian(self, y, by=0.):
            return tf.zeros([])

    transformed = ds.ConditionalTransformedDistribution(ds.Normal(0., 1.), Shift())
    return [Shift().forward(1., by=2.), Shift().inverse(1., by=2.),
            transformed.log_prob(1., bijector_kwargs={"by": 2.}), transformed.log_prob(1.)]


def cached():
    exp, x = tfb.Exp(), tf.constant(2.)
    return exp.inverse(exp.forward(x)) is x
