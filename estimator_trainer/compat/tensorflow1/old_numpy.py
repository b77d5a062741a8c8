"""Names and behaviour of NumPy 1.18 that newer ones lack, as far as programs use them.

Numbers differ in one way that nothing here can mend: since NumPy 2.0, a float32 scalar and a Python
number make a float32, which was a float64.

Source: NumPy's release notes 1.20 to 2.4, the sections "Expired deprecations"
"""

from __future__ import annotations

from collections import abc
import functools
import math
import sys
from typing import Any, Callable, Optional
import warnings

import numpy as np

from estimator_trainer.compat.tensorflow1 import late_names, logged_once, old_arrays

NAMES: dict[str, Any] = {
    # Python's own types, and modules.
    **{name: f"builtins.{name}" for name in ("bool", "complex", "float", "int", "object", "str")},
    "long": "builtins.int",
    "math": math,
    "unicode": "builtins.str",
    "warnings": warnings,
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), np.inf),
    **dict.fromkeys(("NAN", "NaN"), np.nan),
    "NINF": -np.inf, "NZERO": -0.0, "PZERO": 0.0,
    "alltrue": np.all, "sometrue": np.any,
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype=dtype),
    "asscalar": lambda a: a.item(),
    "bool8": np.bool_, "bytes0": np.bytes_, "string_": np.bytes_,
    "cfloat": np.complex128, "complex_": np.complex128, "singlecomplex": np.complex64,
    "clongfloat": np.clongdouble, "longcomplex": np.clongdouble, "longfloat": np.longdouble,
    "cumproduct": np.cumprod, "product": np.prod, "round_": np.round,
    "float_": np.float64, "int0": np.intp, "uint0": np.uintp,
    "in1d": lambda ar1, ar2, assume_unique=False, invert=False: np.isin(
        np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert),
    "mat": np.asmatrix,
    "msort": lambda a: np.sort(a, axis=0),
    "object0": np.object_,
    "row_stack": np.vstack,
    "sctypes": {
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "int": [np.int8, np.int16, np.int32, np.int64],
        "others": [bool, object, bytes, str, np.void],
        "uint": [np.uint8, np.uint16, np.uint32, np.uint64]},
    "str0": np.str_, "unicode_": np.str_,
    "trapz": "numpy.trapezoid",
    "typeDict": "numpy.sctypeDict",
    "void0": np.void,
    **{name: f"numpy.exceptions.{name}" for name in (
        "AxisError", "ComplexWarning", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
        "VisibleDeprecationWarning")},
}
_PERCENTILES = ("nanpercentile", "nanquantile", "percentile", "quantile")
_STACKS = ("column_stack", "dstack", "hstack", "stack", "vstack")


def supply() -> None:
    """Makes the names and the behaviour available that this NumPy lacks."""
    late_names.offer(np, {name: home for name, home in NAMES.items() if name not in vars(np)},
                     "NumPy 2")
    # Until NumPy 2 the functions that are in its folder lib were in that module too.
    late_names.offer(np.lib, {name: f"numpy.{name}" for name, value in vars(np).items()
                              if callable(value) and name not in vars(np.lib)}, "NumPy 2")
    if int(np.__version__.partition(".")[0]) > 1:
        np.set_printoptions(legacy="1.25")  # 1.0, not np.float64(1.0), in a list.
    np.array = _array(np.array)
    np.asarray = _array(np.asarray)
    np.fromstring = _fromstring(np.fromstring)
    np.sum = _sum(np.sum)
    for name in _PERCENTILES:
        setattr(np, name, _percentile(getattr(np, name)))
    for name in _STACKS:
        setattr(np, name, _stack(getattr(np, name)))
    old_arrays.supply()


def _is_library(depth: int) -> bool:
    """Returns whether the function that calls is an installed package's, which knows its NumPy."""
    return "site-packages" in sys._getframe(depth + 1).f_code.co_filename


def _array(make: Callable[..., Any]) -> Callable[..., Any]:
    """Returns np.array or np.asarray as NumPy 1.18 had it, for programs."""
    @functools.wraps(make)
    def array(*args: Any, **kwargs: Any) -> Any:
        try:
            return make(*args, **kwargs)
        except ValueError as error:
            meant = _meant(str(error), kwargs) if not _is_library(1) else None
            if meant is None:
                raise
        logged_once.log(f"np.{make.__name__}: {meant}")
        if kwargs.get("copy") is False:
            return make(*args, **{**kwargs, "copy": None})
        return make(*args, **{**kwargs, "dtype": object})

    return array


def _meant(message: str, kwargs: dict[str, Any]) -> Optional[str]:
    """Returns what a call of `np.array` that fails gets instead; None if nothing."""
    if kwargs.get("copy") is False:
        return "copy=False copies where it has to, as before NumPy 2."
    if "inhomogeneous" in message and kwargs.get("dtype") is None:
        return "sequences of several lengths make an array of objects, as before NumPy 1.24."
    return None


def _fromstring(read: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(read)
    def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "",
                   **options: Any) -> Any:
        if sep:
            return read(string, dtype, count, sep=sep, **options)
        logged_once.log("np.fromstring of bytes went with NumPy 2.3; the program gets a copy of"
                        " np.frombuffer.")
        found = string.encode("latin1") if isinstance(string, str) else string
        return np.frombuffer(found, dtype, count).copy()

    return fromstring


def _sum(add: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(add)
    def sum_(a: Any, *args: Any, **kwargs: Any) -> Any:
        return sum(a) if isinstance(a, abc.Generator) else add(a, *args, **kwargs)

    return sum_


def _percentile(compute: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compute)
    def percentile(*args: Any, interpolation: Optional[str] = None, **kwargs: Any) -> Any:
        if interpolation is not None:  # The name of `method` before NumPy 1.22.
            kwargs["method"] = interpolation
        return compute(*args, **kwargs)

    return percentile


def _stack(join: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(join)
    def stack(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        return join(list(arrays) if isinstance(arrays, abc.Iterator) else arrays, *args, **kwargs)

    return stack
