"""Names and behaviour of Python 3.7 and NumPy 1.18 that newer ones lack."""

import importlib
import os
import random
import sys
import tempfile
import unittest

import numpy as np
import tensorflow as tf

PB2 = r"""
import sys
_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from google.protobuf import reflection as _reflection
from google.protobuf import symbol_database as _symbol_database

_sym_db = _symbol_database.Default()

DESCRIPTOR = _descriptor.FileDescriptor(
  name='NAME.proto',
  package='PACKAGE',
  syntax='proto2',
  serialized_pb=_b('SERIALIZED')
)

_COLOUR = _descriptor.Descriptor(
  name='Colour',
  full_name='PACKAGE.Colour',
  filename=None,
  file=DESCRIPTOR,
  containing_type=None,
  fields=[
    _descriptor.FieldDescriptor(
      name='red', full_name='PACKAGE.Colour.red', index=0,
      number=1, type=5, cpp_type=1, label=1,
      has_default_value=False, default_value=0,
      message_type=None, enum_type=None, containing_type=None,
      is_extension=False, extension_scope=None,
      options=None),
  ],
  extensions=[], nested_types=[], enum_types=[], options=None,
  is_extendable=False, syntax='proto2', extension_ranges=[], oneofs=[],
  serialized_start=START, serialized_end=END,
)

DESCRIPTOR.message_types_by_name['Colour'] = _COLOUR
_sym_db.RegisterFileDescriptor(DESCRIPTOR)

Colour = _reflection.GeneratedProtocolMessageType('Colour', (_message.Message,), dict(
  DESCRIPTOR = _COLOUR,
  __module__ = 'NAME_pb2'
  ))
_sym_db.RegisterMessage(Colour)
"""


def _text(array):
    return [str(array), str(array.dtype)]


def classes_of_collections():
    import collections
    from collections import Mapping, MutableMapping, OrderedDict, Sequence
    return [issubclass(OrderedDict, (Mapping, MutableMapping)), isinstance([], Sequence),
            isinstance(len, collections.Callable), isinstance((), collections.Iterable)]


def names_of_inspect():
    import inspect

    def function(a, b=2, *c, **d):
        return a, b, c, d

    spec = inspect.getargspec(function)
    return [list(spec), spec.args, spec.keywords, inspect.formatargspec(*spec)]


def arguments_only_by_name_in_getargspec():
    import inspect
    return inspect.getargspec(lambda *, a: a)


def modules_that_went():
    from distutils.util import strtobool
    from distutils.version import LooseVersion
    import imp
    import pipes
    import xml.etree.cElementTree as tree

    import pkg_resources
    module = imp.new_module("mine")
    exec("x = 3", vars(module))  # pylint: disable=exec-used
    return [module.x, pipes.quote("a b"), LooseVersion("1.10") > LooseVersion("1.9"),
            int(strtobool("yes")), tree.fromstring("<a><b/></a>")[0].tag,
            pkg_resources.parse_version("1.10") > pkg_resources.parse_version("1.9"),
            pkg_resources.get_distribution("numpy").version == np.__version__,
            pkg_resources.resource_exists("distutils", "version.py"),
            pkg_resources.resource_filename("json", "a/b.txt").endswith("/json/a/b.txt")]


def a_package_that_is_not_installed():
    import pkg_resources
    return pkg_resources.get_distribution("no-such-package")


def modules_by_imp():
    import imp
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "mine_of_imp.py"), "w") as file:
        file.write("x = 5\n")
    os.mkdir(os.path.join(folder, "pack_of_imp"))
    with open(os.path.join(folder, "pack_of_imp", "__init__.py"), "w") as file:
        file.write("y = 6\n")
    loaded = imp.load_source("by_imp", os.path.join(folder, "mine_of_imp.py"))
    found = imp.find_module("mine_of_imp", [folder])
    again = imp.load_module("mine_of_imp", *found)
    found[0].close()
    pack = imp.load_module("pack_of_imp", *imp.find_module("pack_of_imp", [folder]))
    return [loaded.x, again.x, found[2], pack.y, "by_imp" in sys.modules, imp.reload(again).x,
            imp.find_module("sys")[2], imp.load_module("sys", *imp.find_module("sys")) is sys]


def a_module_that_imp_does_not_find():
    import imp
    return imp.find_module("no_such_module")


def small_functions_of_python():
    import base64
    import fractions
    import threading
    import time
    return [time.clock() >= 0, fractions.gcd(4, 6), base64.encodestring(b"a").decode(),
            base64.decodestring(b"YQ==").decode(), threading.Thread().isAlive()]


def random_numbers():
    random.seed(3)
    letters = list("abcdef")
    random.shuffle(letters, lambda: 0.3)
    return [letters, random.sample({1, 2, 3, 4}, 2), random.sample(range(9), 2),
            random.randint(0, 10.0), random.randrange(5.0)]


def old_names_of_unittest():
    class Case(unittest.TestCase):

        def runTest(self):
            self.assertEquals(1, 1)
            self.assertNotEquals(1, 2)
            self.assertAlmostEquals(1., 1.)
            self.assert_(True)
            self.assertRegexpMatches("abc", "b")
            with self.assertRaisesRegexp(ValueError, "no"):
                raise ValueError("no")
            self.assertEquals(1, 2)

    result = unittest.TestResult()
    Case().run(result)
    return [len(result.failures), len(result.errors)]


