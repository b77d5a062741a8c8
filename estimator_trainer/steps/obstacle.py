"""The obstacle: why the steps of a model are not looped over in one session run."""

from __future__ import annotations

import tensorflow as tf

from estimator_trainer.settings.trainer_config import TrainerConfig

_LARGE_SUMMARIES = {"HistogramSummary", "ImageSummary", "AudioSummary"}


class Obstacle(Exception):
    """The reason why the steps of a model cannot, or had better not, be looped over."""


def check(spec: tf.estimator.EstimatorSpec, config: TrainerConfig,
          known: dict[str, int]) -> None:
    """Looks at a step that was made in the loop.

    Args:
      spec: What the model_fn returned for the step.
      config: The settings; `steps_per_loop` says whether the user asks for a loop.
      known: What `things` returned before the step was made.

    Raises:
      Obstacle: if there is one.
    """
    if spec.training_hooks or spec.training_chief_hooks:
        raise Obstacle("its EstimatorSpec has training hooks, which are called once a session run")
    for name, count in things().items():
        if count > known[name]:
            raise Obstacle(f"it makes {name.replace('_', ' ')}, which cannot be made in a loop")
    operations = tf.compat.v1.get_default_graph().get_operations()
    large = {op.type for op in operations} & _LARGE_SUMMARIES
    if large and not config.steps_per_loop:
        raise Obstacle(
            f"it has summaries ({', '.join(sorted(large))}) that each step would compute")


def things() -> dict[str, int]:
    """Returns how many there are of each thing that cannot be made in a loop."""
    keys = tf.compat.v1.GraphKeys
    return {name: len(tf.compat.v1.get_collection(name)) for name in (
        keys.TABLE_INITIALIZERS, keys.QUEUE_RUNNERS)}
