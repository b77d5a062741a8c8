"""A program's flags win over flags of the same name that absl defines for itself.

Programs of TensorFlow 1 define `log_dir`, `v` or `verbosity`, which were free when they were
written. absl defines them when it is imported, and refuses a second definition. absl's own modules
go on with their own flags, whatever type the program's have.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Iterator, Mapping

from absl import flags

# The frames of this module are not where a flag is defined.
flags.disclaim_key_flags()


def give_way() -> None:
    """Lets a program define flags by absl's names, from now on; two of its own still collide."""
    own = {name: flags.FLAGS[name] for name in flags.FLAGS
           if str(flags.FLAGS.find_module_defining_flag(name)).startswith("absl.")}
    for name, module in list(sys.modules.items()):
        if name.startswith("absl.") and not name.startswith("absl.flags"):
            _read_own_flags(module, own)

    class Yielding(flags.FlagValues):
        """FLAGS, where a flag of the program's takes the place of one of absl's."""

        def __setitem__(self, name: str, flag: flags.Flag[Any]) -> None:
            for each in (name, flag.short_name):
                if each in own and each in self and self[each] is own[each]:
                    delattr(self, each)
            super().__setitem__(name, flag)

    # An assignment to an attribute of FLAGS sets a flag.
    object.__setattr__(flags.FLAGS, "__class__", Yielding)


def keep_defaults() -> None:
    """Gives flags their defaults, in place of values that a program would take from sys.argv."""
    flags.FLAGS.mark_as_parsed()


def _read_own_flags(module: ModuleType, own: Mapping[str, flags.Flag[Any]]) -> None:
    """Lets a module of absl's read absl's own flags, by FLAGS or by what defined a flag."""
    values: Any = _OwnFlags(own)
    for name, value in list(vars(module).items()):
        if value is flags.FLAGS:
            setattr(module, name, values)
        elif isinstance(value, flags.FlagHolder) and value.name in own:
            setattr(module, name, flags.FlagHolder(values, own[value.name]))


class _OwnFlags:
    """FLAGS as the modules of absl see them: a flag that the program replaced is still absl's."""

    def __init__(self, own: Mapping[str, flags.Flag[Any]]):
        vars(self)["_own"] = own

    def __getitem__(self, name: str) -> Any:
        return self._own[name] if name in self._own else flags.FLAGS[name]

    def __iter__(self) -> Iterator[str]:
        return iter(flags.FLAGS)

    def __getattr__(self, name: str) -> Any:
        return self._own[name].value if self._is_replaced(name) else getattr(flags.FLAGS, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_replaced(name):
            self._own[name].value = value
        else:
            setattr(flags.FLAGS, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> list[str]:
        return flags.FLAGS(*args, **kwargs)

    def _is_replaced(self, name: str) -> bool:
        return name in self._own and (
            name not in flags.FLAGS or flags.FLAGS[name] is not self._own[name])
