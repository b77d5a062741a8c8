"""tf.contrib.image."""

from _ended import error as _error
import numpy as np
import tensorflow as tf

image = tf.contrib.image


def _images(*shape, **options):
    numbers = np.arange(np.prod(shape)).reshape(shape) * 7 % 23
    return tf.constant(numbers, options.get("dtype", tf.float32))


def rotate():
    images = _images(2, 5, 6, 2)
    return [image.rotate(images, 0.5), image.rotate(images, [0.3, -1.2]),
            image.rotate(images, [np.pi / 2, np.pi], interpolation="BILINEAR"),
            image.rotate(images[0], 0.7, "bilinear"), image.rotate(images[0, :, :, 0], 1.0),
            image.rotate(images, 0.5).shape]


def rotate_dtypes():
    return [image.rotate(_images(4, 4, dtype=dtype), 0.8)
            for dtype in (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float64)]


def rotate_unknown_shape():
    images = tf.placeholder_with_default(np.ones([2, 4, 5, 1], "float32"), [None, None, None, 1])
    rotated = image.rotate(images, tf.constant([0.4, 2.0]), "BILINEAR")
    return [rotated, rotated.shape]


def rotate_errors():
    return [
        _error(lambda: image.rotate(_images(4), 0.1)),
        _error(lambda: image.rotate(_images(1, 1, 1, 1, 4), 0.1)),
        _error(lambda: image.rotate(tf.constant([[True]]), 0.1)),
        _error(lambda: image.rotate(_images(4, 4), [[0.1]])),
        _error(lambda: image.rotate(_images(4, 4), 0.1, interpolation="CUBIC")),
        _error(lambda: image.rotate(tf.placeholder(tf.float32), 0.1))]


def translate():
    images = _images(2, 4, 5, 1)
    return [image.translate(images, [1.0, 2.0]), image.translate(images, [[1, -1], [0.5, 0.2]]),
            image.translate(images, [0.5, -0.5], "BILINEAR"),
            image.translate(images[0, :, :, 0], [1, 0]),
            _error(lambda: image.translate(images, [[[1.0]]])),
            _error(lambda: image.translate(images, tf.placeholder(tf.float32)))]


def transform():
    images = _images(2, 4, 5, 1)
    shear = [1.0, 0.3, 0.5, 0.1, 1.0, -0.4, 0.01, 0.02]
    return [image.transform(images, shear), image.transform(images, [shear, shear[::-1]]),
            image.transform(images, shear, interpolation="BILINEAR", output_shape=[3, 7]),
            image.transform(images, shear, output_shape=tf.constant([6, 2])).shape,
            image.transform(images[0], shear, "NEAREST", (2, 2), "named").op.name]


def transform_errors():
    images, shear = _images(2, 4, 5, 1), [1.0, 0, 0, 0, 1, 0, 0, 0]
    return [_error(lambda: image.transform(images, shear, output_shape=[3])),
            _error(lambda: image.transform(images, [[shear]])),
            _error(lambda: image.transform(images, 3.0)),
            _error(lambda: image.transform(images, shear[:7]))]


def transform_gradients():
    images = _images(1, 4, 4, 1)
    out = []
    for kind in ("NEAREST", "BILINEAR"):
        moved = image.transform(images, [1, 0.2, 0.5, 0, 1.1, 0.3, 0, 0], kind, [3, 5])
        out += tf.gradients(moved * _images(1, 3, 5, 1), images)
    return out


def transforms():
    angles = image.angles_to_projective_transforms([0.1, 2.0], 4.0, 6.0)
    moves = image.translations_to_projective_transforms([3, 4])
    matrices = image.flat_transforms_to_matrices(angles)
    return {"angles": angles, "angle": image.angles_to_projective_transforms(1.0, 5.0, 5.0),
            "moves": moves, "many": image.translations_to_projective_transforms([[1, 2], [3, 4]]),
            "matrices": matrices, "flat": image.matrices_to_flat_transforms(matrices * 2),
            "one": image.matrices_to_flat_transforms(tf.eye(3)),
            "composed": image.compose_transforms(angles, moves, angles),
            "alone": image.compose_transforms(moves)}


def transforms_errors():
    return [_error(lambda: image.flat_transforms_to_matrices(tf.ones([1, 1, 8]))),
            _error(lambda: image.matrices_to_flat_transforms(tf.ones([9]))),
            _error(image.compose_transforms)]


