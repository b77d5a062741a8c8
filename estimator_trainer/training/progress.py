"""Progress of training: steps, examples, loss and time, for people to read."""

import math
import posixpath
import re
import time
from typing import Any, NamedTuple

from absl import logging
import tensorflow as tf

from estimator_trainer import progress_bar, task_events
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.graph import graph_state
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training.loop_size import LoopSize

_BAR_SECS = 0.2
# The history of a slow trainer has lines though it makes few steps.
_HISTORY_SECS = 10.0
# A loss that grew by this factor does not come down again, though it may stay finite.
_DIVERGED = 1000.0
# The losses that are kept; of more, every second one goes.
_MOST_LOSSES = 2000


class _Mark(NamedTuple):
    """The state at a line, from which the speed of the next line counts.

    `idle_secs` and `saving_secs` are the seconds of pauses and of checkpoints so far, and `waiting`
    is LoopSize's.
    """

    step: int
    own_steps: int
    time: float
    idle_secs: float
    saving_secs: float
    waiting: tuple[float, float]


class TrainingProgress(tf.estimator.SessionRunHook):
    """Logs step, loss and speed every so many steps, or shows them in a bar; see progress_bar.py.

    The history has them too, and more often in a short run.
    """

    def __init__(self, config: TrainerConfig, num_synchronous: int, train_examples: int,
                 loop_size: LoopSize, is_asynchronous: bool = False):
        """Makes the hook, whose lines of the log come every `log_steps` steps of this process.

        `num_synchronous` processes make one global step; `train_examples` is 0 if unknown.
        `is_asynchronous`: other trainers make steps of their own.
        """
        self._is_asynchronous = is_asynchronous
        self.step, self.loop_size = 0, loop_size
        self._log_steps, self._max_steps = config.log_steps, config.max_steps
        # Training may end before `max_steps`.
        self._metric = config.best_metric if config.is_until_no_improvement else ""
        self._num_synchronous, self._train_examples = num_synchronous, train_examples
        self._first_loss: float | None = None
        self._last_loss: float | None = None
        self._has_warned = False
        # A session saves as it begins.
        self._saving_at: float | None = None
        self._saving_secs = 0.0
        self._line_losses: list[float] = []
        # A checkpoint that is trained already has a low loss from the start.
        self._is_new: bool | None = None if not config.warm_start_from else False

    @property
    def losses(self) -> list[float]:
        """The loss of the first step and of each line of a training from step 0; else empty.

        Without a line, and after a warning that training diverged, there are none either.
        """
        if not self._is_new or self._has_warned or self._first_loss is None:
            return []
        return [self._first_loss, *self._line_losses]

    def begin(self) -> None:
        losses = [tf.cast(loss, tf.float32) for loss in graph_state.LOSSES.all()]
        self._global_step = graph_state.step_read()
        self._fetches = {"loss": tf.add_n(losses) / len(losses),
                         "examples": tf.add_n(graph_state.EXAMPLES.all())}

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self.step = int(session.run(self._global_step))
        if self._is_new is None:
            self._is_new = self.step == 0
        goal = f"to {self._max_steps}" if self._max_steps else "to the end of the input"
        if self._metric:
            goal = f"until evaluations find no better {self._metric}, at most to {self._max_steps}"
        logging.info("training from step %d %s", self.step, goal)
        task_events.emit("trains", {"max_steps": self._max_steps, "metric": self._metric},
                         step=self.step)
        self._own_steps = 0
        self._last_run_at: int | None = None
        self._paused_at: float | None = None
        self._idle_secs = 0.0
        self._bar_time = time.monotonic()
        self._log_mark = self._history_mark = self._mark(self._bar_time)
        progress_bar.begin(self.step, self._max_steps, bool(self._metric))

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs | None:
        now = self._resume()
        past = self._own_steps
        self._own_steps += self.loop_size.steps
        # The last step has a line, so that the curve of a short run has an end. It has only one,
        # even if gradients are added up over many runs before the step.
        is_last = bool(self._max_steps and self._last_run_at != self.loop_size.step and
                       self.loop_size.step + self.loop_size.steps >= self._max_steps)
        if is_last:
            self._last_run_at = self.loop_size.step
        self._is_log_line = (past % self._log_steps + self.loop_size.steps >= self._log_steps
                             or is_last)
        self._is_line = (self._is_log_line
                         or self.loop_size.points.after(past) <= self._own_steps
                         or now - self._history_mark.time >= _HISTORY_SECS)
        self._is_bar = progress_bar.is_shown() and now - self._bar_time >= _BAR_SECS
        if self._is_line or self._is_bar or self._first_loss is None:
            return tf.estimator.SessionRunArgs(self._fetches)
        return None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        now = self._resume()
        if not run_values.results:
            return
        if self._first_loss is None:
            self._first_loss = float(run_values.results["loss"])
        if not self._is_line and not self._is_bar:
            return
        self.step = int(run_context.session.run(self._global_step))
        if self._is_line:
            self._emit(run_values.results, self._mark(now))
            self._last_loss = float(run_values.results["loss"])
        if self._is_log_line:
            if not progress_bar.is_shown():
                logging.info(self._describe(run_values.results, now))
            self._log_mark = self._mark(now)
            self._line_losses.append(float(run_values.results["loss"]))
            if len(self._line_losses) > _MOST_LOSSES:
                del self._line_losses[::2]
        if progress_bar.is_shown():
            self._bar_time = now
            progress_bar.update(self.step, {"loss": f"{run_values.results['loss']:.4g}"})

    def begin_saving(self) -> None:
        """Records that a checkpoint begins to be written."""
        self._saving_at = time.monotonic()
        self.loop_size.end_run()

    def end_saving(self) -> None:
        """Adds the time since `begin_saving` to that of checkpoints."""
        if self._saving_at is not None:
            self._saving_secs += time.monotonic() - self._saving_at
            self._saving_at = None

    def pause(self) -> None:
        """Excludes the time from now to the next step from the speed."""
        self._paused_at = time.monotonic()

    def end(self, session: tf.compat.v1.Session) -> None:
        self.step = int(session.run(self._global_step))
        progress_bar.update(self.step, {})
        self.warn_if_diverged(self._last_loss)
        waited = self.loop_size.waited_share
        if waited is not None:
            logging.info("training waited %.0f%% of its time for input: %s was the limit",
                         100 * waited, "input" if self.loop_size.is_input_limit else "compute")

    def warn_if_diverged(self, loss: float | None) -> None:
        """Warns if the loss is far above the first one; None: the loss is unknown."""
        first = self._first_loss
        if loss is None or first is None or self._has_warned:
            return
        if loss > _DIVERGED * max(1.0, abs(first)):
            self._has_warned = True
            logging.warning("the loss grew from %.4g to %.4g: training diverged. Try a lower"
                            " learning rate, or scale the inputs and the labels", first, loss)

    def _resume(self) -> float:
        now = time.monotonic()
        if self._paused_at is not None:
            self._idle_secs += now - self._paused_at
            self._paused_at = None
        return now

    def _mark(self, now: float) -> _Mark:
        return _Mark(self.step, self._own_steps, now, self._idle_secs, self._saving_secs,
                     self.loop_size.waiting)

    def _emit(self, results: dict[str, Any], mark: _Mark) -> None:
        """Sends the progress to the launcher, which has a row for each trainer, and the history."""
        before, self._history_mark = self._history_mark, mark
        waited, run = (now - then for now, then in zip(mark.waiting, before.waiting))
        secs = _secs_between(before, mark)
        steps, own_steps = mark.step - before.step, mark.own_steps - before.own_steps
        own_steps_per_sec = own_steps / secs
        details = {"secs": secs, "steps_per_sec": steps / secs,
                   "input_wait": min(1.0, waited / run) if run else None,
                   "paused_secs": mark.idle_secs - before.idle_secs,
                   "saving_secs": mark.saving_secs - before.saving_secs}
        if self._is_asynchronous:
            # Other trainers move the global step, too.
            details["own_steps_per_sec"] = own_steps_per_sec
            details["others_updates"] = max(0, steps - own_steps) / max(1, own_steps)
        task_events.emit(
            "train", details, step=self.step, loss=float(results["loss"]),
            examples_per_sec=float(own_steps_per_sec * results["examples"]))

    def _describe(self, results: dict[str, Any], now: float) -> str:
        """Returns a line of the log, for the whole job."""
        secs = _secs_between(self._log_mark, self._mark(now))
        steps_per_sec = (self.step - self._log_mark.step) / secs
        examples = results["examples"] * self._num_synchronous
        goal = f"/{self._max_steps}" if self._max_steps else ""
        epoch = (f"  epoch {self.step * examples / self._train_examples:.1f}"
                 if self._train_examples else "")
        return (f"step {self.step}{goal}  loss {results['loss']:.4g}{epoch}"
                f"  {steps_per_sec:.4g} steps/s"
                f"  {steps_per_sec * examples:,.0f} examples/s{self._eta(steps_per_sec)}")

    def _eta(self, steps_per_sec: float) -> str:
        if not self._max_steps or steps_per_sec <= 0:
            return ""
        secs = int(max(self._max_steps - self.step, 0) / steps_per_sec)
        most = "at most " if self._metric else ""
        return f"  ETA {most}{secs // 3600}:{secs // 60 % 60:02}:{secs % 60:02}"


