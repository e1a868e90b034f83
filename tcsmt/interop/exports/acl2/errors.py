"""Statements about the errors of recipes as books of ACL2: a bound, or that one is never less accurate.

What they say is written with ``values.lisp``, over rational numbers; the proof is in ``recipe_words.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tcsmt.analysis.bounds.lemma_chain import require_no_file
from tcsmt.analysis.error import require_normal
from tcsmt.interop.exports.acl2.derivation import BookEvent
from tcsmt.interop.exports.acl2.recipe_words import RecipeWords
from tcsmt.interop.exports.acl2.recipes import RecipeFunctions
from tcsmt.interop.exports.acl2.statements import StatementBook
from tcsmt.interop.exports.acl2.units import UnitBook, unit_book
from tcsmt.matrix_units.files.model_files import row_of_model
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.stated import stated
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import lisp_symbol
from tcsmt.support.text import one_line, quotation

#: The definitions and the arithmetic, written by hand.
_PAGE = Path(__file__).parent / "values.lisp"
#: Significant bits of the share of an error that is left to the words: with few, its lemma is easy to refute.
_DIGITS = 10


def error_book(path: Path, statement: TheoremStatement) -> StatementBook:
    """Return the book of a statement about errors. path: of its file.

    Raises :class:`.InvalidProof`, with the reason, where there is none.
    """
    about = statement.record["about"]
    if about not in _KINDS:
        raise InvalidProof(f"its argument is code of tcsmt ({about})")
    try:
        return _KINDS[about](path, statement)
    except TcsmtError as error:
        raise InvalidProof(str(error)) from None


def _bound(path: Path, statement: TheoremStatement) -> StatementBook:
    values, record = statement.values, statement.record
    recipe = _recipe(values["algorithm"], values["unit"], values["k"], record["unit"])
    words = _words(recipe, values)
    left, limit = _left(record), values["limit"]
    of_split = left[0] + (1 + left[0]) * left[1]
    if of_split >= limit:
        raise InvalidProof(f"what the split alone leaves, {of_split}, is not less than the bound, {limit}")
    share = _shorter((limit - of_split) / ((1 + left[0]) * (1 + left[1])))
    events = [*words.domain_events(), *recipe.events(), *words.split(left)]
    events += words.bounded(left, share, limit)
    return _book(path, statement, [recipe.unit], events, words.inhabitant)


def _comparison(path: Path, statement: TheoremStatement) -> StatementBook:
    values, files = statement.values, statement.record["units"]
    names = [values["one"], values["two"]]
    marks = ("", "") if len(set(names)) == 2 else ("-1", "-2")
    first, second = (
        _recipe(name, unit, values["k"], file, mark)
        for name, unit, file, mark in zip(names, values["units"], files, marks, strict=True)
    )
    words, others = (_words(recipe, values) for recipe in (first, second))
    splits = first.algorithm.split, second.algorithm.split
    same = words.counts == others.counts and splits[0].format == splits[1].format
    if not (same and (max(words.counts) == 1 or splits[0] == splits[1])):
        raise InvalidProof("the two recipes do not split their inputs into the same words")
    events = [*words.domain_events(), *first.events(), *second.events(), *words.split(None)]
    events += words.prove_not_less_accurate(second)
    return _book(path, statement, [first.unit, second.unit], events, words.inhabitant)


_KINDS: Mapping[str, Callable[[Path, TheoremStatement], StatementBook]] = {
    "bound": _bound,
    "comparison": _comparison,
}


def _book(
    path: Path,
    statement: TheoremStatement,
    units: Iterable[UnitBook],
    events: Sequence[BookEvent],
    inhabitant: Mapping[str, int],
) -> StatementBook:
    """Return the book; the last event is the theorem."""
    title = one_line(str(statement.record["title"]))
    page = UnitBook(_PAGE.stem, file="", function="", text=_PAGE.read_text(encoding="utf-8"))
    words = " ".join(map(str, inhabitant.values()))
    inhabited = BookEvent(f"(defthm inhabited\n  (in-domain {words})\n  :rule-classes nil)")
    *before, theorem = events
    return StatementBook(
        path.stem,
        title,
        statement,
        (page, *{unit.name: unit for unit in units}.values()),
        (*before, inhabited, theorem),
        theorem.text.split()[1],
        (
            f"{quotation(title)}, in its author's words",
            "",
            *stated(statement).lines(),
            "",
            "Written by tcsmt from a certificate.",
        ),
        inhabitant,
    )


def _recipe(text: str, unit: Model, k: int, file: str, mark: str = "") -> RecipeFunctions:
    require_no_file(text)
    algorithm, _ = algorithm_named(text, row_of_model(unit), k)
    if algorithm.unit != unit:
        raise InvalidProof(f"{text} has other instructions than {file}")
    if k > unit.k:
        raise InvalidProof(f"K = {k} is more than one instruction takes, {unit.k}")
    return RecipeFunctions(f"recipe.{lisp_symbol(text)}{mark}", algorithm, unit_book(unit, file))


def _words(recipe: RecipeFunctions, values: Mapping[str, Any]) -> RecipeWords:
    require_normal(values["domain"], recipe.algorithm.wide)
    return RecipeWords(recipe, values["domain"])


def _left(record: Mapping[str, Any]) -> list[Fraction]:
    """Return what the splits of an a and of a b leave of it at most: nothing, where no constants are
    stated.
    """
    try:
        a, b = (Fraction(one["left"]) for one in record.get("constants", ({"left": "0"},) * 2))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise InvalidProof("the constants of its splits are not two records with what is left") from None
    return [a, b]


def _shorter(share: Fraction) -> Fraction:
    """Return a share above 0 that is not larger, of few bits."""
    step = Fraction(2) ** (share.numerator.bit_length() - share.denominator.bit_length() - _DIGITS)
    return share // step * step
