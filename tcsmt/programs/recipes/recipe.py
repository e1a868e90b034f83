"""An algorithm without its unit, and what can be changed in it by a name such as ``markidis,split=RTZ``.

Every algorithm has a name that says all of it (:func:`written_out`), those of files, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.rounding import rounding_named
from tcsmt.matrix_units.models import IeeeDotAdd, Model
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.steps.running_sum import COMPENSATIONS, PLAIN
from tcsmt.programs.steps.split import F32, Split
from tcsmt.support.errors import TcsmtError, choose

#: As ``Sum.every`` and ``Sum.first``: as many products as one instruction takes.
INSTRUCTION = -1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """An algorithm without its unit. Fields as in :class:`Algorithm` and :class:`Sum`.

    ordinary: it runs on ordinary cores, by binary32 fused multiply-adds, whatever the unit.
    """

    name: str
    title: str
    source: str
    split: Split
    sums: tuple[Sum, ...]
    interleaved: bool = True
    c_enters: str = "unit"
    rounding: str = "RNE"
    compensated: str = PLAIN
    ordinary: bool = False

    def on(self, unit: Model, k: int) -> Algorithm:
        """Return the algorithm on a unit, for dot products of k. Raises :class:`.TcsmtError`."""
        unit = _ORDINARY if self.ordinary else unit
        sums = tuple(
            replace(s, every=_length(s.every, unit), first=_length(s.first, unit)) for s in self.sums
        )
        return Algorithm(
            k=k, unit=unit, split=self.split, sums=sums, interleaved=self.interleaved,
            c_enters=self.c_enters, rounding=rounding_named(self.rounding),
            compensated=self.compensated,
        )  # fmt: skip


def _length(number: int, unit: Model) -> int:
    return unit.k if number == INSTRUCTION else number


def whole_number(name: str, text: str, least: int) -> int:
    """Return the number in a text. Raises :class:`.TcsmtError` for what is none, or is less than
    ``least``.
    """
    if not text.isdecimal() or int(text) < least:
        raise TcsmtError(f"{name} = {text!r}: must be an integer, {least} or more")
    return int(text)


_ORDINARY = IeeeDotAdd.of(
    a_format=F32, b_format=F32, c_format=F32, d_format=F32, k=1, method="fma", sum_format=F32
)


def _yes(text: str) -> bool:
    return choose("interleaved", text, ("yes", "no")) == "yes"


def _on_sums(recipe: Recipe, change: Callable[[Sum], Sum]) -> Recipe:
    return replace(recipe, sums=tuple(map(change, recipe.sums)))


def _order(recipe: Recipe, text: str) -> Recipe:
    if choose("order", text, ("written", "reversed")) == "written":
        return recipe
    return _on_sums(recipe, lambda s: replace(s, products=s.products[::-1]))


def _count(name: str, text: str) -> int:
    return INSTRUCTION if text == "instruction" else whole_number(name, text, 0)


def _of_first_sum(recipe: Recipe, **changes: int) -> Recipe:
    summand, *others = recipe.sums
    return replace(recipe, sums=(replace(summand, **changes), *others))  # type: ignore[arg-type]


def _on_split(recipe: Recipe, **changes: object) -> Recipe:
    return replace(recipe, split=replace(recipe.split, **changes))  # type: ignore[arg-type]


def _sums(recipe: Recipe, text: str) -> Recipe:
    """Sums ``0.0+1.0@instruction/0.1``: products WORD.WORD in order, ``@`` and ``every`` if it is not 0.

    Where the first chain has another length, that stands before ``every``: ``0.0@8+32``.
    """
    return replace(recipe, sums=tuple(_sum(part, recipe.split.words) for part in text.split("/")))


def _sum(text: str, words: int) -> Sum:
    listed, _, lengths = text.partition("@")
    first, plus, every = lengths.rpartition("+")
    return Sum(
        pairs_of("sums", listed, words), _count("every", every or "0"), _count("first", first) if plus else 0
    )


def _sums_text(sums: Sequence[Sum]) -> str:
    texts = []
    for summand in sums:
        first, every = (
            "instruction" if number == INSTRUCTION else str(number)
            for number in (summand.first, summand.every)
        )
        lengths = every if not summand.first else f"{first}+{every}"
        products = pairs_text(summand.products)
        texts.append(f"{products}@{lengths}" if summand.every else products)
    return "/".join(texts)


def pairs_of(name: str, text: str, words: int) -> tuple[tuple[int, int], ...]:
    """Products ``0.0+1.0``, each of two words' numbers, from 0 and below ``words``.

    Raises :class:`.TcsmtError`, which has the parameter's name.
    """
    products = []
    for item in text.split("+"):
        first, dot, second = item.partition(".")
        if not (dot and first.isdecimal() and second.isdecimal() and max(int(first), int(second)) < words):
            raise TcsmtError(f"{name}: {item!r} must be WORD.WORD, words 0 to {words - 1}")
        products.append((int(first), int(second)))
    return tuple(products)


def pairs_text(products: Sequence[tuple[int, int]]) -> str:
    """Return the products as :func:`pairs_of` reads them."""
    return "+".join(f"{i}.{j}" for i, j in products)


#: What can be changed in an algorithm's name, ``markidis,split=RTZ,c=last``.
PARAMETERS: Mapping[str, Callable[[Recipe, str], Recipe]] = {
    "format": lambda r, t: _on_split(r, format=format_named(t)),
    "words": lambda r, t: _on_split(r, words=whole_number("words", t, 1)),
    "split": lambda r, t: _on_split(r, rounding=rounding_named(t)),
    "residual": lambda r, t: _on_split(r, residual=rounding_named(t)),
    "scale": lambda r, t: _on_split(r, scale=whole_number("scale", t, 0)),
    "sums": _sums,
    "order": _order,
    "every": lambda r, t: _of_first_sum(r, every=_count("every", t)),
    "first": lambda r, t: _of_first_sum(r, first=_count("first", t)),
    "interleaved": lambda r, t: replace(r, interleaved=_yes(t)),
    "c": lambda r, t: replace(r, c_enters=choose("c", t, ("unit", "first", "last"))),
    "outside": lambda r, t: replace(r, rounding=rounding_named(t).name),
    "compensated": lambda r, t: replace(r, compensated=choose("compensated", t, (PLAIN, *COMPENSATIONS))),
}


def written_out(recipe: Recipe) -> str:
    """Return the name that says all of an algorithm: ``single-f16,format=bf16,words=3,...``."""
    split = recipe.split
    texts = {
        "format": split.format.name,
        "words": str(split.words),
        "split": split.rounding.name,
        "residual": split.residual.name,
        "scale": str(split.scale),
        "sums": _sums_text(recipe.sums),
        "interleaved": "yes" if recipe.interleaved else "no",
        "c": recipe.c_enters,
        "outside": recipe.rounding,
        "compensated": recipe.compensated,
    }
    base = "fp32-fma" if recipe.ordinary else "single-f16"
    return ",".join([base, *(f"{name}={text}" for name, text in texts.items())])
