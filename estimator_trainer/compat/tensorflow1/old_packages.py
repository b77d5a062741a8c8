"""Names that packages had when programs of TensorFlow 1 were written.

None of these packages is imported for it: a program's own import of one brings the old names.

Sources: PyYAML's CHANGES for 6.0; "What's new" in pandas 2.0.0 and 3.0.0 and in h5py 3.0; the
release notes of SciPy 1.2, 1.8 and 1.14, of Pillow 10.0.0 and of scikit-learn 0.20, 0.23 and 1.4
"""

from __future__ import annotations

import functools
import importlib
from importlib import abc, machinery
import inspect
import sys
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

from estimator_trainer.compat import module_aliases
from estimator_trainer.compat.tensorflow1 import logged_once

_PICTURES = "estimator_trainer.compat.tensorflow1.old_pictures"
# Modules that are looked for only after those that are installed.
MODULES = {
    "scipy.misc": _PICTURES,
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.externals.joblib": "joblib",
    "sklearn.externals.six": "six",
    "sklearn.grid_search": "sklearn.model_selection",
}


def _put_back(owner: Any, name: str, value: Any) -> None:
    """Gives a module or a class a name that it lacks."""
    if not hasattr(owner, name):
        setattr(owner, name, value)


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
            _put_back(kind, name, method)


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
    _put_back(eigen, "__path__", [])


def _change_misc(misc: ModuleType) -> None:
    """Puts back the functions of pictures that SciPy 1.2 removed."""
    pictures = importlib.import_module(_PICTURES)
    for name in pictures.__all__:
        _put_back(misc, name, getattr(pictures, name))


def _change_image(image: ModuleType) -> None:
    """Puts back the names of ways to resize that Pillow 10 removed."""
    for old, new in (("ANTIALIAS", "LANCZOS"), ("CUBIC", "BICUBIC"), ("LINEAR", "BILINEAR")):
        if not hasattr(image, old):
            setattr(image, old, getattr(image.Resampling, new))


def _change_drawing(drawing: ModuleType) -> None:
    """Puts back the size of a text, which Pillow 10 removed."""
    _put_back(drawing.ImageDraw, "textsize", lambda self, text, *args, **kwargs:
              _size(self.textbbox((0, 0), text, *args, **kwargs)))


def _change_fonts(fonts: ModuleType) -> None:
    """Puts back the size of a text in a font, which Pillow 10 removed."""
    for kind in (fonts.FreeTypeFont, fonts.ImageFont):
        _put_back(kind, "getsize", lambda self, text, *args, **kwargs:
                  _size(self.getbbox(text, *args, **kwargs)))


def _size(box: Any) -> tuple[int, int]:
    """Returns the width of a box, and the height from the line's top."""
    left, _, right, bottom = box
    return int(right - left), int(bottom)


def _change_h5py(h5py: ModuleType) -> None:
    """Puts back `value`, which h5py 3.0 removed."""
    _put_back(h5py.Dataset, "value", property(lambda self: self[()]))


def _change_preprocessing(preprocessing: ModuleType) -> None:
    """Lets OneHotEncoder take `sparse`, which scikit-learn 1.4 knows as `sparse_output`."""
    construct = preprocessing.OneHotEncoder.__init__
    if "sparse" in inspect.signature(construct).parameters:
        return

    @functools.wraps(construct)
    def with_sparse(self: Any, *args: Any, **kwargs: Any) -> None:
        if "sparse" in kwargs:
            kwargs["sparse_output"] = kwargs.pop("sparse")
        construct(self, *args, **kwargs)

    preprocessing.OneHotEncoder.__init__ = with_sparse


CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "PIL.Image": _change_image,
    "PIL.ImageDraw": _change_drawing,
    "PIL.ImageFont": _change_fonts,
    "h5py": _change_h5py,
    "pandas": _change_pandas,
    "scipy.misc": _change_misc,
    "scipy.sparse.linalg.eigen": _change_eigen,
    "sklearn.preprocessing": _change_preprocessing,
    "yaml": _change_yaml,
}


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
