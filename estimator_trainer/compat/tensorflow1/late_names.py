"""Offers names that a module lost: the first use of each is logged."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Mapping

from estimator_trainer.compat.tensorflow1 import homes, logged_once


def offer(module: ModuleType, names: Mapping[str, Any], release: str,
          shown_module: str = "") -> None:
    """Lets a module have `names` where it lacks them.

    Args:
      module: The module.
      names: Each name, and its dotted home or the object itself.
      release: The release that removed them, for the log; "" logs nothing.
      shown_module: What programs call the module, where that is another name.
    """
    # The wrapper that TensorFlow puts around a module asks it for other names.
    module = getattr(module, "_tfmw_wrapped_module", module)
    present: Callable[[str], Any] = getattr(module, "__getattr__", _none_of(module))

    def get(name: str) -> Any:
        if name not in names:
            return present(name)
        home = names[name]
        value = homes.resolve(home)
        shown = home if isinstance(home, str) else getattr(home, "__name__", repr(home))
        if release:
            logged_once.log(f"{shown_module or module.__name__}.{name} went with {release}; the "
                            f"program gets {shown.removeprefix('builtins.')}.")
        setattr(module, name, value)
        return value

    vars(module)["__getattr__"] = get


def _none_of(module: ModuleType) -> Callable[[str], Any]:
    def get(name: str) -> Any:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name,
                             obj=module)

    return get
