"""The end of training in one trainer, decided at a step boundary, for all trainers or this one."""

import re
import time
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

from estimator_trainer import deadlines, errors
from estimator_trainer.cluster import peers
from estimator_trainer.cluster.task_config import TaskConfig
from estimator_trainer.coordination import checkpoints
from estimator_trainer.coordination.job_state import JobStateReader, JobStateWriter
from estimator_trainer.coordination.stop import Stop
from estimator_trainer.coordination.watchdog import Watchdog
from estimator_trainer.graph import graph_state, session_close
from estimator_trainer.patches import private_api
from estimator_trainer.settings.trainer_config import TrainerConfig
from estimator_trainer.training.loop_size import LoopSize

# The reason to end where only another trainer's vote is known.
REQUESTED_BY_ANOTHER = "asked by another"
# The reason to end where a user's hook requests it.
BY_HOOK = "stopped_by_hook"
# TensorFlow's text, in errors of any class, when another process broke the all-reduce.
_BROKEN = "Collective ops is aborted"
_NO_DATA = ("{} got no data for a step that all trainers make together: the input has fewer"
            " batches than there are trainers, or ends at another step in each. Give it more data,"
            " smaller batches, fewer trainers, or .repeat() and {}.")
_POLL_SECS = 0.2
_LOG_SECS = 10.0
# The same two as in monitored_session.py.
_LOST_TASK_ERRORS = (tf.errors.AbortedError, tf.errors.UnavailableError)
_PS = re.compile(r"/job:ps/replica:\d+/task:(\d+)")


def is_of_another_trainer(error: tf.errors.OpError) -> bool:
    """Returns whether an all-reduce broke because of another trainer, or of the network to it."""
    return _BROKEN in str(error)


def lost_ps(error: tf.errors.OpError) -> str:
    """Returns the name of the ps that is gone or was started again, by an error's text; else "".

    While it trains TensorFlow makes a new session after such errors, but not for hooks' last calls.
    """
    found = _PS.search(str(error))
    return f"ps:{found[1]}" if found and isinstance(error, _LOST_TASK_ERRORS) else ""