def dense_image_warp():
    images = _images(2, 4, 5, 2)
    flow = tf.constant(np.sin(np.arange(80)).reshape(2, 4, 5, 2) * 2, tf.float32)
    warped = image.dense_image_warp(images, flow)
    return [warped, warped.shape, tf.gradients(warped * warped, [images, flow])]


def dense_image_warp_unknown_shape():
    images = tf.placeholder_with_default(np.ones([2, 3, 3, 1], "float32"), [None] * 4)
    flow = tf.placeholder_with_default(np.ones([2, 3, 3, 2], "float32") / 2, [None] * 4)
    return image.dense_image_warp(images, flow, name="warp")


def dense_image_warp_float64():
    return image.dense_image_warp(_images(1, 3, 3, 1, dtype=tf.float64), tf.ones([1, 3, 3, 2]))


def dense_image_warp_too_small():
    return [_error(lambda: image.dense_image_warp(tf.ones([1, 1, 4, 1]), tf.ones([1, 1, 4, 2]))),
            _error(lambda: image.dense_image_warp(tf.ones([4, 4, 1]), tf.ones([1, 4, 4, 2])))]


def _points(*shape):
    return tf.constant(np.cos(np.arange(np.prod(shape)) * 1.3).reshape(shape) * 2, tf.float32)


def interpolate_spline():
    known, values, wanted = _points(2, 6, 2), _points(2, 6, 3) + 1, _points(2, 4, 2) / 2
    return [image.interpolate_spline(known, values, wanted, order) for order in (1, 2, 3, 4, 6)]


def interpolate_spline_regularized():
    known, values, wanted = _points(1, 6, 2), _points(1, 6, 1), _points(1, 4, 2) / 2
    found = image.interpolate_spline(known, values, wanted, 2, regularization_weight=0.2, name="s")
    return [found, tf.gradients(found, [values, wanted]),
            _error(lambda: image.interpolate_spline(tf.placeholder(tf.float32, [1, 2, None]),
                                                    values, wanted, 1))]


def sparse_image_warp():
    images = _images(2, 6, 5, 2)
    source = tf.constant([[[1.0, 1], [3, 3], [2, 4]], [[0, 0], [2, 1], [4, 4]]])
    target = source + tf.constant([[[0.5, 0], [0, 1], [-1, 0.3]]])
    return [image.sparse_image_warp(images, source, target),
            image.sparse_image_warp(images, source, target, num_boundary_points=1),
            image.sparse_image_warp(images, source, target, 1, 0.1, 3, name="s")]


def connected_components():
    picture = np.array([[1, 1, 0, 2, 2], [0, 1, 0, 0, 2], [3, 0, 3, 3, 2], [3, 3, 3, 0, 1]])
    snake = np.zeros([7, 9], "int32")
    snake[::2] = 1
    snake[1::4, -1] = snake[3::4, 0] = 1
    return [image.connected_components(picture), image.connected_components(tf.constant(snake)),
            image.connected_components(tf.constant(np.stack([picture, picture[::-1]]), tf.float32)),
            image.connected_components(tf.constant(picture > 0)),
            image.connected_components(tf.ones([3, 3])), image.connected_components(
                tf.zeros([2, 2, 2], tf.uint8)),
            image.connected_components(tf.constant([["", "a"], ["b", "a"]])),
            _error(lambda: image.connected_components(tf.ones([3])))]


def connected_components_of_noise():
    random = np.random.RandomState(3)
    return image.connected_components(tf.constant(random.randint(0, 3, (3, 12, 17))))


def bipartite_match():
    distances = tf.constant([[0.5, 0.1, 0.9], [0.3, 0.2, 0.7], [0.15, 0.8, 0.05], [0.6, 0.7, 0.4]])
    match = image.bipartite_match(distances, -1)
    return [match.row_to_col_match_indices, match.col_to_row_match_indices, type(match).__name__,
            image.bipartite_match(distances, [2.0]), image.bipartite_match(distances, 3, top_k=1),
            image.bipartite_match(distances, num_valid_rows=0), match[0].shape,
            image.bipartite_match(tf.transpose(distances), -1, 2, name="m")]


SOAK = ("bipartite_match", "connected_components", "connected_components_of_noise",
        "dense_image_warp_float64", "dense_image_warp_too_small",
        "dense_image_warp_unknown_shape", "interpolate_spline", "rotate_dtypes",
        "sparse_image_warp", "transforms_errors", "translate")
