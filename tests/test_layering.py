"""The house rules that a program can check: who imports whom, who reads flags and environment."""

from __future__ import annotations

import ast

import jobs
import pytest

PACKAGE = jobs.REPO / "estimator_trainer"
PACKAGES = ("launcher", "platforms")
MODULES = sorted([*PACKAGE.glob("*.py"),
                  *(path for name in PACKAGES for path in (PACKAGE / name).glob("[!_]*.py"))])
PLUGINS = sorted(path for name in ("model_fns", "input_fns", "examples")
                 for path in (jobs.REPO / name).rglob("*.py"))

# From the top to the bottom: a module imports only modules of layers below its own.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"command_line", "launch", "manifest", "run", "offline", "predict", "probe", "access"},
    {"supervisor", "tfjob"},
    {"screen", "kubernetes", "google_cloud", "source_package", "dockerfile", "yaml_text"},
    {"child"},
    {"fork_server"},
    {"tensorflow_import"},
    {"evaluator"},
    {"lifecycle", "preflight", "check", "doctor"},
    {"parts", "early_stopping"},
    {"specs", "estimator", "presence", "server", "kept_evaluation"},
    {"evaluation_graph"},
    {"model", "exporters"},
    {"training_end", "iteration_model", "train_op"},
    {"ancestry"},
    {"session", "sync_replicas", "profiling", "step_count", "placement"},
    {"monitor", "strategy", "waiting", "data"},
    {"ending", "signals", "serving", "progress"},
    {"messages"},
    {"notes"},
    {"checkpoints"},
    {"small_files", "plan", "stop", "peers", "step_loop", "pace", "compression"},
    {"result", "ballots", "feed"},
    {"config", "job_config", "host_lists", "params", "ports", "environment", "logs", "batches",
     "shares", "addresses", "imports"},
    {"plugins", "settings", "conflicts"},
    {"topology"},
    {"task_config"},
    {"cluster_example"},
    {"cluster_spec"},
    {"param_docs"},
    {"default_params"},
    {"storage", "storage_plugin", "versions", "packed_file", "sources", "gpus", "prctl"},
    {"errors", "findings", "__init__"},
]
# What answers before TensorFlow is imported.
LIGHT = {"cli", "command_line", "host_lists", "launch", "supervisor", "screen", "child", "shares",
         "addresses", "fork_server", "tensorflow_import", "prctl",
         "manifest", "check", "doctor", "findings", "imports", "peers", "plan", "result", "config",
         "job_config", "settings", "conflicts", "params", "plugins", "ports", "environment", "logs",
         "topology", "task_config", "cluster_example", "cluster_spec", "versions", "errors",
         "tfjob", "kubernetes", "google_cloud", "source_package", "dockerfile", "yaml_text",
         "packed_file", "gpus", "sources", "default_params",
         "param_docs", "storage", "storage_plugin", "__init__", "__main__"}


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
    parts = [name.split(".") for name in names if name.startswith("estimator_trainer.")]
    own = {name[2] if name[1] in PACKAGES else name[1] for name in parts if len(name) > 1}
    return names, own & {path.stem for path in MODULES}


def _layer(name):
    return next(i for i, layer in enumerate(LAYERS) if name in layer)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.stem)
def test_imports_only_go_down(path):
    _, own = _imports(path)
    assert all(_layer(name) > _layer(path.stem) for name in own), own


@pytest.mark.parametrize("path", [p for p in MODULES if p.stem in LIGHT], ids=lambda p: p.stem)
def test_what_answers_at_once_imports_no_tensorflow(path):
    names, own = _imports(path, top_level_only=True)
    assert not [n for n in names if n.startswith(("tensorflow", "numpy", "keras"))]
    assert own <= LIGHT


@pytest.mark.parametrize("path", PLUGINS, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_plugins_do_not_know_the_trainer(path):
    names, _ = _imports(path)
    assert not [n for n in names if n.startswith("estimator_trainer")]


def test_the_trainer_names_no_plugin_in_code():
    for path in MODULES:
        names, _ = _imports(path)
        assert not [n for n in names if n.startswith(("model_fns", "input_fns"))], path


def test_the_environment_is_read_in_one_module_and_flags_in_one():
    for path in [*MODULES, *(PACKAGE / "compat").glob("*.py")]:
        text = path.read_text()
        assert ("os.environ" in text) == (path.stem == "environment"), path
        assert ("absl import flags" in text) == (path.stem == "command_line"), path


@pytest.mark.parametrize("path", MODULES + PLUGINS, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_files_and_functions_can_be_seen_whole(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 250
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            doc = (ast.get_docstring(node, clean=False) or "").count("\n")
            assert node.end_lineno - node.lineno - doc <= 45, node.name
            assert len(node.args.args) <= 7, node.name