class EndOfTraining(tf.estimator.SessionRunHook):
    """Ends training at `max_steps`, with the input, or on request, and keeps the reason.

    Attributes:
      step: The last global step seen.
      reason: Why training ended, as in Result; "" before.
      loop_size: Decides how many steps a session run makes.
    """

    def __init__(self, config: TrainerConfig, task: TaskConfig, stop: Stop, watchdog: Watchdog,
                 state: JobStateWriter | JobStateReader):
        """Makes the hook; by `state` the chief stops the workers, and a worker leaves the job."""
        self.step, self.reason = 0, ""
        self._config, self._task, self._stop, self._watchdog = config, task, stop, watchdog
        self._state_writer = state if isinstance(state, JobStateWriter) else None
        self._state_reader = state if isinstance(state, JobStateReader) else None
        self._is_asynchronous = task.num_trainers > 1 and "ps" in task.cluster
        self._count = StepCount(is_alone=not self._is_asynchronous)
        self.loop_size = LoopSize(config, not self._is_asynchronous, task.num_trainers)
        self._has_stepped = self._is_goal_reached = False
        self._values: dict[str, Any] = {}
        self._last_run: tf.estimator.SessionRunContext | None = None
        self._wake: list[tf.Operation] = []

    def begin(self) -> None:
        self._stop.attach_to(tf.compat.v1.get_default_graph())
        variable, self._global_step = tf.compat.v1.train.get_global_step(), graph_state.step_read()
        # Read after the step, so that a trainer cannot miss that the goal is reached.
        with tf.control_dependencies(graph_state.TRAIN_OPS.all()):
            step = tf.identity(variable.read_value())
        self._fetches = {"step": step}
        # Without marks each is a constant, which a session run need not fetch.
        lasts = [each for each in graph_state.IS_LAST.all() if tf.get_static_value(each) is None]
        if lasts:
            self._fetches["is_last"] = tf.reduce_any(tf.stack(lasts))
        self._count.runs_per_step = max(graph_state.RUNS_PER_STEP.all(), default=1)
        self._steps, self._stop_vote = graph_state.STEPS.first(), graph_state.STOP_VOTES.first()
        self._counts, self._own_counts = graph_state.COUNTS.all(), graph_state.OWN_COUNTS.all()
        if self._steps is not None:
            self._fetches |= {"made": graph_state.MADE.first(),
                              "waited_secs": graph_state.WAITED.first()}
        last_hook = graph_state.LAST_HOOK.take()
        if last_hook:
            self._fetches["own_counts"], last_hook.vote = self._own_counts, self._vote
        elif self._stop_vote is not None:
            self._fetches["counts"] = self._counts[0]

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        session_close.bound(session)
        if self._task.is_all_reduce and self._has_stepped:
            self._watchdog.wait_for_end()
        if self._has_stepped and graph_state.IS_HANDED_OUT.all(session.graph):
            # The data worker's task has ended with the session that read from it.
            raise errors.Interrupted("lost", "a ps was lost, and with it this trainer's part of the"
                                     " training set", self._task.name)
        # Hooks that begin after this one add the op.
        self._wake = graph_state.WAKE.all(session.graph)
        self.step = int(session.run(self._global_step))
        self._count.start(self.step)
        self.loop_size.start(self.step)
        if not self._has_stepped:
            self._watchdog.tick()

    def before_run(self, run_context: Any) -> tf.estimator.SessionRunArgs:
        if self._stop_vote is not None:
            if run_context.stop_requested:
                self._request_end_of_all()
            private_api.set_request_stop(run_context, self._request_end_of_all)
        votes = self._stop_vote is not None and self._stop.request
        feed_dict = {self._stop_vote: 1} if votes else {}
        steps = self.loop_size.plan(self.step)
        if self._steps is not None:
            feed_dict[self._steps] = steps
        return tf.estimator.SessionRunArgs(self._fetches, feed_dict)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        values, before = run_values.results, self.step
        self.step, self._has_stepped, self._last_run = int(values["step"]), True, run_context
        self._watchdog.tick(self.step)
        self._stop.check_failure()
        made = int(values.get("made", 1))
        self._count.check(self.step, made)
        if self._steps is not None:
            self.loop_size.made(made, float(values["waited_secs"]))
        self._is_goal_reached = self._is_at_goal(before, made)
        self._values = values
        if not self._own_counts:
            self._end_if_due(run_context)

    def _vote(self, run_context: Any) -> None:
        """Ends training if a trainer of the all-reduce requests it, after all hooks of each."""
        own = [np.array(counts) for counts in self._values["own_counts"]]
        own[0][2] = bool(self._stop.request)
        self._values["counts"], *_ = run_context.session.run(
            self._counts, dict(zip(self._own_counts, own, strict=True)))
        self._end_if_due(run_context)

    def _end_if_due(self, run_context: Any) -> None:
        self.reason = self.reason or self._why_to_end()
        if self.reason:
            self._leave(run_context.session)
            private_api.request_stop(run_context)

    def end(self, session: tf.compat.v1.Session) -> None:
        goal = self._config.max_steps
        if not self.reason:
            # The Estimator's own hook reads the step again, and may see another trainer's.
            self.step = int(session.run(self._global_step))
            self.reason = "train_steps" if goal and self.step >= goal else self._late_reason()
            if self.reason != "train_steps":
                self._leave(session)
                self._save_late_steps(session)
        self._leave_steps()
        if self.reason == "input_exhausted" and goal and self.step < goal:
            logging.warning("stopped at %d of %d: training input exhausted", self.step, goal)
        elif self._is_asynchronous and goal and self.step > goal:
            logging.info("stopped at step %d (target %d, %d asynchronous trainers)", self.step,
                         goal, self._task.num_trainers)

    def _late_reason(self) -> str:
        """Returns why training ended after its last step, and in a chief requests the same end."""
        if self._last_run and self._last_run.stop_requested:
            request = self._stop.request
            if request and request.status == "done":
                return request.reason  # EndAfterEvaluation has stopped the session.
            # A hook that comes after this one has requested the stop.
            if self._state_writer:
                self._stop.request_end("done", BY_HOOK, self._task.name)
            return BY_HOOK
        if self._task.is_all_reduce:
            raise errors.TrainerError(_NO_DATA.format(
                self._task.name, errors.Setting("train_steps")))
        return "input_exhausted"  # No last batch was marked as such.

    def _request_end_of_all(self) -> None:
        """Requests that all trainers of an all-reduce end, since each step needs all of them."""
        if not self.reason and not self._is_goal_reached:
            self._stop.request_end("done", BY_HOOK, self._task.name)

    def _leave(self, session: tf.compat.v1.Session) -> None:
        """Lets the trainers end that depend on this one."""
        self._leave_steps()
        if self._is_asynchronous and self._state_writer:
            self._wait_for_workers(session, self._state_writer)
        elif (self._wake and self._state_reader and self.reason != "train_steps"
              and not self._stop.is_to_be_continued):
            self._wait_for_chief(session, self._state_reader)

    def _leave_steps(self) -> None:
        # The chief saves at the end, before any ps ends; a worker's ps may be gone by then.
        self._watchdog.leave_steps(needs_peers="ps" in self._task.cluster and self._task.is_chief)

    def _save_late_steps(self, session: tf.compat.v1.Session) -> None:
        """Saves in the chief the steps that workers made since the Estimator saved."""
        if not self._is_asynchronous or self._state_writer is None:
            return
        latest = checkpoints.latest(self._config.model_dir)
        for saver in session.graph.get_collection(tf.compat.v1.GraphKeys.SAVERS)[:1]:
            if latest and checkpoints.step_of(latest) < self.step:
                saver.save(session, latest.rpartition("-")[0], self.step)

    def _is_at_goal(self, before: int, made: int) -> bool:
        """Returns whether the session run that began at step `before` reached `max_steps`.

        TensorFlow's StopAtStepHook reads the step before a run, and expects one more: a train_op
        that makes two may run once beyond the goal. With a ps the hook reads the step after.
        """
        goal = self._config.max_steps
        return bool(goal and self.step >= goal and (
            made > 1 or "ps" in self._task.cluster or before + 1 >= goal))

    def _why_to_end(self) -> str:
        request = self._stop.request
        if self._stop_vote is not None:
            last, empty, votes = (int(count) for count in self._values["counts"])
            if empty:
                raise errors.TrainerError(_NO_DATA.format(
                    f"{empty} of the trainers", errors.Setting("train_steps")))
            ends, is_requested = last > 0, votes > 0
        else:
            ends, is_requested = bool(self._values.get("is_last")), request is not None
        if self._is_goal_reached:
            return "train_steps"
        if is_requested:
            return request.reason if request else REQUESTED_BY_ANOTHER
        if not ends and self._wake and self._state_writer:
            # A synchronous step may wait for the gradients of a worker without input.
            ends = any(map(self._state_writer.has_left, range(len(self._task.workers))))
        return "input_exhausted" if ends else ""

    def _wait_for_workers(self, session: tf.compat.v1.Session,
                          state_writer: JobStateWriter) -> None:
        """Waits until the workers have stopped, so that the last checkpoint holds their steps."""
        request = self._stop.request
        if request or (self._wake and self.reason != "train_steps"):
            state_writer.announce("stopping", reason=self.reason)
        # A worker that does not answer may still start, with its part of the input to read.
        limit = (deadlines.WORKERS_READ_SECS if self.reason == "input_exhausted"
                 else deadlines.WORKERS_LEAVE_SECS)
        changed_at = logged_at = time.monotonic()
        polls_at, states = 0.0, dict[str, str]()
        while True:
            own = {name: address for i, (name, address) in enumerate(self._task.workers.items())
                   if not state_writer.has_left(i)}
            joined = state_writer.joined()  # These have no input of their own.
            if time.monotonic() >= polls_at:
                polled = joined if self.reason == "input_exhausted" else own | joined
                polls_at = time.monotonic() + deadlines.peers_poll_secs(
                    len(polled), deadlines.WORKERS_POLL_SECS)
                states = peers.states(polled)
            present = [name for name in own | joined if states.get(name) != "down"]
            session.run(self._wake)
            step, now = int(session.run(self._global_step)), time.monotonic()
            if step != self.step:
                self.step, changed_at = step, now
                self._watchdog.tick()
            if not present or now - changed_at > limit:
                break
            if now - logged_at > _LOG_SECS:
                logged_at = now
                logging.info("waiting for %s to finish, at step %d", peers.named(present), step)
            if self._stop.request and not request:
                request = self._stop.request
                self.reason, limit = request.reason, deadlines.WORKERS_LEAVE_SECS
                state_writer.announce("stopping", reason=request.reason)
            time.sleep(_POLL_SECS)
        if present:
            logging.warning("%s made no step for %d s: training ends without", peers.named(present),
                            limit)

    def _wait_for_chief(self, session: tf.compat.v1.Session, state_reader: JobStateReader) -> None:
        """Lets the trainers end that may wait for this worker's gradients to complete a step."""
        state_reader.leave(self._task.index)
        deadline = time.monotonic() + deadlines.CHIEF_STOPS_SECS
        while (self._stop.request is None and not state_reader.poll_final_state() and
               time.monotonic() < deadline):
            self._stop.check_failure()
            session.run(self._wake)
            self._watchdog.tick()
            time.sleep(_POLL_SECS)


