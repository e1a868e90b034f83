"""A solver's answer to a script, and what its process has to say for the answer to count.

A solver is another program, and may err, crash or print anything. Its process must end with exit code 0
after one line of JSON with exactly these fields, which :func:`read` holds against the script:

    script   SHA-256 of the script that was read
    answer   sat, unsat or unknown
    values   for sat: words by the names of the script's variables
    seconds  of solving
    version  of the solver
    reason   why the answer is unknown

Whatever else comes is ``unknown``, with a reason that names what was wrong.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from tcsmt.prove.statements.verdict import Answered
from tcsmt.support.conversation import ended
from tcsmt.support.files import json_of

#: All that can be answered.
ANSWERS = ("sat", "unsat", "unknown")
#: Seconds, more than any limit on them.
_LONGEST = 1e9
_FIELDS = {"script", "answer", "values", "seconds", "version", "reason"}
_DECLARED = re.compile(
    r"^\(declare-const (?:\|(?P<quoted>[^|]*)\||(?P<plain>\S+)) (?:Bool|\(_ BitVec (?P<width>\d+)\))\)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Answer(Answered):
    """An answer to one script: ``sat``, ``unsat`` or ``unknown`` (with the reason).

    script: SHA-256 of the script; empty where no solver was asked. confirmed: the other solver that answers
    ``unsat`` too.
    """

    answer: str
    solver: str
    version: str = ""
    seconds: float = 0.0
    values: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    script: str = ""
    confirmed: str = ""

    def __post_init__(self) -> None:
        if self.answer not in ANSWERS:
            raise ValueError(f"answer {self.answer!r}: must be one of {', '.join(ANSWERS)}")
        if self.values and self.answer != "sat":
            raise ValueError(f"values of an answer that is {self.answer}")
        if self.confirmed and self.answer != "unsat":
            raise ValueError(f"a confirmation of an answer that is {self.answer}")


def digest(script: str) -> str:
    """Return what a script is known by: SHA-256 of its text, as solvers are given it."""
    return hashlib.sha256(script.encode()).hexdigest()


class _Wrong(Exception):
    """An error in a reply."""


def read(solver: str, script: str, output: bytes, code: int) -> Answer:
    """Return the answer of a solver's process: what it wrote, and its exit code (negative: the signal)."""
    try:
        if code:
            raise _Wrong(f"crashed ({ended(code)})")
        return _answer(solver, script, _object(output))
    except _Wrong as why:
        return Answer("unknown", solver, reason=str(why))


def _object(output: bytes) -> dict[str, Any]:
    lines = output.splitlines()
    if len(lines) != 1:
        raise _Wrong(f"wrote {len(lines)} lines instead of one" if lines else "wrote nothing")
    try:
        reply = json_of(lines[0].decode(), parse_constant=float)
    except ValueError:
        raise _Wrong(f"wrote not JSON: {_short(lines[0])}") from None
    if not isinstance(reply, dict) or reply.keys() != _FIELDS:
        raise _Wrong(f"wrote no object with the fields {', '.join(sorted(_FIELDS))}: {_short(lines[0])}")
    return reply


def _short(line: bytes) -> str:
    return repr(line[:80])[1:]


def _answer(solver: str, script: str, reply: dict[str, Any]) -> Answer:
    answer, seconds, version, reason = (reply[name] for name in ("answer", "seconds", "version", "reason"))
    if not isinstance(answer, str) or answer not in ANSWERS:
        raise _Wrong(f"answered {answer!r:.80}, which is not {', '.join(ANSWERS[:2])} or {ANSWERS[2]}")
    if reply["script"] != digest(script):
        raise _Wrong(f"answered {answer} to another script")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _LONGEST:
        raise _Wrong(f"answered {answer} after {seconds!r:.80} seconds")
    if not isinstance(version, str) or not isinstance(reason, str):
        raise _Wrong(f"answered {answer} with a version or a reason that is not text")
    if answer == "unknown":
        return Answer(answer, solver, version, float(seconds), reason=reason or "gave no reason")
    if not version:
        raise _Wrong(f"answered {answer} without saying its version")
    values = _values(answer, script, reply["values"])
    return Answer(answer, solver, version, float(seconds), values, script=digest(script))


def _values(answer: str, script: str, values: Any) -> dict[str, int]:
    if not isinstance(values, dict) or (values and answer != "sat"):
        raise _Wrong(f"answered {answer} with the values {values!r:.80}")
    widths = {m["quoted"] or m["plain"]: int(m["width"] or 1) for m in _DECLARED.finditer(script)}
    for name, word in values.items():
        width = widths.get(name)
        if width is None:
            raise _Wrong(f"gave a value to {name!r:.80}, which the script does not declare")
        if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word < 1 << width:
            raise _Wrong(f"gave {name} the value {word!r:.80}, which is not a word of {width} bits")
    return values
