"""Finds operations of a graph by their types and those of their inputs."""

from __future__ import annotations

import itertools
from typing import Any, Iterator, NamedTuple, Optional


class Found(NamedTuple):
    """An operation that a pattern matched, and the tensor by which it was reached."""

    op: Any
    tensor: Any


class Match(dict[Any, Found]):
    """The part of a graph that each pattern matched."""

    def op(self, *patterns: Any) -> Any:
        """Returns the operation of the first of some patterns that matched, or None."""
        return next((self[each].op for each in patterns if each in self), None)

    def tensor(self, *patterns: Any) -> Any:
        """Returns the tensor of the first of some patterns that matched, or None."""
        return next((self[each].tensor for each in patterns if each in self), None)


class Either:
    """The first of some patterns that matches."""

    def __init__(self, *patterns: Any) -> None:
        self._patterns = patterns

    def match(self, op: Any, tensor: Any = None) -> Optional[Match]:
        """Returns a Match, or None."""
        found = (pattern.match(op, tensor) for pattern in self._patterns)
        return next((each for each in found if each is not None), None)


class Pattern:
    """An operation of some types, whose inputs match patterns."""

    def __init__(self, types: str, *inputs: Any, ordered: bool = True) -> None:
        """Keeps the types.

        Args:
          types: Such as "Add|AddV2", or "*" for each.
          *inputs: A pattern for each input; none, for any inputs.
          ordered: Whether the inputs have to come in the patterns' order.
        """
        self._types = None if types == "*" else types.split("|")
        self._inputs, self._ordered = inputs, ordered

    def match(self, op: Any, tensor: Any = None) -> Optional[Match]:
        """Returns a Match, or None."""
        if self._types is not None and op.type not in self._types:
            return None
        match = Match({self: Found(op, tensor)})
        if not self._inputs:
            return match
        if len(op.inputs) != len(self._inputs):
            return None
        orders = [self._inputs] if self._ordered else itertools.permutations(self._inputs)
        for patterns in orders:
            found = [pattern.match(each.op, each) for pattern, each in zip(patterns, op.inputs)]
            if all(each is not None for each in found):
                for each in found:
                    match.update(each or {})
                return match
        return None


def matches(pattern: Any, graph: Any) -> Iterator[Match]:
    """Yields the matches of a pattern with the operations that a graph has at the call."""
    found = (pattern.match(op) for op in graph.get_operations())
    return (each for each in list(found) if each is not None)


def reroute(new: Any, old: Any, consumers: Any = None) -> int:
    """Gives operations another input, and returns how many inputs have changed.

    Args:
      new, old: Tensors.
      consumers: The operations; all that have the old one by default.
    """
    count = 0
    for op in old.consumers():
        if consumers is None or op in consumers:
            for index, tensor in enumerate(op.inputs):
                if tensor is old:
                    op._update_input(index, new)
                    count += 1
    return count