def types_of_numpy():
    return [np.zeros(1, each).dtype.name for each in (
        np.float, np.int, np.bool, np.complex, np.float_, np.complex_, np.long, np.longfloat,
        np.int0, np.uint0, np.bool8, np.cfloat, np.singlecomplex)] + [
            np.dtype(each).kind for each in (np.object, np.str, np.unicode_, np.string_, np.object0)
    ] + [np.int(3.7), np.float("2.5"), np.str(3), isinstance("a", np.unicode)]


def numbers_of_numpy():
    return [np.Inf, np.infty, np.PINF, np.NINF, np.NaN, np.NAN, np.math.sqrt(4.)]


def functions_of_numpy():
    a = np.array([[3., 1.], [2., 5.]])
    return [np.asscalar(a[:1, :1]), np.product(a), np.cumproduct(a), np.in1d([1, 7], a),
            np.alltrue(a > 0), np.sometrue(a > 4), np.row_stack([a, a]), np.trapz(a[0]),
            np.round_(2.567, 1), np.asfarray([1, 2]), np.msort(a), np.mat("1 2"),
            np.trapz([1., 2., 3.], dx=2.)]


def classes_of_warnings():
    return [issubclass(np.VisibleDeprecationWarning, Warning), issubclass(np.AxisError, ValueError),
            issubclass(np.ComplexWarning, Warning)]


def methods_of_arrays():
    a = np.arange(6.).reshape([2, 3])
    a.itemset(0, 9.)
    a.itemset((1, 2), 8.)
    a.itemset(1, 0, 7.)
    one = np.zeros([1])
    one.itemset(4.)
    return [a, one, a.ptp(), a.ptp(axis=0), np.float32(1).tostring(),
            np.array([[1, 2]], np.int16).tostring(), np.array([[1, 2], [3, 4]], "u1").tostring("F"),
            np.array([1], "<i2").newbyteorder().tolist()]


def bytes_of_numpy():
    return [np.fromstring(b"abcd", np.uint8), np.fromstring(b"abcd", dtype=np.int16, count=1),
            np.fromstring("1 2 3", dtype=int, sep=" "), np.fromstring("ab", np.uint8)]


def bytes_of_numpy_can_be_written():
    found = np.fromstring(b"abcd", np.uint8)
    found[0] = 0
    return [found]


def bytes_that_do_not_fit():
    return np.fromstring(b"abc", np.int16)


def sequences_of_several_lengths():
    return [_text(np.array([[1, 2], [3]])), _text(np.asarray([[1], [2, 3]])),
            np.array([[1, 2], [3]]).shape]


def sequences_that_are_no_numbers():
    return np.array([[1, 2], [3]], dtype=np.float32)


def an_array_that_is_not_copied():
    a = np.zeros([2])
    return [np.array(a, copy=False) is a, np.array([1, 2], copy=False)]


def arrays_of_iterators():
    rows = [[1, 2], [3, 4]]
    return [np.vstack(np.array(each) for each in rows), np.stack(map(np.array, rows)),
            np.sum(each[0] for each in rows), np.hstack(np.array(each) for each in rows)]


def an_array_of_one_number():
    a = np.array([[2.5]])
    return [float(a), int(a), "%.2f %d" % (a, a), float(np.array(["3.5"])), float(np.float32(1)),
            int(np.array(7)), round(float(np.array([1])), 1)]


def an_array_of_two_numbers():
    return float(np.array([1., 2.]))


def an_array_of_no_number():
    return int(np.zeros([0]))


def how_numbers_are_printed():
    return [str([np.float32(1.5), np.int64(2)]), repr(np.float64(0.5)), str((np.bool_(True),)),
            str({"a": np.float32(0.1)})]


def a_fetched_number():
    with tf.Session() as session:
        loss = session.run(tf.constant([[0.25]]))
    return ["loss %.3f" % loss, float(loss), loss.tostring()]


def a_module_of_an_old_protoc():
    name = "colour_of_the_oracle"
    from google.protobuf import descriptor_pb2
    description = descriptor_pb2.FileDescriptorProto(name=name + ".proto", package=name)
    message = description.message_type.add(name="Colour")
    message.field.add(name="red", number=1, type=5, label=1)
    data = description.SerializeToString()
    inner = message.SerializeToString()
    text = "".join("\\x{:02x}".format(each) for each in data)
    start = data.index(inner)
    folder = tempfile.mkdtemp()
    for old, new in (("SERIALIZED", text), ("START", str(start)),
                     ("END", str(start + len(inner))), ("PACKAGE", name), ("NAME", name)):
        PB2_TEXT[0] = PB2_TEXT[0].replace(old, new)
    with open(os.path.join(folder, name + "_pb2.py"), "w") as file:
        file.write(PB2_TEXT[0])
    sys.path.insert(0, folder)
    module = importlib.import_module(name + "_pb2")
    made = module.Colour(red=3)
    return [made.red, module.Colour.FromString(made.SerializeToString()).red,
            module.Colour.DESCRIPTOR.full_name, module.DESCRIPTOR.name]


def names_that_numpy_lib_lost():
    return [np.lib.pad([1, 2], 1, "constant"), np.lib.tile([1], 2),
            np.percentile([1., 2., 4.], 40, interpolation="lower"),
            np.nanpercentile([1., np.nan, 4.], 40, interpolation="higher")]


PB2_TEXT = [PB2]


def types_of_numpy_by_kind():
    return {kind: [np.dtype(each).name for each in types if kind != "others"]
            for kind, types in np.sctypes.items()}
