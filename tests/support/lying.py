"""Solvers that lie, crash or babble, in place of the real ones.

Each is a Python module with a solver's name, which the child process finds before the real one, by
``PYTHONPATH``: importing it takes the process over. All else is as it is: how the child is started, its
limits, its pipes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["BEHAVIOURS", "UNCONFIRMING", "Liars"]

_HEAD = '''
import hashlib, json, os, signal, sys, time

os.lseek(0, 0, os.SEEK_SET)
with open(0, "rb", closefd=False) as file:
    SCRIPT = file.read()


def line(**given):
    """A well-formed reply: unsat, but for what is given."""
    reply = {"script": hashlib.sha256(SCRIPT).hexdigest(), "answer": "unsat", "values": {}, "seconds": 0.25}
    return json.dumps({**reply, "version": "9.9", "reason": "", **given}).encode() + b"\\n"


def words(value):
    """A value for each variable, by its width."""
    import re

    declared = rb"^\\(declare-const \\|?([^|\\n]*?)\\|? (?:Bool|\\(_ BitVec (\\d+)\\))\\)"
    found = re.findall(declared, SCRIPT, re.MULTILINE)
    return {name.decode(): value(int(width or 1)) for name, width in found}


def say(text):
    while text:
        text = text[os.write(1, text):]


def end(code=0):
    os._exit(code)

'''

#: What a solver may do, by name, and what is said of it where it does not count.
BEHAVIOURS: dict[str, tuple[str, str]] = {
    "unsat": ("say(line())", ""),
    "sat": ("say(line(answer='sat'))", ""),
    "sat at 2^-30": ("say(line(answer='sat', values=words(lambda width: 0x30800FFF % (1 << width))))", ""),
    "unknown": ("say(line(answer='unknown', reason='gave up'))", "gave up"),
    "no reason": ("say(line(answer='unknown'))", "gave no reason"),
    "nothing": ("", "wrote nothing"),
    "garbage": ("say(b'unsat, I think\\n')", "wrote not JSON: 'unsat, I think'"),
    "not UTF-8": ("say(b'\\xff\\xfe\\n')", "wrote not JSON: "),
    "an array": ("say(b'[1, 2]\\n')", "wrote no object with the fields "),
    "brackets": ("say(b'[' * 200000)", "wrote not JSON: "),
    "half a line": ("say(line()[:40])", "wrote not JSON: "),
    "two replies": ("say(line() * 2)", "wrote 2 lines instead of one"),
    "a line before": ("say(b'warning\\n' + line())", "wrote 2 lines instead of one"),
    "twice in one": ('say(line()[:-2] + b\', "answer": "unsat"}\')', "wrote not JSON: "),
    "a field too many": ("say(line(sure=True))", "wrote no object with the fields "),
    "a field too few": ("say(json.dumps({'answer': 'unsat'}).encode())", "wrote no object with the fields "),
    "timeout": ("say(line(answer='timeout'))", "answered 'timeout', which is not sat, unsat or unknown"),
    "capitals": ("say(line(answer='UNSAT'))", "answered 'UNSAT', which is not sat, unsat or unknown"),
    "null": ("say(line(answer=None))", "answered None, which is not sat, unsat or unknown"),
    "a list": ("say(line(answer=['unsat']))", "answered ['unsat'], which is not sat, unsat or unknown"),
    "another script": ("say(line(script='0' * 64))", "answered unsat to another script"),
    "no version": ("say(line(version=''))", "answered unsat without saying its version"),
    "a number for a version": (
        "say(line(version=9))",
        "answered unsat with a version or a reason that is not",
    ),
    "before it began": ("say(line(seconds=-1))", "answered unsat after -1 seconds"),
    "NaN seconds": ("say(line(seconds=float('nan')))", "answered unsat after nan seconds"),
    "endless seconds": ("say(line(seconds=10**400))", "answered unsat after 1000000"),
    "text for seconds": ("say(line(seconds='1'))", "answered unsat after '1' seconds"),
    "unsat with values": ("say(line(values={'x': 1}))", "answered unsat with the values {'x': 1}"),
    "aborts after unsat": ("say(line()); os.abort()", "crashed (SIGABRT)"),
    "fails after unsat": ("say(line()); end(1)", "crashed (exit code 1)"),
    "is killed after unsat": ("say(line()); os.kill(os.getpid(), signal.SIGKILL)", "crashed (SIGKILL)"),
    "exit code 3": ("end(3)", "crashed (exit code 3)"),
    "text for values": (
        "say(line(answer='sat', values=words(lambda width: '1')))",
        "the value '1', which is not a word of ",
    ),
    "fractions for values": (
        "say(line(answer='sat', values=words(lambda width: 1.5)))",
        "the value 1.5, which is not a word of ",
    ),
    "null for values": (
        "say(line(answer='sat', values=words(lambda width: None)))",
        "the value None, which is not a word of ",
    ),
    "values too wide": (
        "say(line(answer='sat', values=words(lambda width: 1 << 64)))",
        "which is not a word of ",
    ),
    "negative values": (
        "say(line(answer='sat', values=words(lambda width: -1)))",
        "the value -1, which is not a word of ",
    ),
    "values of others": (
        "say(line(answer='sat', values={'nobody': 1}))",
        "gave a value to 'nobody', which the script does not declare",
    ),
    "a list of values": ("say(line(answer='sat', values=[1]))", "answered sat with the values [1]"),
    "hangs": ("time.sleep(600)", "hangs"),
    "hangs after unsat": ("say(line()); time.sleep(600)", "hangs"),
    "closes and hangs": ("say(line()); os.close(1); time.sleep(600)", "closed its output and did not end"),
    "writes without end": ("while True: say(b'x' * 65536)", "wrote more than 16 MiB"),
}

#: What a second solver may do that confirms nothing, two at a time, and quickly.
UNCONFIRMING = (
    ("unknown", "garbage"), ("nothing", "aborts after unsat"), ("timeout", "null"),
    ("fails after unsat", "two replies"), ("another script", "values too wide"),
)  # fmt: skip


class Liars:
    """Puts behaviours in the place of solvers, for this process and those that it starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PYTHONPATH", str(folder))
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # one behaviour may follow another within a second

    def install(self, **behaviours: str) -> None:
        """``bitwuzla="unsat", z3="nothing"``: names of :data:`BEHAVIOURS`; others stay as they are."""
        for solver, behaviour in behaviours.items():
            code, _ = BEHAVIOURS[behaviour]
            (self.folder / f"{solver}.py").write_text(f"{_HEAD}{code}\nend()\n")
