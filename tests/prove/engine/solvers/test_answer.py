"""What a solver's process has to say for its answer to count: all else is unknown, whatever it is."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.terms import var
from tcsmt.language.write.smtlib import script
from tcsmt.prove.engine.solvers.answer import ANSWERS, Answer, digest, read

#: x and y have 8 bits, and the quoted name one.
TEXT = script((var("x", 8) + 1).eq(var("y", 8)) & var("a name", 1))
GOOD: dict[str, Any] = {
    "script": digest(TEXT), "answer": "sat", "values": {"x": 3, "y": 4, "a name": 1}, "seconds": 0.25,
    "version": "9.9", "reason": "",
}  # fmt: skip
UNSAT = GOOD | {"answer": "unsat", "values": {}}


def said(reply: object, code: int = 0) -> Answer:
    return read("solver", TEXT, json.dumps(reply).encode() + b"\n", code)


def test_answers_are_closed() -> None:
    for wrong in ("timeout", "", None, "UNSAT", True, ["unsat"]):
        with pytest.raises(ValueError, match="must be one of sat, unsat, unknown"):
            Answer(wrong, "bitwuzla")
    with pytest.raises(ValueError, match="values of an answer that is unsat"):
        Answer("unsat", "bitwuzla", values={"x": 1})
    for answer in ("sat", "unknown"):
        with pytest.raises(ValueError, match=f"a confirmation of an answer that is {answer}"):
            Answer(answer, "bitwuzla", confirmed="z3")


def test_complete_answers_count() -> None:
    found = said(GOOD)
    assert found == Answer("sat", "solver", "9.9", 0.25, {"x": 3, "y": 4, "a name": 1}, script=digest(TEXT))
    assert said(UNSAT) == Answer("unsat", "solver", "9.9", 0.25, script=digest(TEXT))
    assert said(GOOD | {"values": {}}).answer == "sat"  # the rest is 0; whether that replays is seen later
    unknown = said(GOOD | {"answer": "unknown", "values": {}, "reason": "tired"})
    assert (unknown.answer, unknown.reason, unknown.script) == ("unknown", "tired", "")
    assert said(GOOD | {"answer": "unknown", "values": {}}).reason == "gave no reason"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": "UNSAT"}, "answered 'UNSAT', which is not sat, unsat or unknown"),
        ({"answer": ["unsat"]}, "answered ['unsat'], which is not"),
        ({"script": digest(TEXT + " ")}, "answered unsat to another script"),
        ({"script": None}, "answered unsat to another script"),
        ({"seconds": -1}, "answered unsat after -1 seconds"),
        ({"seconds": True}, "answered unsat after True seconds"),
        ({"seconds": 1e10}, "answered unsat after 10000000000.0 seconds"),
        ({"seconds": float("nan")}, "answered unsat after nan seconds"),
        ({"version": ""}, "answered unsat without saying its version"),
        ({"version": 9}, "a version or a reason that is not text"),
        ({"reason": None}, "a version or a reason that is not text"),
        ({"values": {"x": 1}}, "answered unsat with the values {'x': 1}"),
        ({"values": []}, "answered unsat with the values []"),
        ({"answer": "sat", "values": {"x": 256}}, "gave x the value 256, which is not a word of 8 bits"),
        ({"answer": "sat", "values": {"x": -1}}, "gave x the value -1"),
        ({"answer": "sat", "values": {"x": True}}, "gave x the value True"),
        (
            {"answer": "sat", "values": {"a name": 2}},
            "gave a name the value 2, which is not a word of 1 bits",
        ),
        ({"answer": "sat", "values": {"z": 0}}, "gave a value to 'z', which the script does not declare"),
        ({"more": 1}, "wrote no object with the fields answer, reason, script, seconds, values, version"),
    ],
)
def test_wrong_replies_are_unknown_with_a_reason(change: dict[str, Any], reason: str) -> None:
    found = said(UNSAT | change)
    assert found.answer == "unknown" and not found.values and not found.script
    assert reason in found.reason


@pytest.mark.parametrize(
    ("output", "code", "reason"),
    [
        (b"", 0, "wrote nothing"),
        (b"{}\n{}\n", 0, "wrote 2 lines instead of one"),
        (b"sat\n", 0, "wrote not JSON: 'sat'"),
        (b"\xff\n", 0, "wrote not JSON"),
        (b"[" * 100_000, 0, "wrote not JSON"),
        (b"[]", 0, "wrote no object with the fields"),
        (json.dumps(UNSAT).replace('"answer"', '"answer": "sat", "answer"').encode(), 0, "wrote not JSON"),
        (json.dumps(UNSAT).encode(), 1, "crashed (exit code 1)"),
        (json.dumps(UNSAT).encode(), -signal.SIGKILL, "crashed (SIGKILL)"),
    ],
)  # fmt: skip
def test_output_that_is_no_answer(output: bytes, code: int, reason: str) -> None:
    """A field that is given twice might be read as either: it is refused, too."""
    found = read("solver", TEXT, output, code)
    assert found.answer == "unknown" and reason in found.reason


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.floats()
    | st.sampled_from(["", "x", "unsat", "9.9"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner),
    max_leaves=3,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(GOOD)), JSON, max_size=2), st.sampled_from([GOOD, UNSAT]))
def test_no_other_reply_is_an_answer(change: dict[str, Any], reply: dict[str, Any]) -> None:
    """An unsat or sat comes from a reply that says just that, to this script, with words that fit."""
    found = said(reply | change)
    if found.answer != "unknown":
        now = reply | change
        assert found.answer == now["answer"] and now["script"] == digest(TEXT) == found.script
        assert now["version"] == found.version != ""
        widths = {"x": 8, "y": 8, "a name": 1}
        assert all(0 <= word < 1 << widths[name] for name, word in found.values.items())
        assert found.values == now["values"]
        assert not found.values or found.answer == "sat"
    assert found.answer in ANSWERS


def test_scripts_are_known_by_their_whole_text() -> None:
    assert digest("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert digest("a\n") != digest("a")
