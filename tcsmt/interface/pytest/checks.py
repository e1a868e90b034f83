"""One check of a test: asked, or kept from an earlier run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tcsmt.interface.api.check import Check, check
from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.pytest.kept import KeptOutcome, still_so
from tcsmt.support.fingerprints import fingerprint

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