def _secs_between(before: _Mark, after: _Mark) -> float:
    """Returns the seconds of training between two lines."""
    return max(after.time - before.time - (after.idle_secs - before.idle_secs), 1e-9)


class SavingListener(tf.estimator.CheckpointSaverListener):
    """Excludes the time of saving from that of a session run, and of evaluation from the speed.

    The Estimator's own listener, which evaluates in this process, comes after those of the
    TrainSpec.
    """

    def __init__(self, progress: TrainingProgress, evaluates: bool):
        self._progress, self._evaluates = progress, evaluates

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        self._progress.begin_saving()

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        self._progress.end_saving()
        if self._evaluates:
            self._progress.pause()


# A copy of a variable in another replica, and a part of a variable on several ps.
_REPLICA, _PART = re.compile(r"/replica_\d+"), re.compile(r"/part_\d+$")


class ModelSize(tf.estimator.SessionRunHook):
    """Logs the size of the model that is about to train, for the history too."""

    def begin(self) -> None:
        layers = layers_of(tf.compat.v1.trainable_variables())
        parameters = sum(layer["parameters"] for layer in layers)
        logging.info("model: %d layer%s, %s parameters", len(layers), "s" * (len(layers) != 1),
                     f"{parameters:,}")
        task_events.emit("model", {"parameters": parameters, "layers": layers})


