"""The names in a graph are the model's: the same as if nothing but the Estimator built it.

TensorFlow makes each name unique in its graph, and holds "Sum" and "sum" for the same. An operation
of this program therefore stands in a scope of its own. The operations of a loop's body are in
another graph than the variables; either would take a name that the other has, and a checkpoint or
an events file would tell of it.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, ContextManager, Iterator, NamedTuple

import tensorflow as tf

# A variable of the model's may have any other name.
_SCOPE = "estimator_trainer/"
# The name, and so the tag, of the summary that the Estimator adds unless the model has one.
_LOSS = "loss"


def own() -> ContextManager[str]:
    """Names what is made within in this program's scope, whatever scope is open."""
    made: ContextManager[str] = tf.name_scope(_SCOPE)
    return made


def of_graph(graph: tf.Graph) -> set[str]:
    """Returns the names in `graph` that a model finds taken: of operations, and of scopes."""
    found: set[str] = set()
    for operation in graph.get_operations():
        parts = operation.name.split("/") if not operation.name.startswith(_SCOPE) else []
        found |= {"/".join(parts[:num]) for num in range(1, len(parts) + 1)}
    return found


@contextlib.contextmanager
def shared(taken: set[str], around: tf.Graph) -> Iterator[None]:
    """Lets the current graph, a loop's body, and that around it name things as one graph would.

    Args:
      taken: Names that the model finds taken.
      around: The graph that gets the variables.
    """
    body = tf.compat.v1.get_default_graph()
    for name in taken:
        _take(body, name)

    def make(creator: Callable[..., Any], **kwargs: Any) -> Any:
        wanted = _scoped(body, kwargs.get("name") or "Variable")
        while not _is_free(body, free := _free(around, wanted)):
            _take(around, free)
        made = creator(**kwargs)
        _take(body, made.name.partition(":")[0])
        return made

    with tf.variable_creator_scope(make):
        yield


def _scoped(graph: tf.Graph, name: str) -> str:
    scope = graph.get_name_scope()
    return f"{scope}/{name}" if scope else name


def _free(graph: tf.Graph, name: str) -> str:
    """Returns the name that an operation would get, outside of all scopes."""
    with graph.name_scope(None):
        return graph.unique_name(name, mark_as_used=False)


def _is_free(graph: tf.Graph, name: str) -> bool:
    return _free(graph, name) == name


def _take(graph: tf.Graph, name: str) -> None:
    if _is_free(graph, name):
        with graph.name_scope(None):
            graph.unique_name(name)


class SummaryName(NamedTuple):
    """The names of a model that decide what the Estimator, outside the loop, calls its summary.

    Attributes:
      has_loss: Whether the model has a summary of that name itself.
      free_loss: The name that an operation called "loss" would have beside the model's.
    """

    has_loss: bool
    free_loss: str

    @classmethod
    def beside(cls, summaries: list[tf.Tensor]) -> SummaryName:
        """Returns what the model in the current graph, with these summaries, leaves free."""
        return cls(any(each.op.name == _LOSS for each in summaries),
                   _free(tf.compat.v1.get_default_graph(), _LOSS))

    def taken_outside(self, summary: tf.Tensor) -> tf.Tensor:
        """Takes the names in the graph around the loop; returns the summary under its name."""
        graph = tf.compat.v1.get_default_graph()
        if self.has_loss:
            return tf.identity(summary, _LOSS)
        # Where the model has a tensor of this name, the Estimator's summary is "loss_1".
        if _is_free(graph, _LOSS) and self.free_loss != _LOSS:
            for _ in range(int(self.free_loss.rpartition("_")[2])):
                graph.unique_name(_LOSS)
        return summary
