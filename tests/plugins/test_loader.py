"""A plug-in is found by every way to name it, and each mistake is answered with a remedy."""

from __future__ import annotations

import functools
import inspect
import sys

import pytest

from estimator_trainer import errors
from estimator_trainer.plugins import loader

SOURCE = '''"""A model of mine.

More words."""
DEFAULT_PARAMS = {"width": 3}
def model_fn(features, labels, mode): return "default"
def other_fn(features, **kwargs): return "other"
constant = 1
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_find_takes_a_bare_name_without_importing():
    plugin = loader.find("model_fn", "cnn")
    assert plugin.path.endswith("model_fns/cnn.py")
    assert plugin.default_params["decay_rate"] == 0.9
    assert "onvolutional" in plugin.doc


def test_available_lists_the_projects_own_plugins():
    assert {"cnn", "linear"} <= set(loader.available("model_fn"))
    assert {"digits", "tfds"} <= set(loader.available("input_fn"))
    assert not [name for name in loader.available("model_fn") if name.startswith("_")]


@pytest.mark.parametrize("name", loader.available("input_fn"))
def test_load_shows_a_plain_estimator_the_arguments(name):
    """Estimator asks getfullargspec, which sees a decorator's arguments and not the function's."""
    function, _ = loader.load(loader.find("input_fn", name))
    assert inspect.getfullargspec(function).args == ["mode", "params", "input_context"]


def test_find_reads_a_file_without_running_it(folder):
    (folder / "neighbour.py").write_text("VALUE = 7\n")
    (folder / "mine.py").write_text("import neighbour\n" + SOURCE + "loaded = neighbour.VALUE\n")
    plugin = loader.find("model_fn", "./mine.py")
    assert "mine" not in sys.modules
    function, module = loader.load(plugin)
    assert function(None, None, None) == "default" and module.loaded == 7
    assert plugin.default_params == {"width": 3}


def test_find_includes_defaults_of_imported_modules(folder):
    (folder / "team").mkdir()
    (folder / "team" / "shared.py").write_text("import nowhere\nDEFAULT_PARAMS = {'rate': 0.5}\n")
    more = "{**ours.DEFAULT_PARAMS, 'rate': 2.0, "
    (folder / "mine.py").write_text("from team import shared as ours\n" +
                                    SOURCE.replace("{", more))
    assert loader.find("model_fn", "./mine.py").default_params == {"rate": 2.0, "width": 3}
    for other in ("team", "nobody", "ours.rates"):
        (folder / "mine.py").write_text(
            "import team\n" + SOURCE.replace("{", f"{{**{other}.DEFAULT_PARAMS, "))
        with pytest.raises(errors.ConfigError, match="is not a literal dict"):
            loader.find("model_fn", "./mine.py")


def test_find_takes_a_dotted_module_and_another_function(folder):
    (folder / "team" / "models").mkdir(parents=True)
    (folder / "team" / "models" / "ctr.py").write_text(SOURCE)
    plugin = loader.find("model_fn", "team.models.ctr:other_fn")
    assert "team" not in sys.modules
    function, _ = loader.load(plugin)
    assert function(None) == "other"


@pytest.mark.parametrize("name, expected", [
    ("cnnn", "Did you mean 'cnn'?"),
    ("nothing", "expected one of canned, cnn, convnet"),
    ("mine", "For example: --model_fn=./mine.py"),
    ("./absent.py", "there is no such plug-in"),
    ("team.absent", "there is no such plug-in"),
    ("./mine.py:third_fn", "expected one of model_fn, other_fn"),
    ("./broken.py", "line 1 is not valid Python"),
    ("./computed.py", "line 2, is not a literal dict"),
])
def test_find_refuses_in_one_sentence(folder, name, expected):
    (folder / "mine.py").write_text(SOURCE)
    (folder / "broken.py").write_text("def model_fn(:\n")
    (folder / "computed.py").write_text("x = 1\nDEFAULT_PARAMS = {'a': x}\ndef model_fn(): 1\n")
    with pytest.raises(errors.ConfigError) as raised:
        loader.find("model_fn", name)
    assert expected in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("source, name, expected", [
    ("import absent_package\ndef model_fn(features): 1\n", "./m.py",
     "No module named 'absent_package' ("),
    ("x = 1 / 0\ndef model_fn(features): 1\n", "./m.py", "line 1: `x = 1 / 0`"),
    ("model_fn = 3\n", "./m.py", "is not a function"),
    ("def model_fn(features, label): 1\n", "./m.py", "takes label, which the Estimator does not"),
])
def test_load_refuses_in_one_sentence(folder, source, name, expected):
    (folder / "m.py").write_text(source)
    with pytest.raises(errors.ConfigError) as raised:
        loader.load(loader.find("model_fn", name))
    assert expected in str(raised.value) and "m.py" in str(raised.value)


def test_find_counts_an_imported_function(folder):
    (folder / "base.py").write_text("def model_fn(features): return 'base'\n")
    (folder / "m.py").write_text("from base import model_fn\n")
    function, _ = loader.load(loader.find("model_fn", "m.py"))
    assert function(None) == "base"


def test_available_adds_a_users_package_called_model_fns(folder, monkeypatch):
    (folder / "model_fns").mkdir()
    (folder / "model_fns" / "__init__.py").write_text("NAME = 'mine'\n")
    (folder / "model_fns" / "cnn.py").write_text(
        "import model_fns\nfrom model_fns import wide\n" + SOURCE + "loaded = model_fns.NAME\n")
    (folder / "model_fns" / "wide.py").write_text(SOURCE)
    for name in [name for name in sys.modules if name.partition(".")[0] == "model_fns"]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("cnn", "model_fns.cnn", "wide"):
        plugin = loader.find("model_fn", name)
        assert plugin.path == str(folder / f"{plugin.module.replace('.', '/')}.py")
        assert loader.load(plugin)[0](None, None, None) == "default"
    assert sys.modules["model_fns.cnn"].loaded == "mine"
    # A plug-in that is only here is found too, and finds its own neighbours.
    assert {"cnn", "linear", "wide"} <= set(loader.available("model_fn"))
    linear = loader.find("model_fn", "linear")
    assert str(folder) not in linear.path
    assert loader.load(linear)[1].__file__ == linear.path


def test_find_inputs_of_one_mode_by_name(folder):
    (folder / "m.py").write_text(
        "from base import source\ntrain_input_fn = source(3)\ndef input_fn(mode): pass\n"
        "def serving_input_fn(): pass\n")
    for kind, name in (("train_input_fn", "train_input_fn"), ("eval_input_fn", "input_fn"),
                       ("serving_input_fn", "serving_input_fn")):
        assert loader.find(kind, "./m.py").function == name
    (folder / "base.py").write_text("def source(size): return lambda: size\n")
    function, _ = loader.load(loader.find("train_input_fn", "./m.py"))
    assert loader.call(function, {"mode": "train"}) == 3
    with pytest.raises(errors.ConfigError, match="--train_input_fn=csv, or a module or file"):
        loader.find("train_input_fn", "nothing")


def test_call_keeps_the_arguments_of_a_partial():
    bound = functools.partial(lambda params, mode: (params, mode), params=1)
    assert loader.call(bound, {"params": 2, "mode": "eval"}) == (1, "eval")
    assert loader.arguments(bound) == ("mode",)