def layers_of(variables: list[Any]) -> list[dict[str, Any]]:
    """Returns each layer's `name`, the `shapes` of its variables by name, and its `parameters`.

    The variables of a layer share the part of their names before the last slash. Layers come in
    the order in which the model makes them; a mirrored variable counts once.
    """
    layers: dict[str, dict[str, Any]] = {}
    for variable in variables:
        name = _PART.sub("", variable.op.name)
        if _REPLICA.search(name):
            continue
        layer_name, _, own = name.rpartition("/")
        layer = layers.setdefault(layer_name or own, {
            "name": layer_name or own, "parameters": 0, "shapes": {}})
        if variable.shape.is_fully_defined():
            layer["parameters"] += math.prod(variable.shape.as_list())
        shape = variable.shape.as_list() if variable.shape.rank is not None else None
        layer["shapes"].setdefault(own, shape)
    return list(layers.values())


def hooks_of(config: TrainerConfig, task: TaskConfig) -> list[tf.estimator.SessionRunHook]:
    """Returns the hooks that write the events of a worker beside ps, with --worker_events.

    The worker gets a folder of its own in model_dir. The Estimator writes summaries in the chief
    alone.
    """
    if not config.worker_events or "ps" not in task.cluster or task.is_chief:
        return []
    folder = posixpath.join(config.model_dir, task.name.replace(":", "_"))
    return [tf.estimator.StepCounterHook(config.log_steps, output_dir=folder),
            tf.estimator.SummarySaverHook(
                config.summary_steps, output_dir=folder, scaffold=_GraphScaffold())]


class _GraphScaffold(tf.compat.v1.train.Scaffold):
    """Lets a hook that is made before the graph find the graph's summaries."""

    @property
    def summary_op(self) -> tf.Tensor | None:
        """All summaries as merged by the session's own Scaffold, a string scalar."""
        merged = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARY_OP)
        return merged[0] if merged else None


class StepProfiler(tf.estimator.SessionRunHook):
    """Profiles this process from one global step to another, both included, counted from 1.

    The profile is in MODEL_DIR/plugins/profile, where TensorBoard finds it.
    """

    def __init__(self, model_dir: str, first: int, last: int):
        self._model_dir, self._first, self._last = model_dir, first, last
        self._is_on = self._is_over = False

    def begin(self) -> None:
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        self._start_if_due(int(session.run(self._global_step)))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._is_over:
            return
        step = int(run_context.session.run(self._global_step))
        if self._is_on and step >= self._last:
            self._stop(step)
        self._start_if_due(step)
        self._is_over = step >= self._last

    def end(self, session: tf.compat.v1.Session) -> None:
        if self._is_on:
            self._stop(int(session.run(self._global_step)))

    def _start_if_due(self, step: int) -> None:
        if not self._is_on and self._first <= step + 1 <= self._last:
            tf.profiler.experimental.start(self._model_dir)
            self._is_on = True

    def _stop(self, step: int) -> None:
        tf.profiler.experimental.stop()
        self._is_on = False
        logging.info("profiled up to step %d: tensorboard --logdir=%s", step, self._model_dir)
