"""Functions of pictures that SciPy had as `scipy.misc`, which a program gets by that name.

Source: the reference of scipy.misc of SciPy 1.1, whose functions use Pillow
"""

from __future__ import annotations

import importlib
from typing import Any, Optional

import numpy as np

__all__ = ["bytescale", "comb", "factorial", "factorial2", "fromimage", "imread", "imresize",
           "imrotate", "imsave", "logsumexp", "toimage"]

# No types are known of SciPy and Pillow.
_SPECIAL: Any = importlib.import_module("scipy.special")
comb, factorial, factorial2, logsumexp = (
    _SPECIAL.comb, _SPECIAL.factorial, _SPECIAL.factorial2, _SPECIAL.logsumexp)
_METHODS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}
_MODES = {3: "RGB", 4: "RGBA"}


def bytescale(data: Any, cmin: Any = None, cmax: Any = None, high: int = 255,
              low: int = 0) -> Any:
    """Returns numbers from cmin to cmax, the data's own by default, as uint8 from low to high.

    uint8 stays as it is.

    Raises:
      ValueError: The limits are in the wrong order.
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    if not 0 <= low <= high <= 255:
        raise ValueError("`low` and `high` should be from 0 to 255, in this order.")
    least = data.min() if cmin is None else cmin
    range_ = (data.max() if cmax is None else cmax) - least
    if range_ < 0:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scaled = (data - least) * (float(high - low) / (range_ or 1)) + low
    return (scaled.clip(low, high) + .5).astype(np.uint8)


def _pillow() -> Any:
    return importlib.import_module("PIL.Image")


def toimage(arr: Any, high: int = 255, low: int = 0, cmin: Any = None, cmax: Any = None,
            pal: Any = None, mode: Optional[str] = None, channel_axis: Optional[int] = None) -> Any:
    """Returns the Pillow image of an array [height, width], or of one with 3 or 4 channels.

    Raises:
      ValueError: The array has another shape.
    """
    image_of: Any = _pillow().fromarray
    data = np.asarray(arr)
    if data.ndim == 2 and mode in ("F", "I"):
        return image_of(data.astype(np.float32 if mode == "F" else np.int32))
    scaled = bytescale(data, cmin, cmax, high, low)
    if data.ndim == 2:
        image = image_of(scaled)
        if pal is not None:
            image.putpalette(np.asarray(pal, np.uint8).tobytes())
        return image.convert(mode) if mode in ("1", "P") and pal is None else image
    axes = [axis for axis, size in enumerate(data.shape) if size in _MODES]
    if data.ndim != 3 or not axes or channel_axis is not None and data.shape[
            channel_axis] not in _MODES:
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    axis = channel_axis if channel_axis is not None else next(
        (each for each in axes if data.shape[each] == 3), axes[0])
    channels = np.moveaxis(scaled, axis, -1)
    image = image_of(np.ascontiguousarray(channels), _MODES[channels.shape[-1]])
    return image if mode is None else image.convert(mode)


def fromimage(im: Any, flatten: bool = False, mode: Optional[str] = None) -> np.ndarray:
    """Returns the array of a Pillow image; `flatten` makes it gray, float32."""
    if mode is not None:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: Optional[str] = None) -> np.ndarray:
    """Returns the picture of a file, or of an open one."""
    with _pillow().open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: Optional[str] = None) -> None:
    """Writes a picture, [height, width] or [height, width, 3 or 4], into a file."""
    channel_axis = 2 if np.ndim(arr) == 3 else None
    toimage(arr, channel_axis=channel_axis).save(name, **({"format": format} if format else {}))


def imresize(arr: Any, size: Any, interp: str = "bilinear",
             mode: Optional[str] = None) -> np.ndarray:
    """Returns a picture in a size: an int of percents, a float's share, or [height, width]."""
    image = toimage(arr, mode=mode)
    if np.ndim(size) == 0:
        share = size / 100. if np.issubdtype(type(size), np.signedinteger) else size
        wanted = tuple((np.array(image.size) * share).astype(int).tolist())
    else:
        wanted = (int(size[1]), int(size[0]))
    return fromimage(image.resize(wanted, resample=_METHODS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """Returns a picture that is rotated counter-clockwise by an angle in degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=_METHODS[interp]))
