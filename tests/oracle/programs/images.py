"""tf.image under the graph's seed."""

import numpy as np
import tensorflow as tf

SOAK = (
    "augmented", "augmented_in_a_map", "geometry", "random_brightness", "random_contrast",
    "random_flips_of_batches", "random_hue", "random_saturation", "resizing",
    "standardized_bytes", "numbers_of_operations",)

_IMAGE = np.arange(48, dtype="float32").reshape(4, 4, 3) / 48.0
_BATCH = np.stack([_IMAGE, _IMAGE[::-1]])


def _of(*values):
    return list(values) + [tf.random_normal([2])]


def random_flips():
    i = tf.image
    return _of(
        i.random_flip_left_right(_IMAGE),
        i.random_flip_up_down(_IMAGE),
        i.random_flip_left_right(_IMAGE, seed=3),
    )


def random_flips_of_batches():
    return _of(tf.image.random_flip_left_right(_BATCH), tf.image.random_flip_up_down(_BATCH))


def random_brightness():
    return _of(tf.image.random_brightness(_IMAGE, 0.3), tf.image.random_brightness(_BATCH, 0.2, 5))


def random_contrast():
    return _of(
        tf.image.random_contrast(_IMAGE, 0.3, 0.8), tf.image.random_contrast(_BATCH, 1.0, 2.0, 5)
    )


def random_hue():
    return _of(tf.image.random_hue(_IMAGE, 0.3), tf.image.random_hue(_BATCH, 0.2, 5))


def random_saturation():
    return _of(tf.image.random_saturation(_IMAGE, 0.3, 0.8))


def random_crop_and_pad():
    return _of(
        tf.random_crop(_IMAGE, [2, 2, 3]), tf.image.resize_image_with_crop_or_pad(_IMAGE, 6, 2)
    )


def random_jpeg_quality():
    return tf.shape(tf.image.random_jpeg_quality(_IMAGE, 50, 90))


def augmented():
    image = tf.random_crop(tf.image.resize_image_with_crop_or_pad(_IMAGE, 6, 6), [4, 4, 3])
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.2)
    image = tf.image.random_contrast(image, 0.8, 1.2)
    return tf.image.per_image_standardization(image)


def augmented_in_a_map():
    def augment(image):
        image = tf.image.random_flip_left_right(image)
        return tf.image.random_brightness(image, 0.2)

    data = tf.data.Dataset.from_tensor_slices(_BATCH).map(augment)
    return _of(data.make_one_shot_iterator().get_next())


def adjustments():
    i = tf.image
    return _of(
        i.adjust_brightness(_IMAGE, 0.1),
        i.adjust_contrast(_IMAGE, 2.0),
        i.adjust_hue(_IMAGE, 0.2),
        i.adjust_saturation(_IMAGE, 0.5),
        i.adjust_gamma(_IMAGE, 2.0),
        i.rgb_to_grayscale(_IMAGE),
        i.rgb_to_hsv(_IMAGE),
        i.hsv_to_rgb(_IMAGE),
        i.grayscale_to_rgb(_IMAGE[..., :1]),
    )


def geometry():
    i = tf.image
    return _of(
        i.flip_left_right(_IMAGE),
        i.transpose_image(_IMAGE),
        i.rot90(_IMAGE, 3),
        i.central_crop(_IMAGE, 0.5),
        i.crop_to_bounding_box(_IMAGE, 1, 1, 2, 2),
        i.pad_to_bounding_box(_IMAGE, 1, 1, 6, 6),
        i.crop_and_resize(_BATCH, [[0.0, 0.0, 0.5, 0.5]], [1], [2, 2]),
    )


def resizing():
    i = tf.image
    return (
        i.resize_images(_IMAGE, [2, 3]),
        i.resize_images(_BATCH, [5, 5], method=1),
        i.resize_bicubic(_BATCH, [3, 3]),
        i.resize_area(_BATCH, [2, 2]),
        i.resize_bilinear(_BATCH, [6, 6], align_corners=True),
        i.resize_nearest_neighbor(_BATCH, [3, 3]),
        i.resize_images(_IMAGE, [2, 4], preserve_aspect_ratio=True),
    )


def resizing_v2():
    return _of(
        tf.image.resize(_IMAGE, [2, 3]),
        tf.image.resize_with_pad(_IMAGE, 3, 6),
        tf.image.resize_with_crop_or_pad(_IMAGE, 3, 6),
    )


def boxes():
    i, box = tf.image, [[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.45, 0.5], [0.5, 0.5, 1.0, 1.0]]
    return _of(
        i.non_max_suppression(box, [0.9, 0.8, 0.7], 3),
        i.draw_bounding_boxes(_BATCH, [[[0.0, 0.0, 0.5, 0.5]]] * 2),
        i.sample_distorted_bounding_box(
            [4, 4, 3], [[[0.0, 0.0, 0.5, 0.5]]], seed=2, min_object_covered=0.1
        )[:2],
    )


def qualities():
    i = tf.image
    return _of(
        i.psnr(_BATCH, _BATCH * 0.9, 1.0),
        i.total_variation(_BATCH),
        i.image_gradients(_BATCH),
        i.sobel_edges(_BATCH),
        i.per_image_standardization(_IMAGE),
        i.extract_image_patches(_BATCH, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        i.yuv_to_rgb(_IMAGE),
        i.rgb_to_yiq(_IMAGE),
    )


def conversions():
    i = tf.image
    whole = (_IMAGE * 255).astype("uint8")
    return (
        i.convert_image_dtype(whole, tf.float32),
        i.convert_image_dtype(_IMAGE, tf.uint8),
        i.decode_png(i.encode_png(whole)),
        i.decode_image(i.encode_png(whole)),
    )


def of_wrong_shape():
    return tf.image.random_flip_left_right(tf.ones([2]))


def of_wrong_range():
    return tf.image.random_contrast(_IMAGE, 2.0, 1.0)


def of_negative_delta():
    return tf.image.random_brightness(_IMAGE, -1.0)


def standardized_bytes():
    image = tf.constant((_IMAGE * 200).astype("uint8"))
    return _of(tf.image.per_image_standardization(image))


def numbers_of_operations():
    image = tf.image
    found = {}
    for name, call in {
            "gray": image.rgb_to_grayscale, "bytes": image.per_image_standardization,
            "saturated": lambda x: image.convert_image_dtype(x, tf.uint8, saturate=True),
            "quality": lambda x: image.random_jpeg_quality(x, 50, 70),
            "ratio": lambda x: image.resize_images(x, [2, 3], preserve_aspect_ratio=True),
            "flipped": image.flip_left_right, "turned": image.rot90,
            "decoded": lambda x: image.decode_image("a"),
            "decoded_floats": lambda x: image.decode_image("a", dtype=tf.float32),
            "padded": lambda x: image.resize_image_with_crop_or_pad(x, 6, 3)}.items():
        for shape in ([4, 5, 3], [None, None, 3]):
            with tf.Graph().as_default():
                tf.set_random_seed(7)
                call(tf.placeholder(tf.float32, shape))
                found[name + str(shape)] = tf.get_seed(None)[1]
    return found
