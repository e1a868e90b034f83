"""One check of a test: asked, or kept from an earlier run where its record still holds.

A kept outcome counts where all is as it was that it is known to depend on: the unit's graph, the number of
rows, the function's code and the files that it imports (:mod:`tcsmt.support.fingerprints`). What else a
function reads, such as files of data, is not known: so some rows are asked all the same, other ones in each
run. Where an answer is not what the outcome says, the outcome counts for nothing, and all is asked again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.interface.api.check import Check, check
from tcsmt.interface.api.implementations import of_arrays
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interop.implementations.check import wrong_answers
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.measured.row_files import words_of
from tcsmt.simulate.rows import run_words
from tcsmt.support.fingerprints import fingerprint
from tcsmt.surveys.units.vectors import random_rows

#: Rows that are asked of a function whose outcome is kept.
_ASKED = 2000


@dataclass(frozen=True)
class KeptOutcome:
    """An outcome.

    about: all that it depends on, as a digest. text: what was printed. values, got: of a failure, the short
    row by names, and the function's word. vectors: the file of rows and answers, as text.
    """

    about: str
    agrees: bool
    text: str
    values: Mapping[str, int]
    got: int
    vectors: str

    @classmethod
    def of(cls, about: str, result: Check, vectors: str) -> KeptOutcome:
        """Return what a check has found."""
        first = result.checked.first
        values, got = ({}, 0) if first is None else (dict(first.values), first.got)
        return cls(about, result.agrees, str(result), values, got, vectors)

    @classmethod
    def read(cls, record: Any) -> KeptOutcome | None:
        """Return the outcome of a record; None where it is none."""
        try:
            return cls(
                str(record["about"]),
                bool(record["agrees"]),
                str(record["text"]),
                {str(name): int(word) for name, word in record["values"].items()},
                int(record["got"]),
                str(record["vectors"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return asdict(self)


def still_so(outcome: KeptOutcome, model: Model, function: Any) -> bool:
    """Return whether the function answers some rows as the outcome says: random ones right, or the short one
    wrong.

    Raises what the function raises.
    """
    asked = of_arrays(model.operand_formats, model.d_format, function, "the implementation's result")
    if outcome.agrees:
        seed = time.time_ns()
        return all(
            not wrong_answers(model, asked(words), run_words(model, words)).any()
            for words in random_rows(model, _ASKED, seed)
        )
    if outcome.values.keys() != model.input_formats.keys():  # its answers changed, say
        return False
    words = words_of(model, {name: np.array([word], object) for name, word in outcome.values.items()})
    answers = asked(words)
    return bool(answers[0] == outcome.got) and bool(wrong_answers(model, answers, run_words(model, words))[0])


#: Numbers the checks of one test.
_COUNT = pytest.StashKey[int]()
_KEPT = "(kept from an earlier run: nothing it depends on has changed, and the row above still differs)"


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of a check. text: what a failure shows. check: None where the outcome was kept."""

    agrees: bool
    text: str
    check: Check | None


def checked(
    request: pytest.FixtureRequest, unit: UnitLike, implementation: Any, rows: int, how: Mapping[str, Any]
) -> CheckOutcome:
    """Ask the implementation, or see that what an earlier run has found of it is so still.

    how: further arguments of :func:`tcsmt.check`; with any, nothing is kept. Raises :class:`.TcsmtError` for
    what that refuses.
    """
    number = request.node.stash.get(_COUNT, 0) + 1
    request.node.stash[_COUNT] = number
    cache: Any = getattr(request.config, "cache", None)  # there is none with -p no:cacheprovider
    about = None if how or cache is None else _about(unit, implementation, rows)
    place = hashlib.sha256(f"{request.node.nodeid} {number}".encode()).hexdigest()
    file = Path(request.getfixturevalue("tmp_path"), f"answers-{number}.json")
    record = None if about is None else KeptOutcome.read(cache.get(f"tcsmt/{place}", None))
    if (
        record is not None
        and record.about == about
        and still_so(record, side_of(unit).row.model, implementation)
    ):
        if record.agrees:
            return _noted(request, CheckOutcome(True, "", None), rows)
        file.write_text(record.vectors, encoding="utf-8")
        return _noted(request, CheckOutcome(False, _failure(f"{record.text}\n{_KEPT}", file), None), rows)
    result = check(unit, implementation, rows=rows, **how)
    text = ""
    if not result.agrees:
        result.save(file)
        text = _failure(str(result), file)
    if about is not None:
        vectors = "" if result.agrees else file.read_text(encoding="utf-8")
        cache.set(f"tcsmt/{place}", KeptOutcome.of(about, result, vectors).as_json())
    return _noted(request, CheckOutcome(result.agrees, text, result), result.rows)


def _about(unit: UnitLike, implementation: Any, rows: int) -> str | None:
    """Return what an outcome depends on, as a digest; None where that is not known."""
    marks = fingerprint(implementation)
    return None if marks is None else f"{side_of(unit).row.model.digest} {rows} {marks}"


def _failure(text: str, file: Path) -> str:
    return f"{text}\nrows and answers: {file}"


def _noted(request: pytest.FixtureRequest, outcome: CheckOutcome, rows: int) -> CheckOutcome:
    """Return the outcome, noted as properties of the test, which JUnit reports have."""
    request.node.user_properties += [("tcsmt.rows", rows), ("tcsmt.kept", outcome.check is None)]
    return outcome
