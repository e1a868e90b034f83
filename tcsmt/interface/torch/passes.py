"""The pass of autograd that computes an operation now, and which tensors are gradients in it.

``torch.is_grad_enabled`` does not tell: with ``create_graph=True`` backward passes keep a graph, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _pytree, checkpoint

#: Where Python enters autograd's engine.
_ENGINE = {str(Path(torch.autograd.__file__).with_name(name)) for name in ("graph.py", "__init__.py")}
#: Where the forward pass is computed again inside of the backward pass.
_AGAIN = checkpoint.__file__
#: What calls a function's own backward, with the gradients of its results.
_APPLY = BackwardCFunction.apply.__code__
#: Code that stands between the engine and an operation of any formula: ours, and PyTorch's dispatch.
_BETWEEN = (str(Path(__file__).parents[2]), "_python_dispatch.py", "_compile.py", "eval_frame.py")


@dataclass(frozen=True)
class BackwardPass:
    """The backward of one node. number: the node's sequence number.

    formula: whether autograd's own formula computes; else Python does, such as the backward of a
    :class:`torch.autograd.Function`. given: the gradients that this one has; None: not known.
    """

    number: int
    formula: bool
    given: tuple[Any, ...] | None


def backward_pass() -> BackwardPass | None:
    """Return what is computed backward now; None in forward passes, also where a checkpoint repeats one."""
    node = torch._C._current_autograd_node()
    if node is None:
        return None
    formula, given, frame = True, None, sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in _ENGINE:
            break
        if file == _AGAIN:
            return None
        if frame.f_code is _APPLY:
            formula, given = False, tuple(frame.f_locals["args"])
        elif not (file.startswith(_BETWEEN[0]) or file.endswith(_BETWEEN[1:])):
            formula = False
        frame = frame.f_back  # type: ignore[assignment]
    return BackwardPass(node._sequence_nr(), formula, given)


@dataclass
class Gradients:
    """The gradients in a backward that Python computes: what it is given, and what is computed of that."""

    _number: int = -1
    _known: bool = False
    _storages: dict[int, StorageWeakRef] = field(default_factory=dict)

    def follow(self, inside: BackwardPass, operands: Any, result: Any) -> None:
        """Take what an operation computes of gradients for one."""
        self._enter(inside)
        if any(self._has(tensor) for tensor in _tensors(operands)):
            self._add(_tensors(result))

    def among(self, inside: BackwardPass, tensors: Iterable[Any]) -> list[bool] | None:
        """Return which tensors are gradients; None: that is not known."""
        self._enter(inside)
        return [self._has(tensor) for tensor in tensors] if self._known else None

    def _enter(self, inside: BackwardPass) -> None:
        if inside.number == self._number:
            return
        self._number, self._known = inside.number, inside.given is not None
        self._storages.clear()
        self._known &= self._add(_tensors(inside.given))

    def _add(self, tensors: Iterable[Any]) -> bool:
        found = [_storage(tensor) for tensor in tensors]
        # the reference keeps the storage's number from being that of another tensor
        self._storages.update({storage.cdata: storage for storage in found if storage is not None})
        return all(storage is not None for storage in found)

    def _has(self, tensor: Any) -> bool:
        storage = _storage(tensor)
        return storage is not None and storage.cdata in self._storages


def _tensors(values: Any) -> list[Any]:
    return [value for value in _pytree.tree_leaves(values) if isinstance(value, torch.Tensor)]


def _storage(tensor: Any) -> StorageWeakRef | None:
    """Return the storage; None where there is none, as of functorch's wrappers."""
    try:
        return StorageWeakRef(tensor.untyped_storage())
    except (RuntimeError, NotImplementedError):
        return None
