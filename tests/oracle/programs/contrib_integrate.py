"""tf.contrib.integrate and solvers."""

from _ended import error as _error
import numpy as np
import tensorflow as tf

integrate = tf.contrib.integrate


def _oscillator(y, t):
    return tf.stack([y[1], -y[0]]) if y.shape.ndims else -y + tf.cast(t, y.dtype)


def odeint():
    found, info = integrate.odeint(_oscillator, tf.constant([1.0, 0.0], tf.float64),
                                   np.linspace(0, 3, 5), full_output=True)
    return [found, info, found.shape]


def odeint_float32():
    return integrate.odeint(_oscillator, 1.0, tf.constant([0.0, 0.5, 2.0]), rtol=1e-3, atol=1e-4)


def odeint_complex():
    return integrate.odeint(lambda y, t: 1j * y, tf.constant(1 + 0j, tf.complex128), [0.0, 1, 2.5])


def odeint_options():
    found, info = integrate.odeint(
        _oscillator, tf.constant([1.0, 0.0]), [0.0, 1.0], method="dopri5", full_output=True,
        options={"first_step": 0.1, "safety": 0.8, "ifactor": 5.0, "dfactor": 0.3})
    return [found, info["num_func_evals"]]


def odeint_gradients():
    start = tf.constant([1.0, 0.5], tf.float64)
    found = integrate.odeint(_oscillator, start, [0.0, 1.0, 2.0], rtol=1e-4)
    return tf.gradients(found[-1, 0], start)


def odeint_too_many_steps():
    return integrate.odeint(_oscillator, tf.constant([1.0, 0.0]), [0.0, 100.0], method="dopri5",
                            options={"max_num_steps": 3})


def odeint_errors():
    return [_error(lambda: integrate.odeint(_oscillator, 1.0, [0.0, 1.0], method="euler")),
            _error(lambda: integrate.odeint(_oscillator, 1.0, [0.0, 1.0], options={})),
            _error(lambda: integrate.odeint(_oscillator, 1, [0.0, 1.0])),
            _error(lambda: integrate.odeint(_oscillator, 1.0, tf.constant([0, 1]))),
            _error(lambda: integrate.odeint(_oscillator, 1.0, [0.0, 1.0], method="dopri5",
                                            options={"order": 3}))]


def odeint_fixed():
    start = tf.constant([1.0, 0.0], tf.float64)
    return [integrate.odeint_fixed(_oscillator, start, [0.0, 0.5, 2.0]),
            integrate.odeint_fixed(_oscillator, start, [0.0, 0.5, 2.0], [0.2, 0.4],
                                   method="midpoint", name="o"),
            integrate.odeint_fixed(_oscillator, 1.0, tf.constant([0.0, 1.0]), tf.constant([0.25])),
            integrate.odeint_fixed(_oscillator, start, np.linspace(0, 1, 4)).shape]


def odeint_fixed_gradients():
    start = tf.constant([1.0, 0.5], tf.float64)
    return tf.gradients(integrate.odeint_fixed(_oscillator, start, [0.0, 0.5, 2.0], 0.5), start)


def odeint_fixed_not_increasing():
    return integrate.odeint_fixed(_oscillator, 1.0, [0.0, 2.0, 1.0])


def odeint_fixed_errors():
    start = tf.constant([1.0, 0.0])
    return [_error(lambda: integrate.odeint_fixed(_oscillator, start, [0.0, 1.0], method="euler")),
            _error(lambda: integrate.odeint_fixed(_oscillator, start, [0.0, 1.0, 2], [0.1] * 3)),
            _error(lambda: integrate.odeint_fixed(_oscillator, start, [[0.0, 1.0]])),
            _error(lambda: integrate.odeint_fixed(_oscillator, tf.constant([1]), [0.0, 1.0]))]


def _matrix(rows, columns):
    return np.random.RandomState(3).randn(rows, columns)


def conjugate_gradient():
    from tensorflow.contrib.solvers.python.ops import linear_equations, util
    square = _matrix(5, 5)
    square = tf.constant(square.dot(square.T) + np.eye(5))
    operator, rhs = util.create_operator(square), tf.constant(_matrix(5, 1)[:, 0])
    near = util.create_operator(tf.diag(1 / tf.diag_part(square)))
    plain = linear_equations.conjugate_gradient(operator, rhs, tol=1e-6, max_iter=30)
    return [plain._asdict().keys() and list(plain), list(linear_equations.conjugate_gradient(
        operator, rhs, preconditioner=near, x=tf.ones([5], tf.float64), max_iter=2)),
        type(plain).__name__, operator.shape, util.identity_operator(square).apply(rhs)]


def cgls():
    from tensorflow.contrib.solvers.python.ops import least_squares, util
    operator = util.create_operator(tf.constant(_matrix(7, 4)))
    found = least_squares.cgls(operator, tf.constant(_matrix(7, 1)[:, 0]), max_iter=3)
    return [list(found), type(found).__name__]


def lanczos():
    from tensorflow.contrib.solvers.python.ops import lanczos as module, util
    operator = util.create_operator(tf.constant(_matrix(6, 4)))
    start = tf.constant(_matrix(6, 1)[:, 0])
    found = module.lanczos_bidiag(operator, 3, starting_vector=start)
    plain = module.lanczos_bidiag(operator, 2, orthogonalize=False, starting_vector=start)
    return [list(found), list(plain), module.bidiag_matmul(found.u, found.alpha, found.beta),
            module.bidiag_matmul(found.v, found.alpha, found.beta, adjoint_b=True)]


SOAK = ("cgls", "odeint", "odeint_complex", "odeint_fixed_gradients", "odeint_float32",
        "odeint_gradients", "odeint_options", "odeint_too_many_steps")
