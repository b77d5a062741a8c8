"""Methods of NumPy's arrays that NumPy 2 removed.

Arrays are a type of C, which takes no attributes from Python, so its dictionary is written itself.
`int(array)` and `float(array)` are slots of the type, found where CPython's
`Include/cpython/object.h` has them; a class of Python has a function there that calls `__int__` and
`__float__`. Nothing is changed in a Python that is built otherwise.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any, Callable

import numpy as np

from estimator_trainer.compat.tensorflow1 import logged_once


def _itemset(self: Any, *args: Any) -> None:
    """Sets one number: of an array of one, or where an index of the flat array or several say."""
    *index, value = args
    if len(index) == 1 and not isinstance(index[0], tuple):
        self.flat[index[0]] = value
    else:
        self[tuple(np.ravel(index)) if index else (0,) * self.ndim] = value


METHODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "itemset": ("a[...] = value", _itemset),
    "newbyteorder": ("a.view(a.dtype.newbyteorder())", lambda self, new_order="S": self.view(
        self.dtype.newbyteorder(new_order))),
    "ptp": ("np.ptp(a)", lambda self, *args, **kwargs: np.ptp(self, *args, **kwargs)),
    "tostring": ("a.tobytes()", lambda self, order="C": self.tobytes(order)),
}
_POINTER = ctypes.sizeof(ctypes.c_void_p)
# Fields of PyTypeObject and PyNumberMethods, counted in pointers.
_NAME, _AS_NUMBER, _INT, _FLOAT = 3, 12, 16, 18


def supply() -> None:
    """Gives arrays and NumPy's scalars their old methods."""
    if sys.implementation.name != "cpython":
        return
    for kind in (np.ndarray, np.generic):
        lost = {name: found for name, found in METHODS.items() if not hasattr(kind, name)}
        for name, (instead, function) in lost.items():
            # The dictionary behind the read-only view that `vars` gives.
            gc.get_referents(vars(kind))[0][name] = _method(name, instead, function)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    _convert_one_number()


def _method(name: str, instead: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        logged_once.log(f"The method {name} of arrays went with NumPy 2; the program gets "
                        f"{instead}.")
        return function(self, *args, **kwargs)

    return method


class _Number:
    """Its slots hold what calls methods of Python."""

    def __int__(self) -> int:
        raise NotImplementedError

    def __float__(self) -> float:
        raise NotImplementedError


def _convert_one_number() -> None:
    """Lets `int` and `float` take an array of one number, of any shape."""
    try:
        float(np.ones([1]))
    except TypeError:
        slots, calling = _number_slots(np.ndarray, b"numpy.ndarray"), _number_slots(_Number)
        if not slots:
            return
        for slot, name in ((_INT, "__int__"), (_FLOAT, "__float__")):
            present = vars(np.ndarray)[name]
            gc.get_referents(vars(np.ndarray))[0][name] = _conversion(present)
            function = ctypes.c_void_p.from_address(calling + slot * _POINTER).value
            ctypes.c_void_p.from_address(slots + slot * _POINTER).value = function
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(np.ndarray))


def _number_slots(kind: Any, expected: bytes = b"") -> int:
    """Returns the address of a type's slots for numbers; 0 if the type is laid out otherwise."""
    name = ctypes.c_char_p.from_address(id(kind) + _NAME * _POINTER).value
    if expected and name != expected:
        return 0
    return ctypes.c_void_p.from_address(id(kind) + _AS_NUMBER * _POINTER).value or 0


def _conversion(present: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(array: Any) -> Any:
        if array.ndim == 0 or array.size != 1:
            return present(array)
        logged_once.log("Since NumPy 2.5, an array with dimensions is no number; the program gets "
                        "the number of an array that holds one.")
        return present(array.reshape(()))

    return convert
