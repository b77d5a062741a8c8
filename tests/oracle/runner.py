"""Runs the programs of some areas, and writes what they answer as JSON.

    python3.7 tests/oracle/runner.py OUT.json [--all] AREA ...
    estimator-trainer run --tf1 tests/oracle/runner.py -- OUT.json [--all] AREA ...

A case is a public function of `programs/AREA.py` without arguments. It starts with a graph of its
own, whose seed is 7, and returns tensors, or values that it computed itself, in dicts and lists.
Tensors are computed in one session after variables and tables are initialized. The names, shapes
and types of the graph's variables are part of the answer. Without --all, cases that a module names
in SOAK are left out.

The file has to be understood by Python 3.7, which TensorFlow 1.15 needs.
"""

import importlib
import json
import os
import random
import sys
import time
import types

import numpy as np
import tensorflow as tf

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
SEED = 7
# A longer array is described by its first numbers and its sums.
LONGEST = 64


def cases(module):
    """Returns {name: function} of a module's cases."""
    return {name: value for name, value in sorted(vars(module).items())
            if isinstance(value, types.FunctionType) and not name.startswith("_")
            and value.__module__ == module.__name__}


def answer(case):
    """Returns what a case answers, or the name of the error in which it ends."""
    tf.reset_default_graph()
    tf.set_random_seed(SEED)
    np.random.seed(SEED)
    random.seed(SEED)
    try:
        found = case()
        if tf.contrib.framework.nest.flatten(found, expand_composites=True) and any(
                isinstance(each, (tf.Tensor, tf.Operation, tf.Variable, tf.SparseTensor))
                for each in tf.contrib.framework.nest.flatten(found)):
            found = _computed(found)
        return {"value": plain(found), "variables": _variables()}
    except Exception as error:  # pylint: disable=broad-except
        return {"raises": type(error).__name__, "message": str(error)[:300]}


def _computed(found):
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        flat = tf.contrib.framework.nest.flatten(found)
        where = [index for index, each in enumerate(flat) if isinstance(
            each, (tf.Tensor, tf.Operation, tf.Variable, tf.SparseTensor))]
        for index, value in zip(where, session.run([flat[index] for index in where])):
            flat[index] = value
        return tf.contrib.framework.nest.pack_sequence_as(found, flat)


def _variables():
    collections = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    return {each.op.name: [each.dtype.base_dtype.name, each.shape.as_list()]
            for each in collections}


def plain(value):
    """Returns a value as JSON can hold it: an array's type and shape stay."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, tf.SparseTensorValue):
        return {"sparse": [plain(each) for each in value]}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _array(np.asarray(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        return repr(value) if value != value or value in (np.inf, -np.inf) else value
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (tf.DType, tf.TensorShape)):
        return str(value)
    return type(value).__name__


def _array(array):
    flat = array.ravel()
    numbers = flat if array.dtype.kind in "biuf" else None
    shown = {"dtype": array.dtype.name if array.dtype.kind not in "SUO" else "string",
             "shape": list(array.shape), "values": [_number(each) for each in flat[:LONGEST]]}
    if len(flat) > LONGEST and numbers is not None:
        numbers = numbers.astype("float64")
        shown["sums"] = [plain(float(numbers.sum())), plain(float(np.abs(numbers).sum()))]
    return shown


def _number(value):
    if isinstance(value, np.complexfloating):
        return [value.real.item(), value.imag.item()]
    return plain(value.item() if hasattr(value, "item") else value)


def main(arguments):
    """Writes {area: {case: answer}}, with the seconds that each took."""
    out, areas = arguments[0], [each for each in arguments[1:] if each != "--all"]
    sys.path.insert(0, PROGRAMS)
    tf.logging.set_verbosity(tf.logging.FATAL)
    answers = {}
    for area in areas:
        module, answers[area] = importlib.import_module(area), {}
        for name, case in cases(module).items():
            if "--all" not in arguments and name in getattr(module, "SOAK", ()):
                continue
            start = time.time()
            answers[area][name] = answer(case)
            answers[area][name]["secs"] = round(time.time() - start, 2)
    with open(out, "w") as file:
        json.dump({"tensorflow": tf.__version__, "python": sys.version.split()[0],
                   "answers": answers}, file)


if __name__ == "__main__":
    main(sys.argv[1:])
