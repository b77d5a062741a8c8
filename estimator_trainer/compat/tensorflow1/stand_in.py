"""A stand-in for what TensorFlow 1 had and nothing has today.

A program often imports more than it uses, so the import works, and the use says what is missing.
"""

from __future__ import annotations

from typing import Any, NoReturn

from estimator_trainer.errors import ConfigError


class GoneError(ConfigError, NotImplementedError, AttributeError):
    """A name of TensorFlow 1 that cannot be had, and what takes its place.

    The class is an AttributeError, so that a program that asks with `hasattr` gets its answer.
    """


class StandIn:
    """Raises one sentence when it is called, subclassed, compared, or asked for an attribute."""

    def __init__(self, name: str, sentence: str) -> None:
        vars(self).update(_name=name, _sentence=sentence)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise GoneError(vars(self)["_sentence"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # Python itself reads such names.
        self._refuse()

    def __repr__(self) -> str:
        return f"<{vars(self)['_name']}, which is gone>"

    def __instancecheck__(self, value: Any) -> bool:
        return False  # There are no instances.

    def __hash__(self) -> int:
        return id(self)

    _use: Any = _refuse  # A subclass may answer after all.
    __call__ = __mro_entries__ = __eq__ = __bool__ = __iter__ = __getitem__ = _use
    __enter__ = __len__ = __lt__ = __add__ = __int__ = __float__ = __index__ = _use