class EndAfterEvaluation(tf.estimator.CheckpointSaverListener):
    """Ends training at the checkpoint whose evaluation requests the end, not a run of steps later.

    This listener comes after that of the Estimator, which evaluates in the same process.
    """

    def __init__(self, stop: Stop):
        self._stop = stop

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> bool:
        request = self._stop.request
        return bool(request and request.status == "done")


_STUCK_RUNS = 200
_REPEATED_AFTER = 10
_LEAST_DOUBLES = 3


class StepCount:
    """Warns of a train op that leaves the global step as it is, or moves it twice."""

    def __init__(self, is_alone: bool):
        """Starts to count; `is_alone`: whether this trainer alone moves the global step."""
        self.runs_per_step = 1  # More with accumulated gradients.
        self._is_alone, self._previous = is_alone, -1
        self._steps_at_step = self._doubles = 0
        self._warned_at = _STUCK_RUNS

    def start(self, step: int) -> None:
        """Records the step that a session begins with."""
        self._previous = step

    def check(self, step: int, made: int) -> None:
        """Warns if due, from the step after a session run and the steps that the run made."""
        moved = step - self._previous
        self._previous = step
        self._steps_at_step = 0 if moved else self._steps_at_step + made
        if self._steps_at_step >= self._warned_at * self.runs_per_step:
            self._warned_at *= _REPEATED_AFTER
            logging.warning(
                "the global step stayed at %d for %d runs of the train_op. If it adds up gradients"
                " over as many batches, all is well. If it does not advance the global step,"
                " training never ends. Pass the step to the optimizer:"
                " minimize(loss, global_step=tf.compat.v1.train.get_global_step()), or for a"
                " Keras optimizer set optimizer.iterations to it before any use.",
                step, self._steps_at_step)
        has_warned = self._doubles >= _LEAST_DOUBLES
        self._doubles = self._doubles + made if moved > made and self._is_alone else 0
        if self._doubles >= _LEAST_DOUBLES and not has_warned:
            logging.warning(
                "the global step moves by %d a step: train_steps, checkpoints and logs count it so."
                " Pass global_step to one optimizer only.", round(moved / made))
