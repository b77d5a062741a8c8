"""Checkpoints of variables by their names in eager code.

Definition: tensorflow/contrib/eager/python/{saver,network}.py of TensorFlow 1.15.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterator, Mapping, Optional

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops

_V1: Any = tf.compat.v1
_Variable: Any = resource_variable_ops.ResourceVariable
_Names = Callable[[str], str]
_CAUSES = ("has by its map_func", "has by leaving its scope out")


class Saver:
    """Saves and restores variables without a session, as `tf.train.Saver` does in graphs.

    Args:
      var_list: Variables, or a dict of them by names.

    Raises:
      RuntimeError: Code does not run eagerly.
    """

    def __init__(self, var_list: Any) -> None:
        if not tf.executing_eagerly():
            raise RuntimeError("tfe.Saver needs eager execution; use tf.train.Saver in graphs")
        self._saver = _V1.train.Saver(var_list=var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> Any:
        """Writes a checkpoint, and returns its path."""
        with tf.device("/device:CPU:0"):
            return self._saver.save(None, file_prefix, write_meta_graph=False,
                                    global_step=global_step)

    def restore(self, file_prefix: str) -> None:
        """Reads a checkpoint."""
        with tf.device("/device:CPU:0"):
            self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer: Any) -> Any:
    """Returns the variables that an optimizer made."""
    return optimizer.variables()


@contextlib.contextmanager
def restore_variables_on_create(save_path: Optional[str],
                                map_func: Optional[_Names] = None) -> Iterator[None]:
    """Gives variables that are created inside their values in a checkpoint.

    Args:
      save_path: The path of the checkpoint; None changes nothing.
      map_func: The name in the checkpoint of a variable's name; the same without.

    Raises:
      NotFoundError: A variable is not in the checkpoint.
      ValueError: Code does not run eagerly, or map_func is none.
    """
    if not tf.executing_eagerly():
        raise ValueError("restore_variables_on_create can only be used with eager execution "
                         "enabled.")
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    if not save_path:
        yield
        return
    with _restoring(_values(save_path), map_func or (lambda name: name), required=True):
        yield


def _values(save_path: str) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(save_path)
    return {name: reader.get_tensor(name) for name, _ in tf.train.list_variables(save_path)}


@contextlib.contextmanager
def _restoring(values: Mapping[str, Any], map_func: _Names, required: bool = False
               ) -> Iterator[None]:
    """Sets each variable that is created inside, once it has its initial value."""
    created = _Variable._init_from_args

    def restored(variable: Any, *args: Any, **kwargs: Any) -> None:
        created(variable, *args, **kwargs)
        name = map_func(variable._shared_name)
        if name in values:
            _set(variable, values[name])
        elif required:
            raise tf.errors.NotFoundError(None, None, f"{name} not found in checkpoint")

    _Variable._init_from_args = restored
    try:
        yield
    finally:
        _Variable._init_from_args = created


def _set(variable: Any, value: Any) -> None:
    if tf.executing_eagerly():
        variable.assign(value)
    else:
        variable.load(value, _V1.get_default_session())


def save_network_checkpoint(network: Any, save_path: str, global_step: Any = None,
                            map_func: Optional[_Names] = None) -> Any:
    """Writes the variables of a network, and returns the checkpoint's path.

    Args:
      network: A tfe.Network.
      save_path: The beginning of the path, or a folder.
      global_step: What is appended to the path; None for the global step if there is one.
      map_func: The name in the checkpoint of a variable's name; without, the network's own scope
        is left out.

    Raises:
      ValueError: The network was not called, or two variables get one name.
    """
    if not network.built:
        raise ValueError("Attempt to save the Network before it was first called. This means "
                         "variables have not yet been created, so there is nothing to save.")
    if global_step is None:
        global_step = _V1.train.get_global_step()
    saver = _V1.train.Saver(_by_names(network, map_func))
    return saver.save(_session(), _path(network, save_path), write_meta_graph=False,
                      global_step=global_step)


def restore_network_checkpoint(network: Any, save_path: str,
                               map_func: Optional[_Names] = None) -> None:
    """Reads the variables of a network; those not yet created get their values when they are.

    Args:
      network: A tfe.Network.
      save_path: The path of the checkpoint, or the folder that was given to save it.
      map_func: As in `save_network_checkpoint`.

    Raises:
      ValueError: Two variables get one name.
    """
    network._set_scope()
    path = _path(network, save_path)
    values, existing = _values(path), _by_names(network, map_func)
    if existing:
        _V1.train.Saver(existing).restore(_session(), path)
    rest = {name: value for name, value in values.items() if name not in existing}
    if rest:
        names = map_func or _without_scope(network)
        _restore_later(network, lambda: _restoring(rest, names))


def _session() -> Any:
    """Returns the session that a Saver uses: in eager code none."""
    return None if tf.executing_eagerly() else _V1.get_default_session()


def _restore_later(network: Any, restore: Any) -> None:
    """Restores what a network creates when it, or a network in it, is called."""
    network._network.restores.append(restore)
    for layer in network.layers:
        if hasattr(layer, "_network"):
            _restore_later(layer, restore)


def _path(network: Any, save_path: str) -> str:
    return (os.path.join(save_path, network.name.replace("/", "_")) if os.path.isdir(save_path)
            else save_path)


def _without_scope(network: Any) -> _Names:
    scope = f"{network.scope_name}/"
    return lambda name: name.removeprefix(scope)


def _by_names(network: Any, map_func: Optional[_Names]) -> dict[str, Any]:
    names = map_func or _without_scope(network)
    found: dict[str, Any] = {}
    for variable in network.variables:
        name = names(variable._shared_name)
        if found.setdefault(name, variable) is not variable:
            raise ValueError(f"Network {network.name!r} {_CAUSES[map_func is None]} two variables "
                             f"named {name!r}: {found[name]._shared_name} and "
                             f"{variable._shared_name}; expected a map_func that keeps them "
                             f"apart.")
    return found
