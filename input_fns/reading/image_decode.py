"""Decodes images in a graph: JPEG as the camera was held, PNG, GIF, BMP and WebP.

A camera stores a picture as its sensor saw it, with an EXIF tag `orientation` that says how it
was held; TensorFlow's decoders ignore this tag. The kind of an image is read from its first
bytes, whatever the name of its file. The first frame of a GIF is the image. What is transparent in
a PNG or WebP shows the background.
"""

from __future__ import annotations

from typing import Callable, Sequence

import tensorflow as tf

_RGB = 3
_SEGMENTS = 16  # parts of a JPEG file in which the EXIF data are looked for
_APP1, _START_OF_SCAN = 0xE1, 0xDA
_ORIENTATION, _ENTRIES, _EXIF_BYTES = 0x0112, 64, 65_536
_ANIMATED = 0x02  # flag of a WebP file
PartOf = Callable[[tf.Tensor], tf.Tensor]


def decoded_part(contents: tf.Tensor, part_of: PartOf, channels: int,
                 background: Sequence[int] = ()) -> tf.Tensor:
    """Decodes a part of an image; a JPEG file that is stored upright is decoded only there.

    Args:
      contents: An encoded image, a string scalar.
      part_of: A function from an image's height and width, int32 [2], to y, x, height and width
        of the part, int32 [4].
      channels: 3, or 1 for a grey JPEG, PNG or GIF.
      background: Red, green and blue, 0 to 255, behind what is transparent; (): the colours that
        the file has there, which nobody sees.

    Returns:
      uint8 [height, width, channels].
    """
    is_jpeg = tf.io.is_jpeg(contents)
    orientation = tf.cond(is_jpeg, lambda: _orientation(contents), lambda: tf.constant(1))

    def of_upright_jpeg() -> tf.Tensor:
        part = part_of(tf.io.extract_jpeg_shape(contents)[:2])
        return tf.image.decode_and_crop_jpeg(contents, part, channels=channels)

    def of_other() -> tf.Tensor:
        image = _turned(_stored(contents, channels, background), orientation)
        y, x, height, width = tf.unstack(part_of(tf.shape(image)[:2]), 4)
        return image[y:y + height, x:x + width]

    image = tf.cond(is_jpeg & tf.equal(orientation, 1), of_upright_jpeg, of_other)
    return tf.ensure_shape(image, [None, None, channels])


def decoded(contents: tf.Tensor, background: Sequence[int] = ()) -> tf.Tensor:
    """Decodes a whole image: uint8 [height, width, 3]."""
    return decoded_part(contents, lambda size: tf.concat([[0, 0], size], 0), _RGB, background)


def measured(contents: tf.Tensor, background: Sequence[int]) -> tf.Tensor:
    """Returns the height, width and contrast of an image as it is stored, int32 [3].

    The contrast is the largest difference within a colour, 0 to 255; 255 for a JPEG file, whose
    pixels are not decoded.
    """
    def of_jpeg() -> tf.Tensor:
        return tf.concat([tf.io.extract_jpeg_shape(contents)[:2], [255]], 0)

    def of_other() -> tf.Tensor:
        image = tf.cast(_stored(contents, _RGB, background), tf.int32)
        lowest, highest = tf.reduce_min(image, [0, 1]), tf.reduce_max(image, [0, 1])
        return tf.concat([tf.shape(image)[:2], [tf.reduce_max(highest - lowest)]], 0)

    return tf.cond(tf.io.is_jpeg(contents), of_jpeg, of_other)


def _stored(contents: tf.Tensor, channels: int, background: Sequence[int]) -> tf.Tensor:
    """Decodes a whole image as it is stored: uint8 [height, width, channels]."""
    def of_png_or_jpeg() -> tf.Tensor:
        return tf.io.decode_png(contents, channels=channels)

    if channels != _RGB:
        return of_png_or_jpeg()
    kinds = [(_starts(contents, b"BM"), lambda: _of_bmp(contents)),
             (_starts(contents, b"GIF8"), lambda: tf.io.decode_gif(contents)[0])]
    if background:
        kinds.append((_starts(contents, b"\x89PNG"), lambda: _opaque(
            tf.io.decode_png(contents, channels=4), background)))
    if hasattr(tf.io, "decode_webp"):
        is_webp = _starts(contents, b"RIFF") & _starts(contents, b"WEBP", 8)
        kinds.append((is_webp, lambda: _of_webp(contents, background)))
    return tf.case(kinds, default=of_png_or_jpeg)


