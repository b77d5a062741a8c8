"""The protocol buffer of `tf.contrib.training.HParams`: `tensorflow.HParamDef` of TensorFlow 1.15.

Graphs that were exported by TensorFlow 1 hold such messages in collections.
"""

from __future__ import annotations

from typing import Any, Mapping

from google.protobuf import (descriptor_pb2, descriptor_pool,  # type: ignore[import-untyped]
                             message_factory)

# The kind that each type is stored as, the number of the type in a FieldDescriptorProto, and the
# fields of one value and of a list. `bool` is before `int`, of which it is a kind.
_KINDS = ((bool, "bool", 8, 7, 8), (int, "int64", 3, 1, 4), ((str, bytes), "bytes", 12, 3, 6),
          (float, "float", 2, 2, 5))
_MESSAGE, _OPTIONAL, _REPEATED = 11, 1, 3


def _file() -> Any:
    """Returns the description of `tensorflow/contrib/training/.../hparam.proto`."""
    file = descriptor_pb2.FileDescriptorProto(
        name="estimator_trainer/hparam.proto", package="tensorflow", syntax="proto3")
    message = file.message_type.add(name="HParamDef")
    kinds = message.nested_type.add(name="HParamType")
    kinds.oneof_decl.add(name="kind")
    scope = ".tensorflow.HParamDef"
    for _, name, number, single, several in _KINDS:
        a_list = f"{name.capitalize()}List"
        field = message.nested_type.add(name=a_list).field.add(
            name="value", number=1, type=number, label=_REPEATED)
        field.options.packed = name != "bytes"
        kinds.field.add(name=f"{name}_value", number=single, type=number, label=_OPTIONAL,
                        oneof_index=0)
        kinds.field.add(name=f"{name}_list", number=several, type=_MESSAGE, label=_OPTIONAL,
                        type_name=f"{scope}.{a_list}", oneof_index=0)
    entry = message.nested_type.add(name="HparamEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=9, label=_OPTIONAL)
    entry.field.add(name="value", number=2, type=_MESSAGE, label=_OPTIONAL,
                    type_name=f"{scope}.HParamType")
    message.field.add(name="hparam", number=1, type=_MESSAGE, label=_REPEATED,
                      type_name=f"{scope}.HparamEntry")
    return file


_POOL = descriptor_pool.DescriptorPool()
_POOL.AddSerializedFile(_file().SerializeToString())
HParamDef: Any = message_factory.GetMessageClass(
    _POOL.FindMessageTypeByName("tensorflow.HParamDef"))


def hparam_def(typed: Mapping[str, tuple[Any, Any]]) -> Any:
    """Returns the message of {name: (type, value)}.

    Raises:
      ValueError: A type is none that the message has.
    """
    message = HParamDef()
    for name, (kind, value) in typed.items():
        stored = next((name for kinds, name, *_ in _KINDS if issubclass(kind, kinds)), None)
        if stored is None:
            raise ValueError(f"Unsupported parameter type: {kind}")
        values = [each.encode() if isinstance(each, str) else each
                  for each in (value if isinstance(value, (list, tuple)) else [value])]
        if isinstance(value, (list, tuple)):
            getattr(message.hparam[name], f"{stored}_list").value.extend(values)
        else:
            setattr(message.hparam[name], f"{stored}_value", values[0])
    return message


def values(message: Any) -> dict[str, Any]:
    """Returns {name: value} of a message; bytes are text again."""
    assert isinstance(message, HParamDef)
    found = {}
    for name, value in message.hparam.items():
        kind = value.WhichOneof("kind")
        single = kind.endswith("_value")
        read = getattr(value, kind)
        each = [one.decode() if isinstance(one, bytes) else one
                for one in ([read] if single else read.value)]
        found[name] = each[0] if single else each
    return found
