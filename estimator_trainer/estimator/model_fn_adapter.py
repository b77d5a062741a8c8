"""The user's model_fn, adapted: checked, watched for progress, instance keys forwarded."""

import ast
import contextlib
import functools
import inspect
import linecache
import re
import traceback
from typing import Any, Callable, Iterator, Mapping

import tensorflow as tf

from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.communication import ps_packs
from estimator_trainer.embedding import fused_lookups
from estimator_trainer.errors import ConfigError, near_match, Problem
from estimator_trainer.estimator import (frozen, input_fn_adapter, keras_model, model_class,
                                         passthrough, starting_checkpoint, table_parts,
                                         user_estimator)
from estimator_trainer.graph import graph_names, graph_state
from estimator_trainer.input import batches
from estimator_trainer.plugins import loader
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training import loop, loop_unsupported, stop_consensus, train_op

ModelFn = Callable[..., tf.estimator.EstimatorSpec]


def adapt(function: ModelFn, config: TrainerConfig, task: TaskConfig,
          has_hooks: bool = False) -> ModelFn:
    """Makes `function`, or a class, callable with every argument that the Estimator passes.

    The model_fn that is returned raises ConfigError when `function` returns no EstimatorSpec. In a
    graph that holds a training set (`loop.hold`), one session run of training makes several steps,
    or the model_fn raises LoopUnsupported. `has_hooks` is whether a script has hooks or saving
    listeners in this process.
    """
    return _Adapted(function, config, task, has_hooks).model_fn


def combine(train_op: tf.Operation, task: TaskConfig) -> None:
    """Fuses the lookups of a step, and sends small tensors to and from the ps in packs.

    The step's values stay the same. No session may have run its graph.
    """
    fused_lookups.fuse(train_op)
    if "ps" in task.cluster:
        ps_packs.send_in_packs(train_op)


