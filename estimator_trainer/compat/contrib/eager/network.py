"""Networks of layers, as programs wrote eager models before `tf.keras.Model`.

Definition: tensorflow/contrib/eager/python/network.py of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
import contextlib
import inspect
from typing import Any, Callable, Iterable, Optional
import weakref

import tensorflow as tf
from tensorflow.python.ops import variable_scope

_V1: Any = tf.compat.v1
_Layer: Any = _V1.layers.Layer


class _Tracked:
    """A network's knowledge of its layers; a plain object, which Keras does not look into."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.owned: dict[str, Any] = {}
        self.name_counts: Any = collections.defaultdict(int)
        self.parent: Callable[[], Any] = lambda: None
        self.outer_scope = _V1.get_variable_scope()
        self.scopes_before = dict(
            variable_scope.get_variable_scope_store().variable_scopes_count)
        self.restores: list[Any] = []
        self.steps: list[tuple[bool, Any]] = []


class Network(_Layer):
    """A layer of layers, which `track_layer` adds; variables are called after all of them.

    Args:
      name: A name without slashes, unique where the network is added or first called; None for
        that of the class.

    Raises:
      ValueError: There is another network of that name, or the name is a scope or has a slash.
    """

    def __init__(self, name: Optional[str] = None) -> None:
        if isinstance(name, _V1.VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError(f"Forward slashes ('/') are not allowed in Network names: {name!r}.")
        self._scope: Any = None
        super().__init__(name=name)
        self._network = _Tracked()

    def _init_set_name(self, name: Optional[str], zero_based: bool = True) -> None:
        # A network without a name gets one when its place is known.
        self._name: Any = name
        self._base_name: Any = None

    @property
    def name(self) -> Any:
        """The name of the network.

        Raises:
          ValueError: The network was not called or added to another one.
        """
        if self._name is None:
            raise ValueError("The network does not yet have a final name; expected a call of it, "
                             "or of track_layer of another network, before.")
        return self._name

    def track_layer(self, layer: Any) -> Any:
        """Adds a layer, and returns it.

        Raises:
          RuntimeError: `Network.__init__` was not called.
          TypeError: The layer is none of tf.layers.
          ValueError: There is a layer of its name.
        """
        if "_network" not in vars(self):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, _Layer):
            raise TypeError(f"Network.track_layer() got {type(layer).__name__}; expected a layer "
                            f"of tf.layers")
        layer._use_resource_variables = True
        known = self._network
        if isinstance(layer, Network):
            layer._finalize_name(self)
            parent = layer._network.parent()
        else:
            if not layer.built and _parent_of(layer) is None:
                if layer._name != layer._base_name:
                    layer._name, layer._base_name = layer._make_unique_name(
                        name_uid_map=known.name_counts, avoid_names=known.owned, zero_based=True)
                _PARENTS[layer] = weakref.ref(self)
            parent = _parent_of(layer)
        if not layer.built and parent is self:
            if known.owned.get(layer.name) is layer:
                return layer
            if layer.name in known.owned:
                raise ValueError(f"Attempt to add two Layers with the name {layer.name!r} to the "
                                 f"same Network.")
            known.owned[layer.name] = layer
        known.layers.append(layer)
        return layer

    def get_layer(self, name: Optional[str] = None, index: Optional[int] = None) -> Any:
        """Returns a layer by its name or its number.

        Raises:
          ValueError: There is no such layer, or both or none of the arguments is given.
        """
        if (name is None) is (index is None):
            raise ValueError("Exactly one of 'index' or 'name' must be provided")
        layers = self._network.layers
        if index is not None:
            if index >= len(layers):
                raise ValueError(f"index is {index}; expected less than {len(layers)}, the number "
                                 f"of layers")
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._set_scope()
        with contextlib.ExitStack() as stack:
            # The checkpoint that was named last is read last.
            for restore in self._network.restores:
                stack.enter_context(restore())
            return super().__call__(*args, **kwargs)

    def _gather_saveables_for_checkpoint(self) -> Any:
        raise NotImplementedError("tfe.Network does not support object-based checkpointing; use "
                                  "tf.keras.Model")

    def _finalize_name(self, parent: Any) -> None:
        known = self._network
        if not self._name:
            if parent is not None:
                counts, avoided = parent._network.name_counts, set(parent._network.owned)
            else:
                prefix = f"{known.outer_scope.name}/" if known.outer_scope.name else ""
                counts = None
                avoided = {each[len(prefix):] for each in known.scopes_before
                           if each and each.startswith(prefix)}
            self._name, self._base_name = self._make_unique_name(
                name_uid_map=counts, avoid_names=avoided, namespace=known.outer_scope.name,
                zero_based=True)
        if parent is not None and known.parent() is None:
            known.parent = weakref.ref(parent)

    def _set_scope(self, scope: Any = None) -> None:
        """Opens the scope of the network's variables, and those of its own layers."""
        if self._scope is not None:
            return
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        parent = self._network.parent()
        self._finalize_name(None)
        if parent is not None:
            parent._set_scope()
        with _V1.variable_scope(parent._scope if parent is not None
                                else self._network.outer_scope) as around:
            if f"{around.name}/{self._name}" in self._network.scopes_before:
                raise _taken(self._name)
            with _V1.variable_scope(None, default_name=self._name, use_resource=True) as found:
                self._check_scope(found.name, parent)
                self._scope = found
        for layer in self._network.layers:
            if not isinstance(layer, Network) and layer._scope is None:
                self._set_layer_scope(layer)

    def _check_scope(self, name: str, parent: Any) -> None:
        prefix, _, last = name.rpartition("/")
        if last != self._name:
            raise _taken(self._name)
        if parent is not None and prefix != parent.scope_name:
            raise ValueError(f"The variables of network {self._name!r} would be in {prefix!r}; "
                             f"expected {parent.scope_name!r}, the scope of its parent.")
        if parent is None and prefix:
            self._name = name

    def _set_layer_scope(self, layer: Any) -> None:
        parent = _parent_of(layer)
        if parent is None:
            raise ValueError(f"The parent of a Layer added to Network {self.name} was garbage "
                             f"collected before the Layer was built.")
        parent._set_scope()
        if layer._scope is None:
            with _V1.variable_scope(parent._scope), _V1.variable_scope(
                    None, default_name=layer.name, use_resource=True) as found:
                layer._scope = found

    def _all(self, attribute: str) -> list[Any]:
        return [each for layer in self._network.layers for each in getattr(layer, attribute)]

    @property
    def layers(self) -> list[Any]:
        """The layers in the order in which they were added."""
        return self._network.layers

    @property
    def weights(self) -> list[Any]:
        """The variables of all layers."""
        return self._all("weights")

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are trained."""
        return self._all("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained."""
        return self._all("non_trainable_weights")

    @property
    def losses(self) -> list[Any]:
        """The regularization losses of all layers."""
        return self._all("losses")

    @property
    def trainable(self) -> bool:
        """True."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, *args: Any, **kwargs: Any) -> None:
        """Raises RuntimeError: only layers have variables."""
        raise RuntimeError("add_variable not supported in Network class; add a layer instead")

    def add_loss(self, *args: Any, **kwargs: Any) -> None:
        """Raises RuntimeError: only layers have losses."""
        raise RuntimeError("add_loss is not supported in Network class; add a layer instead")


class Sequential(Network):
    """A network that calls layers and functions one after the other.

    Args:
      layers_funcs: Layers of tf.layers, or functions.
      name: The name of the network.
    """

    def __init__(self, layers_funcs: Optional[Iterable[Any]] = None,
                 name: Optional[str] = None) -> None:
        super().__init__(name=name)
        for each in layers_funcs or ():
            self.add(each)

    def add(self, layer_func: Any) -> None:
        """Adds a layer or a function.

        Raises:
          TypeError: What is added is none.
        """
        if isinstance(layer_func, _Layer):
            called = layer_func.call
            self.track_layer(layer_func)
        elif callable(layer_func):
            called = layer_func
        else:
            raise TypeError(f"Sequential.add() got {type(layer_func).__name__}; expected a layer "
                            f"of tf.layers or a function")
        takes = "training" in inspect.signature(called).parameters
        self._network.steps.append((takes, layer_func))

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Returns what the last layer makes of the inputs of the first."""
        for takes, step in self._network.steps:
            inputs = step(inputs, training) if takes and training is not None else step(inputs)
        return inputs


# The network that a layer was first added to.
_PARENTS: Any = weakref.WeakKeyDictionary()


def _parent_of(layer: Any) -> Any:
    return _PARENTS[layer]() if layer in _PARENTS else None


def _taken(name: str) -> ValueError:
    return ValueError(f"A Network named {name!r} already exists (or a variable_scope was created "
                      f"with this name). Names must be unique.")
