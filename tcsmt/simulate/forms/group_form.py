"""Exact sums of groups of products, as integers of 16 bits: another graph of the same words.

A number of a short format without special values is an integer, in units of the smallest one. So is a
product, and the sum of a group, where it has few enough bits. What comes after it is the model's own graph.

Nothing here is trusted: a form is used where it is proved (:mod:`.proved_forms`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tcsmt.language.terms import FALSE, Term, const, substitute, total, umax
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models.base import Model
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.fused_parts import OneGrid, ScaledGroups
from tcsmt.matrix_units.models.stages import Kind

_WIDTH = 16


@dataclass(frozen=True)
class GroupOfForm:
    """A group's products and their sum, as signed integers of 16 bits, and whether each product is zero.

    model_sum, model_zero: the model's: the sum's word in two's complement, and whether each product is zero.
    """

    products: tuple[Term, ...]
    sum: Term
    zero: Term
    model_sum: Term
    model_zero: Term

    @property
    def values(self) -> dict[Term, Term]:
        """Return the model's terms, and what stands for them."""
        width = self.model_sum.width
        word = self.sum.sext(max(width, _WIDTH))[width - 1 : 0]
        return {self.model_sum: word, self.model_zero: self.zero}


@dataclass(frozen=True)
class GroupForm:
    """The graph of a form, which gives the model's words for all inputs: ``guard`` is 0.

    most: the size of a product.
    """

    groups: tuple[GroupOfForm, ...]
    most: int
    result: Term
    guard: Term = FALSE


def group_form(model: Model) -> GroupForm | None:
    """Return the form of a model, or None where it has no such groups, or they do not fit."""
    if not isinstance(model, FusedDotAdd) or not isinstance(model.sum.terms, ScaledGroups):
        return None
    if not isinstance(model.sum, OneGrid):  # c that leads is compared with each product: nothing is saved
        return None
    formats, words = model.factor_formats, model.trace
    if not all(map(_is_integer, formats)) or formats != (model.a_format, model.b_format):
        return None
    a, b = formats
    size, most = model.group, _largest(a) * _largest(b)
    # the sum of a whole group must be a signed integer of 16 bits, or it would wrap unnoticed
    if size * most >= 1 << (_WIDTH - 1):
        return None
    products = [_integer(a, x) * _integer(b, y) for x, y in zip(words.a, words.b, strict=True)]
    groups = []
    for number, stage in enumerate(words.of(Kind.GROUP_SUM)):
        members = tuple(products[number * size : (number + 1) * size])
        value = stage.value
        if not isinstance(value, Number) or value.sign.op != "extract":
            return None
        groups.append(
            GroupOfForm(members, total(*members), umax(*members).eq(0), value.sign.args[0], value.zero)
        )
    values = {term: word for group in groups for term, word in group.values.items()}
    (result,) = substitute([words.output], values)
    return GroupForm(tuple(groups), most, result)


def _is_integer(fmt: Format) -> bool:
    """Return whether every word is a number with a sign, subnormal ones at the lower end."""
    is_plain = fmt.signed and fmt.has_subnormals and not fmt.ignored_bits
    return is_plain and fmt.specials is Specials.NONE


def _largest(fmt: Format) -> int:
    """Return the largest number, in units of the smallest one."""
    return ((2 << fmt.fraction_bits) - 1) << (fmt.e_max - fmt.e_min)


def _integer(fmt: Format, word: Term) -> Term:
    """Return a number in units of the smallest one.

    With every exponent from the second on, what the magnitude's word counts is twice as much.
    """
    fields = word[fmt.sign_bit - 1 : 0].zext(_WIDTH)
    size, unit = fields, 1
    for exponent in range(2, fmt.e_max + fmt.bias + 1):
        first = const(exponent << fmt.fraction_bits, _WIDTH)
        size = size + (umax(fields, first) - first) * unit
        unit *= 2
    return word[fmt.sign_bit].ite(-size, size)
