"""Published statements judged from Python."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt.interface.api.claims import ClaimsReport
from tcsmt.support.errors import Exit
from tcsmt.surveys.claims import published


def test_each_statement_is_judged_once_and_told_at_once() -> None:
    seen: list[int] = []
    names = ["volta-third-carry-bit", "volta-third-carry-bit"]
    report = tcsmt.claims(names, judged=lambda so_far: seen.append(len(so_far.judgements)))
    assert seen == [1] and report.exit_code == Exit.ANSWERED
    (judgement,) = report.judgements
    assert judgement.verdict == "confirmed"
    text, data = str(report), report.as_json()
    assert text.startswith("CONFIRMED  volta-third-carry-bit: ") and text.endswith(report.summary)
    assert data["claims"] == [judgement.as_json()] and data["tcsmt"] == tcsmt.__version__
    assert repr(report) == f"<ClaimsReport {report.summary}>"


def test_no_answer_is_unknown() -> None:
    report = tcsmt.claims(["turing-one-extra-bit"], options=tcsmt.SolvingOptions(steps=1))
    assert isinstance(report, ClaimsReport)
    known = report.judgements[0].finding
    assert known is not None
    assert (report.exit_code == Exit.UNKNOWN) == (type(known.verdict).__name__ == "Unknown")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="did you mean volta-third-carry-bit"):
        tcsmt.claims(["volta-third-cary-bit"])
    assert len({claim.name for claim in published()}) == len(published())
