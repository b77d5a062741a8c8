"""Names the table, and the feature column, of an id that TensorFlow did not find in its table.

TensorFlow's error has the name of the operation that failed, which may be a lookup, an update of
the looked-up rows, or a part of either. The table is the variable that the operation reads, found
along its inputs, so that the names of operations do not matter.
"""

import re
import traceback
from typing import Any, Iterator, NamedTuple

import tensorflow as tf

from estimator_trainer.graph import operations

# The messages of kernels: gather_op.cc, gather_nd_op.cc, training_ops.cc, dynamic_partition_op.cc,
# segment_reduction_ops_impl.h. A kernel that divides ids among the parts of a table names no id.
_NO_SUCH_ROW = re.compile(
    r"indices\[[\d,]+\] = (?P<gathered>-?\d+) is not in \[0, (?P<rows>\d+)\)"
    r"|indices\[[\d,]+\] = \[(?P<gathered_nd>-?\d+)\] does not index into param shape"
    r"|Index (?P<updated>-?\d+) at offset \d+ in indices is out of range"
    r"|indices\[\d+\] == (?P<summed>-?\d+) out of range \[0, (?P<summed_rows>\d+)\)"
    r"|partitions\[[\d,]+\] = -?\d+ is not in \[")
_NODE = re.compile(r"(?:\{\{function_node ([^}]*)\}\})?\{\{node ([^}]*)\}\}")
_VARIABLES = {"VarHandleOp", *operations.REFERENCE_VARIABLES}
# Operations whose first input is the table, or the rows that were read from it.
_READS = re.compile(r"(Resource)?(Gather|Scatter|Sparse(Apply|Segment))\w*|SparseSegment\w+"
                    r"|ReadVariableOp|Identity|Enter|RefEnter")
_LOOKUP = re.compile(r"(Resource)?Gather\w*")
_PARTITION = "DynamicPartition"
# These take a condition, or the number of a branch, before the arguments of their functions.
_BRANCHES = re.compile(r"(Stateless)?(If|Case)")
_COLUMN = re.compile(r"(?:^|/)([^/]+)_embedding(?:_\d+)?/embedding_weights(?:_\d+)?$"
                     r"|(?:^|/)linear_model(?:_\d+)?/([^/]+)/weights$")


class _Table(NamedTuple):
    """A variable, or the parts of one."""

    name: str
    rows: int
    is_whole: bool


def problem(error: BaseException) -> str:
    """Returns a sentence if `error` means that an id is not in its table, else ""."""
    errors = [each for each in _chain(error) if isinstance(each, tf.errors.OpError)]
    found = next(filter(None, (_NO_SUCH_ROW.search(str(each)) for each in errors)), None)
    if not found:
        return ""
    places = list(dict.fromkeys(place for each in errors for place in _NODE.findall(str(each))))
    # The place within a function is in the inner error alone.
    places.sort(key=lambda place: not place[0])
    for graph in _graphs(errors):
        definition = _Definition(graph)
        for function, node in places:
            if table := definition.table(function, node):
                return _sentence(table, found.groupdict(), node)
    return ""


def _sentence(table: _Table, found: dict[str, str | None], node: str) -> str:
    """Returns the sentence of an id; "" if the kernel took it for another axis of the table."""
    rows = {int(value) for key, value in found.items() if value and key.endswith("rows")}
    ids = [int(value) for key, value in found.items() if value and not key.endswith("rows")]
    if not table.is_whole:
        ids = []  # The kernel saw the row within a part.
    elif rows and table.rows not in rows:
        return ""
    column = _COLUMN.search(table.name)
    of_column = f" of the column {(column[1] or column[2])!r}" if column else ""
    more = "more rows" if not ids else f"at least {ids[0] + 1} rows" if ids[0] > 0 else ""
    return (f"{f'the id {ids[0]}' if ids else 'an id'} is not in the table {table.name!r}"
            f"{of_column}, which has the ids 0 to {table.rows - 1} (operation {node!r})."
            f" Correct the data{f', or give the table {more}' if more else ''}.")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error, and those that it was raised from, or while they were handled."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _graphs(errors: list[tf.errors.OpError]) -> Iterator[tf.Graph]:
    """Yields the graphs that may have the operation: those of the sessions that raised errors."""
    seen = []
    for error in errors:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for value in frame.f_locals.values():
                # An interactive session, and the session below a MonitoredSession, is one too.
                if isinstance(value, tf.compat.v1.Session) and value.graph not in seen:
                    seen.append(value.graph)
                    yield value.graph


class _Definition:
    """The nodes of a graph, and of its functions, as protos.

    A function is named as the graph's library names it; "" is the graph itself.
    """

    def __init__(self, graph: tf.Graph):
        definition = graph.as_graph_def()
        functions = definition.library.function
        self._nodes = {"": {node.name: node for node in definition.node}, **{
            each.signature.name: {node.name: node for node in each.node_def}
            for each in functions}}
        self._arguments = {each.signature.name: [arg.name for arg in each.signature.input_arg]
                           for each in functions}

    def table(self, function: str, name: str) -> _Table | None:
        """Returns the table that an operation reads or changes, or None."""
        node = self._nodes.get(function, {}).get(name)
        if node is None:
            return None
        if node.op == _PARTITION:
            variables = [self._variable(function, each) for each in self._lookups(function, node)]
        else:
            variables = [self._variable(function, name)]
        found = {variable.name: variable for variable in variables if variable is not None}
        if not found:
            return None
        names = {operations.saved_name(variable) for variable in found.values()}
        rows = sum(_rows(variable) for variable in found.values())
        is_whole = not any("/part_" in name for name in found)
        return _Table(names.pop(), rows, is_whole) if len(names) == 1 and rows else None

    def _variable(self, function: str, name: str) -> Any:
        """Returns the node of the variable that an operation, or an argument, reads, or None."""
        while True:
            node = self._nodes[function].get(name)
            if node is None:
                function, name = self._passed(function, name)
                if not name:
                    return None
            elif node.op in _VARIABLES:
                return node
            elif _READS.fullmatch(node.op) and (inputs := _inputs(node)):
                name = inputs[0]
            else:
                return None

    def _passed(self, function: str, argument: str) -> tuple[str, str]:
        """Returns what a function gets for an argument: the place of its call, and the name."""
        index = ([*self._arguments.get(function, ()), argument]).index(argument)
        for place, nodes in self._nodes.items():
            for node in nodes.values():
                called = {name for value in node.attr.values()
                          for name in (value.func.name, *(each.name for each in value.list.func))}
                inputs = _inputs(node)[1 if _BRANCHES.fullmatch(node.op) else 0:]
                if function and function in called and index < len(inputs):
                    return place, inputs[index]
        return "", ""

    def _lookups(self, function: str, partition: Any) -> list[str]:
        """Returns the lookups in the parts of a table, among which `partition` divides the ids."""
        nodes = self._nodes[function]
        among = _inputs(partition)[1]
        divided = {node.name for node in nodes.values()
                   if node.op == _PARTITION and _inputs(node)[1] == among}
        return [node.name for node in nodes.values()
                if _LOOKUP.fullmatch(node.op) and divided.intersection(_inputs(node)[1:2])]


def _inputs(node: Any) -> list[str]:
    """Returns the names of the operations that a node takes tensors from."""
    return [each.partition(":")[0] for each in node.input if not each.startswith("^")]


def _rows(variable: Any) -> int:
    dimensions = variable.attr["shape"].shape.dim
    return max(0, int(dimensions[0].size)) if dimensions else 0
