"""Runs files of TensorFlow 1.15's own tests, and writes how each of their tests ended.

    python3.7 upstream1_runner.py OUT.jsonl SECS FILE ...            # natively
    python upstream1_runner.py --tf1 OUT.jsonl SECS FILE ...         # as TensorFlow 1 is here

A line of the output is {"file", "test", "outcome", "why"}. A file gets SECS seconds and a process
of its own, forked from one that has imported TensorFlow. A file that ends early has a line without
a test.

The file has to be understood by Python 3.7, which TensorFlow 1.15 needs.
"""

import importlib.util
import json
import os
import signal
import sys
import tempfile
import unittest

# unittest had these names until Python 3.12.
OLD_NAMES = (("assertEquals", "assertEqual"), ("assertNotEquals", "assertNotEqual"),
             ("assertAlmostEquals", "assertAlmostEqual"), ("assert_", "assertTrue"),
             ("assertNotAlmostEquals", "assertNotAlmostEqual"),
             ("assertRegexpMatches", "assertRegex"), ("assertItemsEqual", "assertCountEqual"),
             ("assertNotRegexpMatches", "assertNotRegex"), ("failUnless", "assertTrue"),
             ("assertRaisesRegexp", "assertRaisesRegex"))

# Modules that only tests import; natively TensorFlow has them, here the checkout does.
HELPERS = ("contrib/distributions/python/ops/statistical_testing",
           "contrib/distributions/python/ops/test_util",
           "contrib/factorization/python/ops/factorization_ops_test_utils",
           "contrib/learn/python/learn/estimators/estimator_test_utils",
           "contrib/learn/python/learn/estimators/head_test",
           "contrib/learn/python/learn/estimators/test_data",
           "contrib/testing/python/framework/util_test",
           "python/ops/spectral_ops_test_util")
HOUSES = "tensorflow/contrib/learn/python/learn/datasets/data/boston_house_prices.csv"


class Result(unittest.TestResult):
    """Writes the outcome of each test as soon as there is one."""

    def __init__(self, write):
        super(Result, self).__init__()
        self._write, self._why = write, ("passed", "")

    def startTest(self, test):  # pylint: disable=invalid-name
        super(Result, self).startTest(test)
        self._why = ("passed", "")

    def addError(self, test, err):  # pylint: disable=invalid-name
        self._why = ("failed", "%s: %s" % (err[0].__name__, err[1]))
        if not isinstance(test, unittest.TestCase) or "setUpClass" in test.id():
            self._write(str(test), *self._why)

    addFailure = addError

    def addSubTest(self, test, subtest, err):  # pylint: disable=invalid-name
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test, reason):  # pylint: disable=invalid-name
        self._why = ("skipped", reason)

    def addExpectedFailure(self, test, err):  # pylint: disable=invalid-name
        """Leaves it at passed."""

    def stopTest(self, test):  # pylint: disable=invalid-name
        super(Result, self).stopTest(test)
        name = test.id().partition(".")[2].replace("_v2_funcgraph", "_v2_function")
        self._write(name, *self._why)  # Keras calls a mode otherwise today.


def load(name, path):
    """Returns the module of a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_helpers(path):
    """Loads the helpers that a file of tests names, and finds the data that came with 1.15."""
    root = path.partition("/tensorflow/contrib/")[0]
    from estimator_trainer.compat.contrib.learn import datasets  # Natively there is none.
    datasets.load_boston.__defaults__ = (os.path.join(root, HOUSES),)
    with open(path) as file:
        text = file.read()
    for helper in HELPERS:
        helper_path = os.path.join(root, "tensorflow", helper + ".py")
        if helper.rpartition("/")[2] in text and os.path.exists(helper_path):
            load("tensorflow." + helper.replace("/", "."), helper_path)


def run(path, write, is_native):
    """Runs the tests of one file."""
    try:
        if not is_native:
            load_helpers(path)
        module = load(os.path.basename(path)[:-len(".py")], path)
        tests = unittest.defaultTestLoader.loadTestsFromModule(module)
    except BaseException as error:  # pylint: disable=broad-except
        write("", "failed", "%s: %s" % (type(error).__name__, error))
        return
    tests.run(Result(write))


def main(arguments):
    """Runs the files one after the other."""
    is_native = arguments[0] != "--tf1"
    if not is_native:
        arguments = arguments[1:]
        importlib.import_module("estimator_trainer.compat.tf1")
    out, secs, files = os.path.abspath(arguments[0]), int(arguments[1]), arguments[2:]
    from absl import flags  # pylint: disable=import-outside-toplevel
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    for old, new in OLD_NAMES:
        if not hasattr(unittest.TestCase, old):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
    tf.logging.set_verbosity(tf.logging.FATAL)
    tf.test.TestCase  # Defines flags.
    flags.FLAGS([sys.argv[0]])
    for path in files:
        def write(test, outcome, why="", path=path):
            with open(out, "a") as file:
                file.write(json.dumps({"file": path, "test": test, "outcome": outcome,
                                       "why": str(why)[:400]}) + "\n")

        child = os.fork()
        if not child:
            signal.alarm(secs)
            os.chdir(tempfile.mkdtemp())
            run(path, write, is_native)
            sys.stdout.flush()
            os._exit(0)  # Threads that a failed test left do not end.
        status = os.waitpid(child, 0)[1]
        if status:
            write("", "failed", "ended with status %d, a signal or after %d s" % (status, secs))


if __name__ == "__main__":
    main(sys.argv[1:])