class _Adapted:
    def __init__(self, function: ModelFn, config: TrainerConfig, task: TaskConfig, has_hooks: bool):
        self._is_class = isinstance(function, type)
        self._function = model_class.adapt(function) if isinstance(function, type) else function
        self._config, self._task, self._has_hooks = config, task, has_hooks

    def model_fn(self, features: Any, labels: Any, mode: str, params: dict[str, Any],
                 config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        call = functools.partial(self._call, mode=mode, params=params,
                                 config=user_estimator.of_platform(config, self._task))
        if mode == tf.estimator.ModeKeys.TRAIN:
            spec = self._train(features, labels, call, config)
            if self._config.warm_start_from:
                starting_checkpoint.warm_start(self._config, self._task.is_chief)
            return spec
        features, beside = passthrough.taken_apart(features)
        features, key = passthrough.without_key(features)
        spec = call(features, labels)
        graph_state.EXAMPLES.add(batches.size((labels, features)))
        forward_key = self._config.forward_key
        if key is None and isinstance(features, dict):
            key = features.get(forward_key)
        # Without one, `predict` writes the key that goes past the model.
        if forward_key and key is not None and mode == tf.estimator.ModeKeys.PREDICT:
            spec = _with_key(spec, forward_key, key)
        return passthrough.with_predictions(spec, beside)

    def _call(self, features: Any, labels: Any, **others: Any) -> tf.estimator.EstimatorSpec:
        name = self._config.model_fn
        device = self._config.device
        placed = tf.device(f"/device:{device.upper()}") if device else contextlib.nullcontext()
        with placed, keras_model.checked(name), explained(features, name):
            spec = loader.call(self._function, {"features": features, "labels": labels, **others})
        # The first read of TPUEstimatorSpec's public name takes a tenth of a second in TensorFlow
        # 2.15, for a warning that it is deprecated.
        if not isinstance(spec, tf.estimator.EstimatorSpec) and isinstance(
                spec, tf.compat.v1.estimator.tpu.TPUEstimatorSpec):
            spec = spec.as_estimator_spec()
        if not isinstance(spec, tf.estimator.EstimatorSpec):
            raise ConfigError(
                f"model_fn {name!r} returned"
                f" {'None' if spec is None else f'a {type(spec).__name__}'} in mode"
                f" {others['mode']!r}; expected a tf.estimator.EstimatorSpec. For example: return"
                " tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)")
        return spec

    def _train(self, features: Any, labels: Any, call: ModelFn,
               run_config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        with graph_names.own():
            stop_vote = stop_consensus.stop_vote() if self._task.is_all_reduce else None
        if loop.is_wanted():
            return self._looped(call, stop_vote, run_config)
        spec, made = self._step((features, labels), call)
        if stop_vote is not None:
            spec, made = self._voted(spec, made, stop_vote, run_config)
        made.make_known()
        return spec

    def _voted(self, spec: tf.estimator.EstimatorSpec, made: loop.Step, stop_vote: tf.Tensor,
               run_config: tf.estimator.RunConfig
               ) -> tuple[tf.estimator.EstimatorSpec, loop.Step]:
        """Adds to a step how its trainers agree to end: later where a hook may request it."""
        votes = made.is_last, made.is_missing, stop_vote
        has_hooks = self._has_hooks or spec.training_hooks or spec.training_chief_hooks
        if stop_consensus.all_agree(not has_hooks, run_config):
            return spec, made._replace(counts=stop_consensus.counts(*votes))
        counts, last_hook = stop_consensus.counts_after_step(*votes)
        hooks = [*spec.training_hooks, last_hook]
        return spec._replace(training_hooks=hooks), made._replace(counts=counts)

    def _looped(self, call: ModelFn, stop_vote: tf.Tensor | None,
                run_config: tf.estimator.RunConfig) -> tf.estimator.EstimatorSpec:
        if self._is_class:
            raise loop_unsupported.LoopUnsupported("it runs its own iterations")
        reasons: list[str] = []

        def step(batch: Any) -> loop.Step:
            known = loop_unsupported.things()
            with (contextlib.nullcontext() if self._config.steps_per_loop else
                  loop_unsupported.refusing_tables()):
                spec, made = self._step(batch, call)
            loop_unsupported.check(spec, known)
            reasons.append(loop_unsupported.of_one_trainer(spec))
            return made

        def settle(found: loop_unsupported.LoopUnsupported | None) -> None:
            for reason in filter(None, reasons):
                found = found or loop_unsupported.LoopUnsupported(reason)
            is_agreed = stop_vote is None or stop_consensus.all_agree(found is None, run_config)
            if found or not is_agreed:
                raise found or loop_unsupported.LoopUnsupported("another trainer can make no more")

        made = loop.build(step, self._config.max_steps, self._task.num_trainers, stop_vote, settle)
        # The Estimator does not see that the optimizer scaled the loss, and adds up the losses of
        # all replicas. What else a spec holds is for other modes, or hooks, which a loop cannot
        # have.
        num_replicas = tf.distribute.get_strategy().num_replicas_in_sync
        with graph_names.own():
            # A strategy reduces what each replica has made, and nothing that all share.
            loss = tf.identity(made.loss / num_replicas if made.is_loss_scaled else made.loss)
        return tf.estimator.EstimatorSpec(
            tf.estimator.ModeKeys.TRAIN, train_op=made.train_op, loss=loss, scaffold=made.scaffold)

    def _step(self, batch: Any, call: ModelFn) -> tuple[tf.estimator.EstimatorSpec, loop.Step]:
        """Makes a replica's step with a batch as the adapted input_fn yields it."""
        features, labels = batch if isinstance(batch, tuple) else (batch, None)
        with graph_names.own():
            features, mark = input_fn_adapter.without_mark(features)
        train_op.request(self._config, self._task)
        with table_parts.spread(self._config.partition_mb, len(self._task.cluster.get("ps", ()))):
            spec = call(features, labels)
        spec = train_op.complete(spec, self._config, self._task)
        if self._config.freeze:
            frozen.check(self._config, spec.train_op, self._task.is_chief)
        # The graph of another strategy has all replicas, or must be alike in all processes.
        if not tf.distribute.has_strategy() or self._config.train_distribute == "parameter_server":
            combine(spec.train_op, self._task)
        fed_batch = graph_state.FED_BATCH.first()
        if fed_batch is not None:
            # The `train` of a class reads the input_fn's batches by itself, or others.
            features, labels, mark = fed_batch, None, tf.constant(batches.BATCH)
        return spec, loop.Step(
            spec.train_op, spec.loss, tf.equal(mark, batches.LAST),
            tf.equal(mark, batches.NO_BATCH), batches.size((labels, features)),
            scaffold=spec.scaffold)


def _with_key(spec: tf.estimator.EstimatorSpec, name: str,
              key: tf.Tensor) -> tf.estimator.EstimatorSpec:
    """Adds the instance key to the predictions and to every exported signature.

    `tf.contrib.estimator.forward_features` did this in TensorFlow 1. Predictions have to be dense.
    """
    if not isinstance(key, tf.Tensor):
        raise ConfigError(Problem(
            "forward_key", name, f"a feature that is a {type(key).__name__}",
            "a dense one, with a value for each instance"))
    key = tf.identity(key)
    outputs = {
        signature: tf.estimator.export.PredictOutput({**_output_tensors(output), name: key})
        for signature, output in (spec.export_outputs or {}).items()}
    return spec._replace(predictions={**passthrough.named(spec.predictions), name: key},
                         export_outputs=outputs or None)


def _output_tensors(output: tf.estimator.export.ExportOutput) -> dict[str, tf.Tensor]:
    if isinstance(output, tf.estimator.export.PredictOutput):
        return dict(output.outputs)
    tensors = ({"outputs": output.value}
               if isinstance(output, tf.estimator.export.RegressionOutput)
               else {"scores": output.scores, "classes": output.classes})
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


_COLUMN = re.compile(r"Feature (\S+) is not in features dictionary")
_UNKNOWN = object()


@contextlib.contextmanager
def explained(features: Any, model_fn: str) -> Iterator[None]:
    """Raises ConfigError in place of a model_fn's error about a feature that is not there."""
    try:
        yield
    except (KeyError, ValueError) as error:
        name = _missing(error, features) if isinstance(features, dict) else ""
        if not name:
            raise
        there = sorted(map(str, features))
        line = traceback.extract_tb(error.__traceback__)[-1]
        raise ConfigError(
            f"model_fn {model_fn!r} asks for the feature {name!r} ({line.filename}, line"
            f" {line.lineno}: `{line.line}`), and the input_fn"
            f" yields {', '.join(there)}.{near_match(name, there)}"
            " Take a model_fn and an input_fn that go together, or name the feature by a param of"
            " theirs. To see both: estimator-trainer check --probe") from error


def _missing(error: BaseException, features: dict[str, Any]) -> str:
    """Returns the name of the feature that is missing; "" if the error is about something else."""
    column = _COLUMN.search(str(error))
    if column:
        name = column[1].strip("'\".")
        # Feature columns may have been applied to another dict.
        applied = [frame.f_locals["features"] for frame, _ in traceback.walk_tb(error.__traceback__)
                   if "features" in frame.f_locals]
        is_ours = bool(applied) and _is_same(applied[-1], features)
        return name if name not in features and is_ours else ""
    key = error.args[0] if type(error) is KeyError and error.args else None
    if not isinstance(key, str) or key in features:
        return ""
    return key if _is_looked_up(error, key, features) else ""


def _is_looked_up(error: BaseException, key: str, features: dict[str, Any]) -> bool:
    """Returns whether the line that raised KeyError looks up `key` in `features` alone.

    The error has the key, and no dict; one line may look it up in two of them.
    """
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return False
    names = {**frame.f_globals, **frame.f_locals}
    owners = [_value(owner, names) for node in ast.walk(tree) for owner, index in _lookups(node)
              if owner.lineno <= line <= (index.end_lineno or line) and _value(index, names) == key]
    lacking = [each for each in owners if not isinstance(each, dict) or key not in each]
    return bool(lacking) and all(_is_same(each, features) for each in lacking)


def _lookups(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields what is looked into, and the key, of an expression such as `d["k"]`."""
    if isinstance(node, ast.Subscript):
        yield node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args and (
            node.func.attr in ("pop", "__getitem__")):
        yield node.func.value, node.args[0]


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Returns the value of a literal, a name or an attribute; _UNKNOWN for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id, _UNKNOWN)
    if isinstance(node, ast.Attribute):
        return inspect.getattr_static(_value(node.value, names), node.attr, _UNKNOWN)
    return _UNKNOWN


def _is_same(found: Any, features: dict[str, Any]) -> bool:
    """Returns whether an object is `features`, or a copy of it."""
    return found is features or (
        isinstance(found, dict) and found.keys() == features.keys() and
        all(found[name] is value for name, value in features.items()))
