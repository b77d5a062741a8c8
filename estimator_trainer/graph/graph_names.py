"""Keeps the names in a graph as if only the Estimator and the model built it.

TensorFlow makes each name unique in its graph, without regard to case. So the operations of this
program are in a scope of their own. The operations of a loop's body are in another graph than its
variables, so each graph could use a name of the other, as checkpoints and event files would show.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple

import tensorflow as tf

from estimator_trainer.patches import op_seeds

# A variable of the model's may have any other name.
_SCOPE = "estimator_trainer/"
# The name, and so the tag, of the summary that the Estimator adds unless the model has one.
_LOSS = "loss"


@contextlib.contextmanager
def own() -> Iterator[str]:
    """Puts operations that are made within a `with` statement into this program's scope.

    The seeds of the model's operations do not depend on their number.
    """
    with op_seeds.uncounted(), tf.name_scope(_SCOPE) as scope:
        yield scope


def of_graph(graph: tf.Graph) -> set[str]:
    """Returns the names of operations and scopes in `graph` that are taken for a model."""
    found: set[str] = set()
    for operation in graph.get_operations():
        parts = operation.name.split("/") if not operation.name.startswith(_SCOPE) else []
        found |= {"/".join(parts[:num]) for num in range(1, len(parts) + 1)}
    return found


@contextlib.contextmanager
def shared(taken: set[str], around: tf.Graph) -> Iterator[None]:
    """Makes the current graph, a loop's body, and the graph with its variables share their names.

    The names of `taken` are those that a model had already.
    """
    body = tf.compat.v1.get_default_graph()
    for name in taken:
        _take(body, name)

    def make(creator: Callable[..., Any], **kwargs: Any) -> Any:
        scope, name = body.get_name_scope(), kwargs.get("name") or "Variable"
        wanted = f"{scope}/{name}" if scope else name
        while not _is_free(body, free := _free(around, wanted)):
            _take(around, free)
        made = creator(**kwargs)
        _take(body, made.name.partition(":")[0])
        return made

    with tf.variable_creator_scope(make):
        yield


def _free(graph: tf.Graph, name: str) -> str:
    """Returns the name that an operation would get outside all scopes."""
    with graph.name_scope(None):
        return graph.unique_name(name, mark_as_used=False)


def _is_free(graph: tf.Graph, name: str) -> bool:
    return _free(graph, name) == name


def _take(graph: tf.Graph, name: str) -> None:
    if _is_free(graph, name):
        with graph.name_scope(None):
            graph.unique_name(name)


class SummaryName(NamedTuple):
    """The names of a model on which the Estimator's summary outside the loop depends.

    Attributes:
      has_loss: Whether the model itself has a summary "loss".
      free_loss: The name that another operation "loss" would get in the model.
    """

    has_loss: bool
    free_loss: str

    @classmethod
    def beside(cls, summaries: list[tf.Tensor]) -> SummaryName:
        """Returns the names for the model in the current graph, which has these summaries."""
        return cls(any(each.op.name == _LOSS for each in summaries),
                   _free(tf.compat.v1.get_default_graph(), _LOSS))

    def taken_outside(self, summary: tf.Tensor) -> tf.Tensor:
        """Takes the names in the graph around the loop; returns the summary with its name."""
        graph = tf.compat.v1.get_default_graph()
        if self.has_loss:
            return tf.identity(summary, _LOSS)
        # Where the model has a tensor of this name, the Estimator's summary is "loss_1".
        if _is_free(graph, _LOSS) and self.free_loss != _LOSS:
            for _ in range(int(self.free_loss.rpartition("_")[2])):
                graph.unique_name(_LOSS)
        return summary