def _opaque(image: tf.Tensor, background: Sequence[int]) -> tf.Tensor:
    """Returns an image as RGB; one with a channel of opacity, the fourth, on a background."""
    def laid() -> tf.Tensor:
        colours, opacity = (tf.cast(part, tf.int32) for part in (image[..., :_RGB],
                                                                 image[..., _RGB:]))
        mixed = colours * opacity + list(background) * (255 - opacity)
        return tf.cast((mixed + 127) // 255, tf.uint8)

    # Most images are opaque everywhere, or have no such channel.
    is_opaque = tf.reduce_all(tf.equal(image[..., _RGB:], 255))
    return tf.cond(is_opaque, lambda: image[..., :_RGB], laid)


def _of_bmp(contents: tf.Tensor) -> tf.Tensor:
    header = tf.cast(_bytes(contents, 0, 54), tf.int32)
    bits, compression, begin = header[28], header[30], 14 + header[14]
    plain = tf.debugging.Assert(
        tf.equal(compression, 0) | (tf.equal(compression, 3) & tf.equal(bits, 32)),
        ["the BMP file is compressed; expected one that is not"])
    with tf.control_dependencies([plain]):
        image = tf.io.decode_bmp(contents)

    def of_palette() -> tf.Tensor:
        # TensorFlow reads the numbers of the colours; the file has the colours as BGR and a 0.
        end = tf.minimum(begin + 4 * 256, _little(header[10:14]))
        colours = tf.reshape(_bytes(contents, begin, end - begin), [-1, 4])[:, 2::-1]
        return tf.gather(colours, tf.cast(image[..., 0], tf.int32))

    # A fourth channel says how transparent a pixel is.
    return tf.cond(tf.equal(bits, 8), of_palette, lambda: image[..., :_RGB])


def _of_webp(contents: tf.Tensor, background: Sequence[int]) -> tf.Tensor:
    # TensorFlow 2.21 writes past the end of its memory for an animation without transparency.
    still = tf.debugging.Assert(
        tf.logical_not(_starts(contents, b"VP8X", 12))
        | tf.equal(_bytes(contents, 20, 1)[0] & _ANIMATED, 0),
        ["the WebP file is an animation; expected a single image"])
    with tf.control_dependencies([still]):
        image = tf.io.decode_webp(contents)[0]
    return _opaque(image, background) if background else image[..., :_RGB]


def _turned(image: tf.Tensor, orientation: tf.Tensor) -> tf.Tensor:
    """Turns an image as its EXIF orientation, 1 to 8, demands."""
    image = tf.cond(orientation >= 5, lambda: tf.transpose(image, [1, 0, 2]), lambda: image)
    step_y, step_x = (tf.where(tf.reduce_any(tf.equal(orientation, mirrored)), -1, 1)
                      for mirrored in ((3, 4, 7, 8), (2, 3, 6, 7)))
    return image[::step_y, ::step_x]


def _orientation(contents: tf.Tensor) -> tf.Tensor:
    """Returns the EXIF orientation of a JPEG file, int32 [], 1 without one."""
    size = tf.strings.length(contents)

    def is_before_image(count: tf.Tensor, place: tf.Tensor, found: tf.Tensor) -> tf.Tensor:
        head = tf.cast(_bytes(contents, place, 2), tf.int32)
        return ((count < _SEGMENTS) & tf.equal(found, 0) & (place + 10 <= size)
                & tf.equal(head[0], 0xFF) & tf.not_equal(head[1], _START_OF_SCAN))

    def next_segment(count: tf.Tensor, place: tf.Tensor, found: tf.Tensor) -> tuple[tf.Tensor, ...]:
        head = tf.cast(_bytes(contents, place, 4), tf.int32)
        is_exif = tf.equal(head[1], _APP1) & _starts(contents, b"Exif\0\0", place + 4)
        length = head[2] * 256 + head[3]
        return count + 1, place + 2 + length, tf.where(is_exif, place + 10, found)

    _, _, found = tf.while_loop(is_before_image, next_segment, [0, 2, 0], parallel_iterations=1)
    return tf.cond(found > 0, lambda: _of_tags(_bytes(contents, found, _EXIF_BYTES)),
                   lambda: tf.constant(1))


def _of_tags(data: tf.Tensor) -> tf.Tensor:
    """Returns the orientation among the tags of EXIF data, uint8 [length] in the form of TIFF."""
    values = tf.cast(data, tf.int32)
    is_big = tf.equal(values[0], ord("M"))

    def number(place: tf.Tensor) -> tf.Tensor:
        # Damaged data may point anywhere.
        first, second = (tf.gather(values, tf.clip_by_value(place + i, 0, tf.size(values) - 1))
                         for i in (0, 1))
        return tf.where(is_big, first * 256 + second, second * 256 + first)

    # A directory that begins beyond 64 KB is not that of the image.
    begin = number(tf.where(is_big, 6, 4))
    entries = begin + 2 + 12 * tf.range(tf.minimum(number(begin), _ENTRIES))
    is_found = tf.equal(number(entries), _ORIENTATION)
    orientation = tf.reduce_max(tf.concat([[1], tf.where(is_found, number(entries + 8), 1)], 0))
    return tf.where(orientation <= 8, orientation, 1)


def _starts(contents: tf.Tensor, with_bytes: bytes, place: int | tf.Tensor = 0) -> tf.Tensor:
    """Returns whether `contents` has these bytes at a place; also where it ends before."""
    size = len(with_bytes)
    return tf.reduce_all(tf.equal(_bytes(contents, place, size), list(with_bytes)))


def _bytes(contents: tf.Tensor, place: int | tf.Tensor, size: int | tf.Tensor) -> tf.Tensor:
    """Returns uint8 [size], with zeros for what is missing at the end of `contents`."""
    place = tf.minimum(place, tf.strings.length(contents))
    found = tf.io.decode_raw(tf.strings.substr(contents, place, size), tf.uint8)
    return tf.pad(found, [[0, size - tf.size(found)]])


def _little(values: tf.Tensor) -> tf.Tensor:
    return values[0] + 256 * (values[1] + 256 * values[2])
