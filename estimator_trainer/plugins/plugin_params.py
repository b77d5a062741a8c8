"""The params as plug-ins get them: a dict that code written for HParams can use too."""

from __future__ import annotations

import collections.abc
from typing import Any

from estimator_trainer import errors


class MissingParam(errors.ConfigError, KeyError):
    """A param that a plug-in asks for and nobody has set."""

    def __str__(self) -> str:
        # That of KeyError puts the sentence in quotes.
        return str(self.args[0])


class PluginParams(dict[str, Any]):
    """A dict whose items are attributes too, and whose `values()` has items as a dict has.

    `params["units"]`, `params.units`, `params.get("units")` and `params.values()["units"]` are the
    same. A dict's method wins over an item of the same name.

    Raises:
      MissingParam: for `params["units"]`, where there is none. It is a KeyError.
    """

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(_problem(self, name, f"params.{name}"))

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __missing__(self, key: str) -> Any:
        raise MissingParam(_problem(self, key, f"params[{key!r}]"))

    def values(self) -> _Values:  # type: ignore[override]
        """Returns the values, to be iterated over, or used as a dict."""
        return _Values(self)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds an item."""
        self[name] = value


class _Values(collections.abc.ValuesView[Any]):
    """The values of a dict; HParams.values() is a dict, so this has a dict's reading methods."""

    def __init__(self, params: PluginParams):
        super().__init__(params)
        self.keys, self.items, self.get = params.keys, params.items, params.get
        self._params = params

    def __getitem__(self, key: str) -> Any:
        return self._params[key]

    def __repr__(self) -> str:
        return dict.__repr__(self._params)


def _problem(params: PluginParams, name: str, asked: str) -> str:
    instead = "--global_batch_size=64" if name == "batch_size" else f"--param {name}=VALUE"
    return (f"param {name} is missing: a plug-in asks for {asked}, and there are"
            f" {', '.join(sorted(map(str, params))) or 'no params'}."
            f"{errors.near_match(name, params)} For example: {instead}")
