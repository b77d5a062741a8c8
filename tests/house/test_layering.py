"""The house rules that a program can check: who imports whom, who reads flags and environment."""

from __future__ import annotations

import ast
import functools

import pytest

from tests.support import jobs

pytestmark = pytest.mark.cluster

ROOT = jobs.REPO / "estimator_trainer"
# From the top to the bottom: a package imports only from those that stand below it. A module that
# stands apart from its package has a line of its own.
PACKAGES = ["beam", "api", "python", "cli", "commands", "completion", "script", "start", "roles",
            "reports", "prediction", "record.runs", "evaluation", "checks.probe", "estimator",
            "training", "communication", "embedding", "input", "graph", "launcher", "manifest",
            "starter", "checks", "record", "plugins", "coordination", "settings", "cluster",
            "tensorflow_import", "patches", "compat", "patches.op_seeds", "patches.private_api"]
# The modules with which every command begins: nothing that they import at the top needs TensorFlow.
STARTS = ("__main__", "api", "commands", "start")
MODULES = sorted(ROOT.rglob("*.py"))
PLUGINS = sorted(path for name in ("model_fns", "input_fns", "examples")
                 for path in (jobs.REPO / name).rglob("*.py"))
OTHERS = sorted(path for name in ("benchmarks", "docs", "tests")
                for path in (jobs.REPO / name).rglob("*.py"))


def _name(path):
    """Returns the dotted name of a module below estimator_trainer; "" of the package itself."""
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return dotted.removesuffix("__init__").strip(".")


def _layer(name):
    """Returns the index of a module's layer; a module may stand apart from its package."""
    layers = [*PACKAGES, "ground"]
    top = name.partition(".")[0] or "api"
    layer = "cli" if top == "__main__" else name if name in layers else top
    return layers.index(layer if layer in layers else "ground")


@functools.lru_cache(maxsize=None)
def _imports(path, top_level_only=False):
    """Returns the dotted names a module imports, and, of this package, which modules."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    known = {_name(module) for module in MODULES}
    own = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == ROOT.name:
            own.add(next(".".join(parts[1:end]) for end in range(len(parts), 0, -1)
                         if ".".join(parts[1:end]) in known))
    return names, own


def test_a_package_imports_only_from_those_below_it():
    assert not [(_name(path), name) for path in MODULES
                for name in _imports(path)[1] - {""}  # The version is there.
                if _layer(_name(path)) > _layer(name)]


def test_no_modules_import_each_other_in_a_circle():
    left = {_name(path): _imports(path)[1] - {"", _name(path)} for path in MODULES}
    while free := {name for name, imported in left.items() if not imported & left.keys()}:
        left = {name: imported for name, imported in left.items() if name not in free}
    assert not left


def test_what_every_command_begins_with_imports_no_tensorflow():
    paths = {_name(path): path for path in MODULES}
    reached, left = set(), set(STARTS)
    while left:
        name = left.pop()
        reached.add(name)
        names, own = _imports(paths[name], top_level_only=True)
        assert not [n for n in names if n.startswith(("tensorflow", "numpy", "keras"))], name
        left |= own - reached
    assert "checks.run_plan" in reached


def test_plugins_do_not_know_the_trainer():
    # The search of an example is a program that calls the trainer.
    assert not [(path, name) for path in PLUGINS for name in _imports(path)[0]
                if name.startswith("estimator_trainer") and path.parent.name != "tuning"]


def test_the_trainer_names_no_plugin_in_code():
    assert not [(path, name) for path in MODULES for name in _imports(path)[0]
                if name.startswith(("model_fns", "input_fns"))]


def test_the_environment_is_read_in_one_module_and_flags_in_settings():
    for path in MODULES:
        text = path.read_text()
        assert ("os.environ" in text) == (path.stem == "environment"), path
        # The last is about flags of the user's program.
        assert ("absl import flags" in text) == (
            path.stem in ("flag_parser", "flag_values", "program_flags")), path


def test_files_and_functions_can_be_seen_whole():
    too_long = []
    for path in MODULES + PLUGINS + OTHERS:
        text = path.read_text()
        # The oracle's programs are lists of cases.
        too_long += [path] * (len(text.splitlines()) > 400 and path.parent.name != "programs")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                # The docstring is not counted.
                doc = node.body[0] if ast.get_docstring(node) else None
                doc_lines = doc.end_lineno - doc.lineno + 1 if doc else 0
                is_long = node.end_lineno - node.lineno + 1 - doc_lines > 40
                # Functions of tf.contrib take what those of TensorFlow 1.15 took.
                has_many = len(node.args.args) > 7 and not {"compat", "oracle"} & {*path.parts}
                too_long += [(path, node.name)] * (is_long or has_many)
    assert not too_long
