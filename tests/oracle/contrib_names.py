"""Lists the names of TensorFlow 1.15's `tf.contrib`, for `compat/tensorflow1/contrib_names.py`.

    cd estimator_trainer/compat/tensorflow1
    python3.7 -W ignore ../../../tests/oracle/contrib_names.py > contrib_names.txt

A package has five lines: the names that it offers, those that only modules in it have, these
modules, those of them whose name is in their package that of a function or class, and the modules
that it or a package in it has by other names. The file has to be understood by Python 3.7, which
TensorFlow 1.15 needs.
"""

import importlib
import pkgutil
import sys
import textwrap
import types

import tensorflow as tf

_ROOT = "tensorflow.contrib"
_OURS = (_ROOT, "tensorflow_estimator.contrib")
# Python's own, and what `from __future__ import` leaves behind.
_NOISE = {"absolute_import", "division", "print_function", "unicode_literals"}
KINDS = ("offered", "inner", "modules", "hidden", "aliases")
_MODULES = ("LazyLoader", "TFModuleWrapper", "DeprecationWrapper")


def main():
    """Prints the list."""
    tf.logging.set_verbosity(tf.logging.FATAL)
    contrib = importlib.import_module(_ROOT)
    dir(contrib)
    found = {}
    for path in _paths(contrib):
        kinds = found.setdefault(path.split(".")[2], {kind: set() for kind in KINDS})
        try:
            module = importlib.import_module(path)
        except Exception:  # pylint: disable=broad-except
            continue
        if path.count(".") == 2:
            kinds["offered"].update(name for name in _names(module) if not name.startswith("_"))
        else:
            inner = path.split(".", 3)[3]
            kinds["modules"].add(inner)
            kinds["inner"].update(_names(module))
            parent, _, child = path.rpartition(".")
            if not _is_module(getattr(sys.modules[parent], child, module)):
                kinds["hidden"].add(inner)
        kinds["aliases"].update(_aliases(path, module))
    print("# The names of TensorFlow 1.15.5's tf.contrib, by tests/oracle/contrib_names.py.")
    for package, kinds in sorted(found.items()):
        print("\n[{}]".format(package))
        kinds["inner"] -= kinds["offered"]
        for kind in KINDS:
            print(textwrap.fill(" ".join([kind + ":"] + sorted(kinds[kind])), 100,
                                subsequent_indent="  ", break_long_words=False,
                                break_on_hyphens=False))


def _paths(contrib):
    """Yields the modules that programs can import."""
    for each in pkgutil.walk_packages(contrib.__path__, _ROOT + ".", onerror=lambda name: None):
        last = each.name.rpartition(".")[2]
        if not last.endswith(("_test", "_test_base")):
            yield each.name


def _names(module):
    for name in dir(module):
        value = getattr(module, name, None)
        home = getattr(value, "__module__", None)
        if not name.startswith("__") and name not in _NOISE and not _is_module(value) and not (
                isinstance(home, str) and _is_foreign(name, home)):
            yield name


def _aliases(path, module):
    """Yields what a package calls modules of TensorFlow that lie elsewhere."""
    for name in dir(module) if hasattr(module, "__path__") else ():
        value = getattr(module, name, None)
        home = getattr(value, "__name__", "")
        if (_is_module(value) and not name.startswith("_") and home != path + "." + name
                and home.startswith((_ROOT + ".", "tensorflow.python."))):
            inner = ".".join((path + "." + name).split(".")[3:])
            yield inner + "=" + (home[len(_ROOT) + 1:] if home.startswith(_ROOT) else home)


def _is_foreign(name, home):
    """Returns whether a private name was imported from elsewhere."""
    return name.startswith("_") and not home.startswith(_OURS)


def _is_module(value):
    return isinstance(value, types.ModuleType) or type(value).__name__ in _MODULES


if __name__ == "__main__":
    main()
