"""A unit applied to its inputs in another order, in ACL2.

That the bits of a sum of many words do not depend on their order is too hard for a SAT solver, and simple
arithmetic. So the stages are compared: a stage of other lanes is the same stage of these, and a stage of all
lanes has the same value in any order of its arguments, which is proved of words that are free: of sums and
maxima by the laws of + and max, of the others as clauses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcsmt.outside.exports.acl2.derivation import BookEvent, proved, simulated
from tcsmt.outside.exports.acl2.units import StageCall, UnitBook

__all__ = ["any_order"]

_LAWS = (
    "commutativity-of-+",
    "plus-commutes-2",
    "max-commutes",
    "max-commutes-2",
    "natural-max",
    "natural-when-word",
)


@dataclass(frozen=True)
class _Symmetry:
    """A stage, and its arguments in the other order."""

    name: str
    call: StageCall
    other: tuple[str, ...]


def any_order(unit: UnitBook, order: Mapping[str, str], widths: Mapping[str, int]) -> list[BookEvent] | None:
    """Return the events that end in ``any-order``: the unit's word is the same. None: that is not so by its
    stages.

    order: the input that stands for each input of the unit. widths: of the inputs.
    """
    symmetries = _symmetries(unit, order)
    if symmetries is None:
        return None
    sizes = dict(widths) | {call.label: call.width for call in unit.calls}
    events = [_words(unit, symmetries, widths)]
    value = {name: name for name in widths}
    for call in unit.calls:
        value[call.label] = f"({' '.join([call.function, *(value[arg] for arg in call.args)])})"
    uses = ["stages-are-words"]
    for symmetry in symmetries:
        events.append(_stage(symmetry, sizes))
        instance = " ".join(f"({arg} {value[arg]})" for arg in symmetry.call.args if arg not in widths)
        uses.append(f"(:instance {symmetry.name} {instance})" if instance else symmetry.name)
    words = " ".join(widths)
    other = " ".join(order[name] for name in widths)
    same = f"(equal ({unit.function} {words}) ({unit.function} {other}))"
    events.append(proved("any-order", [f"(words-p {words})"], same, ["words-p", unit.function], uses))
    return events


def _symmetries(unit: UnitBook, order: Mapping[str, str]) -> list[_Symmetry] | None:
    """Return the stages that must not depend on the order of their arguments."""
    label_of = {(call.function, call.args): call.label for call in unit.calls}
    image, symmetries = dict(order), []
    for call in unit.calls:
        other = tuple(image[arg] for arg in call.args)
        label = label_of.get((call.function, other))
        if label is None:
            if sorted(other) != sorted(call.args):
                return None
            label = call.label
            symmetries.append(_Symmetry(f"any-order-of-{label}", call, other))
        image[call.label] = label
    return symmetries if image[unit.calls[-1].label] == unit.calls[-1].label else None


def _words(unit: UnitBook, symmetries: Sequence[_Symmetry], widths: Mapping[str, int]) -> BookEvent:
    """Return how many bits the arguments have."""
    needed = dict.fromkeys(arg for symmetry in symmetries for arg in symmetry.call.args)
    sizes = [f"(unsigned-byte-p {c.width} {c.label})" for c in unit.calls if c.label in needed]
    lines = " ".join(f"({c.label} ({' '.join([c.function, *c.args])}))" for c in unit.calls)
    return BookEvent(
        simulated("stages-are-words", widths, f"(let* ({lines}) (and {' '.join(sizes)}))"), "stages-are-words"
    )


def _stage(symmetry: _Symmetry, sizes: Mapping[str, int]) -> BookEvent:
    call = symmetry.call
    first, second = (f"({' '.join([call.function, *args])})" for args in (call.args, symmetry.other))
    says = f"(equal {first} {second})"
    widths = {arg: sizes[arg] for arg in call.args}
    if not call.sums:
        return BookEvent(simulated(symmetry.name, widths, says), symmetry.name)
    words = [f"(unsigned-byte-p {width} {arg})" for arg, width in widths.items()]
    return proved(symmetry.name, words, says, [call.function, *_LAWS])
