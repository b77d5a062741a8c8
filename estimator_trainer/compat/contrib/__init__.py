"""`tf.contrib`: where the names of TensorFlow 1's packages live today, a module or folder each."""

from __future__ import annotations

import pkgutil

# `NAME.py`, or `NAME/__init__.py`, is the table of the package `tf.contrib.NAME`; what this project
# wrote of it is in other modules of the folder `NAME/`. Small packages are in `moved.py`.
# `tensorflow1/namespace.py` says what a table has. Tables name private modules of TensorFlow;
# `tests/compat/test_contrib.py` notices when one moves.
PACKAGES = frozenset(each.name for each in pkgutil.iter_modules(__path__)) - {"moved"}
