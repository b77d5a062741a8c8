"""TensorFlow 1 for programs written for it: importing this is all there is to do.

    import estimator_trainer.compat.tf1  # before the program
    import tensorflow as tf              # TensorFlow 1's names and behaviour, and tf.contrib

A program, or the tests of one, can also be started with it:

    python -m estimator_trainer.compat.tf1 PROGRAM.py --its_flag=1
    python -m estimator_trainer.compat.tf1 -m pytest tests/

The name `tensorflow` in a program is then `tf.compat.v1` of the installed TensorFlow, under
`tf.disable_v2_behavior()`. Libraries that were written for TensorFlow 2, this one among them,
still get TensorFlow 2 by that name.

    tensorflow1/importing.py    decides who gets which TensorFlow
    tensorflow1/root_module.py  is what `import tensorflow` gives to a program
    tensorflow1/namespace.py    makes `tf.contrib` of the tables in `contrib/`
    tensorflow1/contrib_names.py knows which names `tf.contrib` had
    tensorflow1/old_modules.py finds modules by the folders that they were in
    tensorflow1/homes.py        finds where a name lives today
    tensorflow1/supplied.py     puts private names back that programs import
    tensorflow1/dimensions.py   makes shapes take whole floats
    tensorflow1/tensorflow0.py  puts names of TensorFlow 0.12 back
    tensorflow1/rnn_cells.py    makes private names of cells those of `tf.nn.rnn_cell`
    tensorflow1/program_flags.py lets a program define flags that absl has by the same name
    tensorflow1/keras_names.py  names Keras' variables as TensorFlow 1.15 did
    tensorflow1/keras_methods.py puts methods of Keras' classes back
    tensorflow1/keras_additions.py has names of Keras that went
    tensorflow1/keras_optimizers.py lets canned Estimators take today's Keras optimizers
    tensorflow1/old_arguments.py lets functions take arguments by their old names and places
    tensorflow1/private_modules.py gives modules of `tensorflow.python`, named in private_names.py
    tensorflow1/old_python.py   puts names and modules of Python 3.7 back
    tensorflow1/old_numpy.py    puts names and behaviour of NumPy 1.18 back
    tensorflow1/old_arrays.py   puts methods of its arrays back
    tensorflow1/old_protobuf.py imports what an old protoc generated
    tensorflow1/old_packages.py puts names of pandas, PyYAML and others back
    tensorflow1/old_pictures.py is scipy.misc
    tensorflow1/lost_methods.py puts methods of TensorFlow's classes back
    tensorflow1/eager_mode.py   switches on eager execution for Keras, too
    tensorflow1/operations/     makes the operations of TensorFlow 1.15, on which seeds depend
    tensorflow1/tutorials/      reads MNIST as tutorials did
    tensorflow1/stand_in.py     stands in for what is gone, and says so by name when it is used
"""

from __future__ import annotations

import functools
import importlib
import os
import runpy
import sys
from typing import Sequence

from estimator_trainer import compat

__all__ = ["install", "run", "seed_by_operations"]

_MODULES = "estimator_trainer.compat.tensorflow1"
_TEST_RUNNERS = ("pytest", "unittest")
# Each puts something back, in this order.
_SUPPLYING = (
    "supplied",
    "rnn_cells",
    "tensorflow0",
    "old_python",
    "old_numpy",
    "old_protobuf",
    "old_packages",
    "lost_methods",
    "eager_mode",
    "keras_names",
    "keras_methods",
    "keras_additions",
    "keras_optimizers",
    "old_arguments",
)


@functools.lru_cache(maxsize=None)
def install() -> None:
    """Gives programs TensorFlow 1 from now on; a second call does nothing.

    Raises:
      ConfigError: The installed packages cannot work together.
    """
    compat.install()
    # These modules import TensorFlow, which needs `compat` first.
    from estimator_trainer.compat.tensorflow1 import (dimensions, importing, namespace, operations,
                                                      program_flags, root_module)
    namespace.install()
    importing.install(root_module.module())
    program_flags.give_way()
    dimensions.accept_floats()
    dimensions.compare_as_before()
    for name in _SUPPLYING:
        importlib.import_module(f"{_MODULES}.{name}").supply()
    operations.install()
    seed_by_operations()


def seed_by_operations(is_wanted: bool = True) -> None:
    """Lets random ops take their seeds from the number of operations, as in TensorFlow 1.15.

    Args:
      is_wanted: False gives them the seeds of the installed TensorFlow, which numbers random ops.
    """
    from estimator_trainer.patches import op_seeds
    (op_seeds.install if is_wanted else op_seeds.remove)()


def run(arguments: Sequence[str]) -> None:
    """Runs a program as `python FILE ...` or `python -m MODULE ...` does, with TensorFlow 1."""
    is_module = arguments[0] == "-m"
    name, *words = arguments[is_module:]
    if is_module and name == "pytest":
        # pytest-xdist starts its workers with the same plug-ins.
        words = ["-p", __name__, *words]
    if is_module and name in _TEST_RUNNERS:
        pytest_configure()
    sys.argv[:] = [name, *words]
    if is_module:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(name))
        runpy.run_path(name, run_name="__main__")


def pytest_configure() -> None:
    """Gives flags their defaults where the command line is that of pytest, which calls this."""
    from estimator_trainer.compat.tensorflow1 import program_flags
    program_flags.keep_defaults()


def _program(arguments: Sequence[str]) -> Sequence[str]:
    """Returns the arguments, or ends the process if they name no program."""
    is_module = arguments[:1] == ["-m"]
    if len(arguments) < 1 + is_module or not is_module and not os.path.isfile(arguments[0]):
        got = f"got {arguments[0]!r}, which is no program" if arguments else "got no program"
        print(f"estimator_trainer.compat.tf1 {got}; expected FILE.py or -m MODULE. For example: "
              "python -m estimator_trainer.compat.tf1 -m pytest tests/", file=sys.stderr)
        raise SystemExit(2)
    return arguments


if __name__ == "__main__":
    _named = _program(sys.argv[1:])
    # Programs import the module by its name, which is not that of this one.
    from estimator_trainer.compat import tf1
    tf1.run(_named)
else:
    install()
