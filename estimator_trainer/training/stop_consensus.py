"""The consensus by which the trainers of an all-reduce end after the same step.

A trainer that went on alone would hang in the next step. So each trainer adds its vote to an
all-reduce in every step, and all of them see the same count. A hook may request the end with this
very step, so where a trainer has hooks, the all-reduce waits until they have seen the step.
"""

from typing import Any, Callable

import tensorflow as tf

from estimator_trainer.graph import graph_state

# A strategy counts the keys of its collectives from 1 and from 100.
_KEY = 1_000_000


class LastHook(tf.estimator.SessionRunHook):
    """Calls `vote` once all other hooks have seen a step; set `vote` before the first step."""

    vote: Callable[[Any], None]

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.vote(run_context)


def stop_vote() -> tf.Tensor:
    """Returns the placeholder that a trainer feeds with 1 to request that all trainers end."""
    placeholder = tf.compat.v1.placeholder_with_default(tf.constant(0, tf.int32), [])
    graph_state.STOP_VOTES.add(placeholder)
    return placeholder


def counts(is_last: tf.Tensor, is_missing: tf.Tensor, stop_vote: tf.Tensor) -> tf.Tensor:
    """Counts the trainers of an all-reduce that end, ran out of data, and vote to end: int32 [3].

    Call this in a replica. `is_last`: this trainer's input ends with this batch; `is_missing`: it
    has run out of data, and has no batch; `stop_vote`: the placeholder that `stop_vote` returns.
    """
    return _sum(_own_counts(is_last, is_missing, stop_vote))


def counts_after_step(is_last: tf.Tensor, is_missing: tf.Tensor,
                      stop_vote: tf.Tensor) -> tuple[tf.Tensor, LastHook]:
    """Returns `counts` for a separate session run, and the hook that must be the last one."""
    own = _own_counts(is_last, is_missing, stop_vote)
    graph_state.OWN_COUNTS.add(own)
    hook = graph_state.LAST_HOOK.first() or LastHook()
    graph_state.LAST_HOOK.put(hook)
    return _sum(own), hook


def all_agree(own: bool, run_config: tf.estimator.RunConfig) -> bool:
    """Returns whether `own` is true in all trainers of an all-reduce, before they build graphs."""
    num_trainers = run_config.num_worker_replicas
    if num_trainers < 2:
        return own
    device = f"/job:{run_config.task_type}/task:{run_config.task_id}/device:CPU:0"
    with tf.Graph().as_default(), tf.device(device):
        votes = tf.raw_ops.CollectiveReduce(
            input=tf.constant([int(own)]), group_size=num_trainers, group_key=_KEY,
            instance_key=_KEY, merge_op="Add", final_op="Id", subdiv_offsets=[0])
        with tf.compat.v1.Session(run_config.master, config=run_config.session_config) as session:
            return int(session.run(votes)[0]) == num_trainers


def agree(steps: tf.Tensor, may_end: bool, stop_vote: tf.Tensor,
          num_trainers: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Lets the trainers of an all-reduce agree on a session run; call this in a replica.

    This trainer would make `steps` steps, an int64 scalar; its input may end if `may_end`.

    Returns:
      Steps to make, an int64 scalar, 1 if a trainer votes to end; whether any input may end, a
      bool scalar; and the number of votes to end, an int32 scalar.
    """
    total, ending, votes = tf.unstack(_sum(tf.stack(
        [steps, tf.constant(may_end, tf.int64), tf.cast(stop_vote, tf.int64)])))
    return (tf.where(votes > 0, tf.constant(1, tf.int64), total // num_trainers), ending > 0,
            tf.cast(votes, tf.int32))


def _own_counts(is_last: tf.Tensor, is_missing: tf.Tensor, stop_vote: tf.Tensor) -> tf.Tensor:
    return tf.stack([tf.cast(is_last, tf.int32), tf.cast(is_missing, tf.int32), stop_vote])


def _sum(own: tf.Tensor) -> tf.Tensor:
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, own)
