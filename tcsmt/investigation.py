"""All that a property module imports from tcsmt; ``docs/howto/property-module.md`` says how one is written.

A property module is a Python file. Its docstring's first line is the title; it defines

    CLAIMS: tuple[Claim, ...]                     (optional) who claimed what, in which paper
    def applies(row: Row) -> str                  (optional) "" or why there is nothing to ask
    def investigate(ask: Investigation) -> str    puts questions, returns the answer in a sentence

and its file name is the property's name (``carry_bits.py`` is ``carry-bits``).

>>> from tcsmt.investigation import Domain
>>> print(Domain(positive=True, c_zero=True))
finite, positive, c = 0
"""

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, all_of, any_of, const, var
from tcsmt.matrix_units.arithmetic.datapath import decode, ordered
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.ieee import convert, exact_product
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, Kind, Model, Operands
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.support.errors import Contradiction, TcsmtError
from tcsmt.support.renaming import warn_of_name
from tcsmt.surveys.properties.investigation import (
    Claim,
    Groups,
    Investigation,
    all_terms_zero,
    cannot_become,
    concluded,
    ieee_like,
    one_block,
)

__all__ = [
    "FORMATS",
    "ROUNDINGS",
    "Claim",
    "ComparedModel",
    "Contradiction",
    "Distinguished",
    "Domain",
    "Equivalent",
    "FusedDotAdd",
    "Groups",
    "IeeeDotAdd",
    "Investigation",
    "Kind",
    "Model",
    "Operands",
    "Question",
    "Row",
    "TcsmtError",
    "Term",
    "Unknown",
    "Verdict",
    "all_of",
    "all_terms_zero",
    "any_of",
    "cannot_become",
    "concluded",
    "const",
    "convert",
    "decode",
    "difference",
    "evaluate",
    "exact_product",
    "ieee_like",
    "one_block",
    "ordered",
    "var",
]


def __getattr__(name: str) -> object:
    """Return :class:`ComparedModel` by its earlier name, ``Side``, which is taken until 1.0."""
    if name != "Side":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_of_name(__name__, "Side", "ComparedModel")
    return ComparedModel
