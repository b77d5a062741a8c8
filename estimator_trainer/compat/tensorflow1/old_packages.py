"""Names that PyYAML, pandas, SciPy and scikit-learn had when programs of TensorFlow 1 were written.

None of these packages is imported for it: a program's own import of one brings the old names.

Sources: PyYAML's CHANGES for 6.0; "What's new" in pandas 2.0.0 and 3.0.0; the release notes of
SciPy 1.8 and of scikit-learn 0.20 and 0.23
"""

from __future__ import annotations

import functools
from importlib import abc, machinery
import sys
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

from estimator_trainer.compat import module_aliases
from estimator_trainer.compat.tensorflow1 import logged_once

# Modules that are looked for only after those that are installed.
MODULES = {
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.externals.joblib": "joblib",
    "sklearn.externals.six": "six",
    "sklearn.grid_search": "sklearn.model_selection",
}


def _change_yaml(yaml: ModuleType) -> None:
    """Lets `load` do without a Loader, which PyYAML 6 demands."""
    for name in ("load", "load_all"):
        setattr(yaml, name, _without_loader(getattr(yaml, name)))


def _without_loader(load: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(load)
    def with_default(stream: Any, Loader: Any = None) -> Any:  # pylint: disable=invalid-name
        if Loader is None:
            logged_once.log(f"yaml.{load.__name__} demands a Loader since PyYAML 6.0; the program's"
                            " call gets yaml.FullLoader.")
            Loader = sys.modules["yaml"].FullLoader
        return load(stream, Loader)

    return with_default


def _change_pandas(pandas: ModuleType) -> None:
    """Puts back what pandas 2.0 removed; texts are objects again, whose type TensorFlow knows."""
    if int(pandas.__version__.partition(".")[0]) > 2:
        pandas.set_option("future.infer_string", False)
    for kind in (pandas.DataFrame, pandas.Series):
        for name, method in (("append", _append), ("iteritems", kind.items)):
            if not hasattr(kind, name):
                setattr(kind, name, method)


def _append(self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False,
            sort: bool = False) -> Any:
    """Returns the rows of a table, or the values of a column, and then those of others."""
    logged_once.log("append of pandas went with pandas 2.0; the program gets pandas.concat.")
    pandas = sys.modules["pandas"]
    others = list(other) if isinstance(other, (list, tuple)) else [other]
    if isinstance(self, pandas.DataFrame):
        others = [pandas.DataFrame([each]) if isinstance(each, (dict, pandas.Series)) else each
                  for each in others]
        return pandas.concat([self, *others], ignore_index=ignore_index,
                             verify_integrity=verify_integrity, sort=sort)
    return pandas.concat([self, *others], ignore_index=ignore_index,
                         verify_integrity=verify_integrity)


def _change_eigen(eigen: ModuleType) -> None:
    """Makes a package of what SciPy 1.8 made a module of."""
    if not hasattr(eigen, "__path__"):
        setattr(eigen, "__path__", [])


CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "pandas": _change_pandas, "scipy.sparse.linalg.eigen": _change_eigen, "yaml": _change_yaml}


class _Finder(abc.MetaPathFinder):
    """Finds the packages of a table, and changes each when it has been imported."""

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[ModuleType] = None) -> Optional[machinery.ModuleSpec]:
        """Returns how to load the package; None if it is not in the table or not installed."""
        spec = machinery.PathFinder.find_spec(name, path) if name in CHANGES else None
        if spec is not None and spec.loader is not None:
            setattr(spec.loader, "exec_module", _and_then(spec.loader.exec_module, CHANGES[name]))
        return spec


def _and_then(load: Callable[[ModuleType], None], change: Callable[[ModuleType], None]
              ) -> Callable[[ModuleType], None]:
    def load_and_change(module: ModuleType) -> None:
        load(module)
        change(module)

    return load_and_change


def supply() -> None:
    """Gives a program's packages their old names, now or when it imports them."""
    for name, change in CHANGES.items():
        if name in sys.modules:
            change(sys.modules[name])
    sys.meta_path.insert(0, _Finder())
    for name, home in MODULES.items():
        module_aliases.add_last(name, home,
                                f"The module {name} is gone; the program gets {home}.")
