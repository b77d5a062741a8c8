"""tf.contrib.training.HParams."""

import copy
import pickle

import tensorflow as tf

HParams = tf.contrib.training.HParams


def _some(**values):
    return HParams(rate=0.1, units=[8, 4], name="x", deep=True, steps=3, **values)


def _error(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:  # pylint: disable=broad-except
        return type(error).__name__


def _kind(function, *args):
    found = _error(function, *args)
    return found if isinstance(found, str) else "no error"


def values_of_each_type():
    return _some().values()


def parse_each_type():
    return _some().parse("rate=1,units=[3,2,1],deep=false,name=y z,steps=-7").values()


def parse_truths():
    return [_error(lambda text: HParams(a=True).parse("a=" + text).a, text)
            for text in (
                "true", "True", "TRUE", "1", "0", "2", "false", "False", "yes", "", " true")]


def parse_numbers():
    return [[_error(lambda: HParams(a=kind).parse("a=" + text).a) for kind in (1, 1.0)]
            for text in ("1", "1.0", "1e3", "-5", "0x10", "", "abc", " 7", "1_000", "inf")]


def parse_texts():
    return [_error(lambda text: HParams(a="x").parse("a=" + text).a, text)
            for text in ("b", "", "b c", "b=c", "[b]", "b[0]", "'b'", "b;c")]


def parse_lists():
    return [_error(lambda text: HParams(a=[1, 2]).parse("a=" + text).a, text)
            for text in ("[1,2,3]", "[1]", "[]", "1", "[1, 2]", "[1 2]", "[1.5]", "[a]", "[[1]]")]


def parse_lists_of_texts():
    return [_error(lambda text: HParams(a=["x"]).parse("a=" + text).a, text)
            for text in ("[b,c]", "[b c]", "['b']", "b", "[b,]")]


def parse_malformed():
    return [_kind(_some().parse, text) for text in (
        "rate", "rate=", "=1", "rate=1;", "rate=1 units=[1]", "1rate=2", "rate:1", "rate==1", ",",
        "rate=1,", ",rate=1", "rate=1,,", "units=[1", "steps=1,steps=2", "_rate=1")]


def parse_unknown():
    return _error(_some().parse, "nope=1")


def parse_a_dotted_name():
    params = HParams(a=1)
    params.add_hparam("a.b", 1)
    return [params.parse("a.b=2").values(), _error(HParams(a=1).parse, "a.b=2")]


def parse_an_element():
    return [_error(_some().parse, "units[1]=9"), _error(_some().parse, "units[0]=1,units[1]=2")]


def parse_whitespace():
    return _some().parse("rate = 2, units = [1, 2] , steps =4").values()


def parse_float_for_int():
    return [_error(HParams(a=1).parse, "a=1.5"), HParams(a=1.0).parse("a=1").a]


def parse_none():
    return [_error(lambda: HParams(a=None).parse("a=" + text).a) for text in ("1", "None", "")]


def parse_values_map():
    parse = tf.contrib.training.parse_values
    return [parse("a=1,b=[x,y],c[1]=2.5,c[0]=1", {"a": int, "b": str, "c": float}),
            _error(parse, "a=1", {}), parse("a=1,b=2", {"a": int}, ignore_unknown=True),
            _error(parse, "a[0]=1,a[0]=2", {"a": int}), _error(parse, "a=1,a[0]=2", {"a": int}),
            _error(parse, "a[0]=[1]", {"a": int}), _error(parse, "a[-1]=1", {"a": int}),
            parse("", {})]


def set_right_and_wrong_types():
    kinds = (1, 1.5, True, "x", b"y", None, [1], [1.5], (1,), 2 ** 40)
    found = {}
    for first in (1, 1.5, True, "x", None, [1], [1.5], ["x"], [True]):
        for second in kinds:
            params = HParams(a=first)
            error = _error(params.set_hparam, "a", second)
            found["%r to %r" % (first, second)] = error or [type(params.a).__name__, params.a]
    return found


def set_unknown():
    return [_error(_some().set_hparam, "nope", 1), _error(_some().override_from_dict, {"nope": 1}),
            _error(_some().parse_json, '{"nope": 1}'), _error(getattr, _some(), "nope")]


def set_unchecked():
    params = _some()
    params.rate = "fast"
    return params.values()


def override_and_json():
    params = _some().override_from_dict({"rate": 1, "units": [1]}).parse_json('{"name": "j"}')
    return [params.values(), _error(params.parse_json, "{"),
            _error(params.parse_json, '{"rate": "1"}')]


def set_from_map():
    return _some().set_from_map({"rate": 2.0}).rate


def to_json():
    params = HParams(b=1, a=[0.5, 1], c="t", d=True, e=None)
    return [params.to_json(), params.to_json(sort_keys=True),
            params.to_json(indent=2, separators=(",", ": "), sort_keys=True),
            _error(HParams(f=_error).to_json)]


def texts():
    params = HParams(b=1, a=[0.5, 1], c="t", d=True)
    return [repr(params), str(params)]


def get_with_defaults():
    params = _some()
    return [params.get("rate"), params.get("rate", 1), params.get("rate", 5.0), params.get("nope"),
            params.get("nope", 3), _error(params.get, "rate", "x"),
            _error(params.get, "steps", 1.5), _error(params.get, "units", 1),
            params.get("units", [1]), _error(params.get, "units", ["x"]),
            _error(params.get, "rate", [1.0]), _error(params.get, "deep", 1),
            params.get("deep", False)]


def contains_and_deletes():
    params = _some()
    params.del_hparam("rate")
    params.del_hparam("nope")
    return ["rate" in params, "units" in params, sorted(params.values()),
            _error(params.parse, "rate=1"), _error(getattr, params, "rate")]


def add_reserved_and_empty():
    return [_error(HParams, values=1), _error(HParams, parse=1), _error(HParams, a=[]),
            _error(HParams, a=()), _error(_some().add_hparam, "rate", 1),
            HParams(a=(1, 2)).values(),
            _error(HParams(a=(1, 2)).set_hparam, "a", [3])]


def a_name_that_was_none():
    params = HParams(a=None)
    params.add_hparam("a", 3)
    return params.values()


def copies():
    params = _some()
    other, third = copy.deepcopy(params), pickle.loads(pickle.dumps(params))
    other.rate = 5.0
    return [params.values(), other.values(), third.parse("rate=3").values(), params == other]


def model_structure():
    params = HParams(model_structure="m")
    first = params.get_model_structure()
    params.set_model_structure("n")
    return [first, params.get_model_structure(), params.values()]


def to_proto_and_back():
    params = HParams(a=1, b=0.5, c="t", d=True, e=[1, 2], f=[0.5], g=["x", "y"], h=[True, False])
    proto = params.to_proto()
    again = HParams.from_proto(proto)
    return [again.values(), proto.hparam["a"].int64_value, list(proto.hparam["e"].int64_list.value),
            len(proto.SerializeToString()), _error(HParams, hparam_def=proto, a=1),
            _error(HParams(a=None).to_proto), HParams(hparam_def=proto).parse("a=5").a]


def saved_in_a_graph():
    tf.add_to_collection("hparams", HParams(a=1, b=[0.5, 0.25]))
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        return [each.values() for each in tf.get_collection("hparams")]


def a_numpy_number():
    import numpy as np
    params = HParams(a=np.float32(0.5), b=np.int64(3))
    return [_error(params.set_hparam, "a", 1.5), _error(params.set_hparam, "b", 2.0),
            params.values(), _error(params.parse, "b=4") and params.b]


def deep_module_names():
    from tensorflow.contrib.training.python.training import hparam
    return [hparam.HParams(a=1).values(), hparam.HParams is HParams]
