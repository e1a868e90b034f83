"""Which module a product belongs to, which pass it is of, and what its operands are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from tcsmt.interface.torch.passes import Gradients, backward_pass
from tcsmt.programs.quantisation.recipe import Role

#: What products outside of modules are said to be of.
_NOWHERE = "(no module)"
#: So many products of the forward pass are remembered for the backward pass.
_REMEMBERED = 1 << 16


@dataclass(frozen=True)
class ProductPlace:
    """The place of a product. a, b: what its operands are. unknown: why that is not known; empty: it is."""

    layer: str
    run: str
    a: Role
    b: Role
    unknown: str = ""


@dataclass(frozen=True)
class _Operand:
    """The identity of a tensor while it lives: its storage, and where it begins there."""

    storage: Any
    offset: int

    @classmethod
    def of(cls, tensor: Any) -> _Operand:
        return cls(StorageWeakRef(tensor.untyped_storage()), tensor.storage_offset())

    def same(self, other: _Operand) -> bool:
        return bool(self.storage.cdata == other.storage.cdata) and self.offset == other.offset


@dataclass(frozen=True)
class _Forward:
    """A product of the forward pass.

    shapes: of A and B. by_columns: whether each lies column by column. grouped: whether it is several side by
    side, whose gradients have other formulas.
    """

    layer: str
    operands: tuple[_Operand, _Operand]
    roles: tuple[Role, Role]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    by_columns: tuple[bool, bool]
    grouped: bool

    def gradient(self, left: Any, right: Any) -> tuple[int | None, int] | None:
        """Return of which operand a product of the backward pass is the gradient, and which of its own is
        one.

        It is known by an operand that the forward product had. Where that is both of them, or checkpoints
        made it again, by autograd's formulas. None: they do not tell, or not of which operand.
        """
        factors = _Operand.of(left), _Operand.of(right)
        held = [[operand.same(side) for operand in factors] for side in self.operands]
        formulas = self._formulas()
        if any(held[0]) and any(held[1]):
            place = 1 if held[0][0] else 0
            fitting = [side for side, (_, gradient) in enumerate(formulas) if gradient == place]
            return (fitting[0] if len(fitting) == 1 else None), place
        for side, matches in enumerate(held):
            if any(matches):
                return 1 - side, 1 if matches[0] else 0
        shapes = tuple(left.shape[-2:]), tuple(right.shape[-2:])
        alike = [(side, gradient) for side, (formula, gradient) in enumerate(formulas) if formula == shapes]
        return alike[0] if len(alike) == 1 else None

    def place_of_gradient(self, side: int | None, own: int) -> ProductPlace:
        """Return the place of the gradient of operand ``side`` (None: of either); ``own`` of it is one."""
        weights = [role == "weight" for role in self.roles]
        if side is None:  # of one tensor, which is both operands
            name, other_role = "weight" if all(weights) else "left or right", self.roles[0]
        else:
            name = "weight" if weights[side] else "input" if weights[1 - side] else ("left", "right")[side]
            other_role = self.roles[1 - side]
        roles: list[Role] = [other_role, other_role]
        roles[own] = "gradient"
        return ProductPlace(self.layer, f"{name} gradient", *roles)

    def _formulas(self) -> list[tuple[tuple[tuple[int, ...], tuple[int, ...]], int]]:
        """Of the gradients of A and of B: the shapes that autograd multiplies, and which one the gradient is.

        Of an operand that lies column by column it computes the transposed gradient. Empty: they are not
        known.
        """
        if self.grouped:
            return []
        (m, k), n = self.shapes[0][-2:], self.shapes[1][-1]
        of_a = (((k, n), (n, m)), 1) if self.by_columns[0] else (((m, n), (n, k)), 0)
        of_b = (((n, m), (m, k)), 0) if self.by_columns[1] else (((k, m), (m, n)), 1)
        return [of_a, of_b]


@dataclass
class _Call:
    """A module that is running, and how many products of its own it had."""

    name: str
    products: int = 0


@dataclass
class Layers:
    """Follows modules as they are called, and products from the forward pass to the backward pass.

    A backward product is that of the forward operation with its autograd node's sequence number. numbers: of
    the nodes that autograd has made for the operation that is computed now; none: it needs no gradient.
    """

    names: dict[int, tuple[str, Any]] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    forward: dict[int, _Forward] = field(default_factory=dict)
    handles: list[Any] = field(default_factory=list)
    numbers: range = range(0)
    gradients: Gradients = field(default_factory=Gradients)

    def follow(self) -> None:
        """From now on."""
        self.numbers = range(torch.autograd._get_sequence_nr(), torch.autograd._get_sequence_nr())
        self.handles = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
        ]

    def end(self) -> None:
        """Until now."""
        for handle in self.handles:
            handle.remove()
        self.handles, self.calls = [], []

    def _enter(self, module: Any, inputs: Any) -> None:
        if id(module) not in self.names:
            self._name(module)
        self.calls.append(_Call(self.names[id(module)][0]))

    def _leave(self, module: Any, inputs: Any, outputs: Any) -> None:
        if self.calls:  # none where a module was running when the emulation began
            self.calls.pop()

    def _name(self, root: Any) -> None:
        """Names for a module and those inside it, as ``named_modules`` has them."""
        used = Counter(name for name, _ in self.names.values())
        for path, module in root.named_modules():
            name = path or type(root).__name__
            if id(module) not in self.names:
                used[name] += 1
                self.names[id(module)] = (name if used[name] == 1 else f"{name} #{used[name]}", module)

    def begin(self) -> None:
        """An operation is computed: autograd has made its nodes since the last one."""
        self.numbers = range(self.numbers.stop, torch.autograd._get_sequence_nr())

    def computed(self, operands: Any, result: Any) -> None:
        """It has been computed."""
        inside = backward_pass()
        if inside is not None and not inside.formula:
            self.gradients.follow(inside, operands, result)

    def place(self, a: Any, b: Any, gradient: int | None = None, *, grouped: bool = False) -> ProductPlace:
        """Return the place of the product of two tensors that is computed now. gradient: which one is one;
        None: find out.

        grouped: whether it is several products of parts of them.
        """
        inside = backward_pass()
        if inside is None:
            return self._forward_place(a, b, grouped)
        if inside.formula:
            return self._backward_place(inside.number, a, b, gradient, grouped)
        found = self.gradients.among(inside, (a, b))
        if found == [False, False]:  # it computes a forward product again
            return self._forward_place(a, b, grouped)
        roles = _role(a), _role(b)
        if found is None:
            return ProductPlace(_NOWHERE, "backward", *roles, "Python code computes it in the backward pass")
        given: list[Role] = ["gradient" if one else role for one, role in zip(found, roles, strict=True)]
        return ProductPlace(_NOWHERE, "backward", given[0], given[1])

    def next_product(self) -> str:
        """Return the module that runs, of whose products one more is computed; a number follows from the
        second.
        """
        if not self.calls:
            return _NOWHERE
        call = self.calls[-1]
        call.products += 1
        return call.name if call.products == 1 else f"{call.name}:{call.products}"

    def _forward_place(self, a: Any, b: Any, grouped: bool) -> ProductPlace:
        layer = self.next_product()
        place = ProductPlace(layer, "forward", _role(a), _role(b))
        self._remember(place, a, b, grouped)
        return place

    def _remember(self, place: ProductPlace, a: Any, b: Any, grouped: bool) -> None:
        """For the backward pass of the nodes that autograd has made for a product."""
        if not torch.is_grad_enabled():  # a node is then that of a function around it
            return
        for number in self.numbers:
            self.forward[number] = _Forward(
                place.layer,
                (_Operand.of(a), _Operand.of(b)),
                (place.a, place.b),
                (tuple(a.shape), tuple(b.shape)),
                (_by_columns(a), _by_columns(b)),
                grouped,
            )
            if len(self.forward) > _REMEMBERED:
                del self.forward[next(iter(self.forward))]

    def _backward_place(self, number: int, a: Any, b: Any, known: int | None, grouped: bool) -> ProductPlace:
        """An operand that the forward product had tells of which of its operands this is the gradient."""
        forward = self.forward.get(number)
        gradient = None if forward is None else forward.gradient(a, b)
        if forward is None or gradient is None:
            roles: list[Role] = [_role(a), _role(b)]
            if known is not None:
                roles[known] = "gradient"
            layer = _NOWHERE if forward is None else forward.layer
            unknown = "" if known is not None else "its forward product was not emulated, or does not tell"
            return ProductPlace(layer, "backward", roles[0], roles[1], unknown)
        place = forward.place_of_gradient(*gradient)
        self._remember(place, a, b, grouped)  # with create_graph, it has a gradient, too
        return place


def _by_columns(matrix: Any) -> bool:
    return bool(matrix.dim() == 2 and matrix.stride(0) == 1 and matrix.stride(1) >= matrix.shape[0])


def _role(tensor: Any) -> Role:
    base = tensor._base if tensor._is_view() else tensor
    return "weight" if isinstance(base, torch.nn.Parameter) else "activation"
