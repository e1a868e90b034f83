"""A page at the end of a check of a certificate: its statements, what is trusted, what is specified where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tcsmt.interface.api.certificates import CheckedStatement
from tcsmt.interface.api.certified_books import CertifiedStatement
from tcsmt.prove.certificates.theorems import TheoremStatement
from tcsmt.support.text import counted

#: Of statements that are not proved, so many are named.
_NAMED = 10
_CHECKER = (
    "this program: its checker (tcsmt.prove.certificates), what it takes models, formats, domains and "
    "clauses to be (tcsmt.matrix_units, tcsmt.language), and Python; no solver, and nothing that searched "
    "for the proofs"
)
_CODE = "of statements about algorithms, kernels or exact sums, the argument: code of tcsmt.analysis"
_MODELS = (
    "of what a model computes: its file in `models`, and what that kind of model means "
    "(tcsmt.matrix_units.models); that hardware computes it is not proved: `tcsmt describe UNIT` says what "
    "is known"
)
_BOOKS = (
    "of what a unit computes: its functions in `units/*.lisp` of the books, written from its graph; "
    "`tcsmt certificate specified UNIT` proves them to be what one page says, which is written by hand "
    "(results/theorems/acl2/specification.lisp)"
)


def summary_of_checks(done: Sequence[CheckedStatement]) -> Iterator[str]:
    """Yield the page for statements that tcsmt has checked."""
    kinds = Counter(map(_kind, done)).most_common()
    listed = "; ".join(f"{kind}: {count}" for kind, count in kinds)
    yield f"summary: {counted(len(done), 'statement')} ({listed})"
    yield from _flawed([one.path.name for one in done if one.flaw], "NOT PROVED")
    yield f"trusted: {_CHECKER}"
    if any(isinstance(one.about, TheoremStatement) for one in done):
        yield f"trusted: {_CODE}"
    yield f"specification: {_MODELS}"


def summary_of_books(done: Sequence[CertifiedStatement]) -> Iterator[str]:
    """Yield the page for statements that a theorem prover has taken."""
    yield f"summary: {counted(len(done), 'statement')} ({sum(not one.flaw for one in done)} certified)"
    yield from _flawed([one.file for one in done if one.flaw], "NOT CERTIFIED")
    tags = sorted({tag for one in done if one.book is not None for tag in one.book.tags})
    with_tags = f", and the code under its trust tags {', '.join(tags)}" if tags else ""
    yield f"trusted: ACL2 and its own books{with_tags}; not tcsmt, and no solver"
    yield f"specification: {_BOOKS}"


def _kind(statement: CheckedStatement) -> str:
    """Return what a statement is about, in words of ours."""
    about = statement.about
    if isinstance(about, TheoremStatement):
        return f"about: {about.record['about']}"
    return "no input satisfies a condition" if about.domain is None else "two models give the same word"


def _flawed(files: Sequence[str], verdict: str) -> Iterator[str]:
    more = len(files) - _NAMED
    if files:
        yield f"{verdict}: {', '.join(files[:_NAMED])}{f' and {more} more' if more > 0 else ''}"
