"""Refutations of clauses: found by a SAT solver in its own process, and trimmed to what is needed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from tcsmt.certificates.lrat import Clause
from tcsmt.prove.solvers.run import Settings

__all__ = ["NotRefuted", "available", "refutation", "trimmed"]

_CHILD = Path(__file__).parent / "solvers" / "refuting.py"


class NotRefuted(Exception):
    """Why there is no refutation."""


def refutation(cnf: str, settings: Settings) -> str:
    """A refutation of a DIMACS file's clauses in the LRAT format, trimmed.

    Raises :class:`NotRefuted` where the solver finds none in the time and memory of the settings.
    """
    with tempfile.TemporaryDirectory(prefix="tcsmt-") as folder:
        clauses, found = Path(folder) / "cnf", Path(folder) / "lrat"
        clauses.write_text(cnf)
        limits = [str(settings.memory), str(math.ceil(settings.timeout) + 1)]
        command = [sys.executable, str(_CHILD), str(clauses), str(found), *limits]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, timeout=settings.timeout, check=False, env={**os.environ, "PYTHONSAFEPATH": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NotRefuted(f"CaDiCaL: timeout after {settings.timeout:g} s") from None
        said = done.stdout.strip()
        if done.returncode or said != "unsat":
            raise NotRefuted(f"CaDiCaL: {said or f'exit code {done.returncode}'}")
        try:
            with found.open() as lines:
                return "\n".join([*trimmed(lines, _clauses(cnf)), ""])
        except (OSError, ValueError, IndexError):
            raise NotRefuted("CaDiCaL: what it wrote is not a refutation") from None


def _clauses(cnf: str) -> Iterator[Clause]:
    """The clauses of a DIMACS file."""
    return (tuple(map(int, line.split()[:-1])) for line in cnf.splitlines() if line[0] not in "cp")


def trimmed(lines: Iterable[str], clauses: Iterable[Clause]) -> list[str]:
    """Only the lines on which the empty clause rests, numbered without gaps from the first line's number.

    Hints that say nothing new are left out: CaDiCaL gives such a hint now and then, and strict checkers
    refuse it. Raises :class:`NotRefuted` where the empty clause is not reached.
    """
    found: dict[int, tuple[list[str], list[int]]] = {}
    last = None
    for line in lines:
        words = line.split()
        if words[1] == "d":
            continue
        end = words.index("0", 1)
        number, literals = int(words[0]), words[1:end]
        found[number] = literals, [int(word) for word in words[end + 1 : -1]]
        if not literals:
            last = number
            break
    if last is None:
        raise NotRefuted("CaDiCaL: a refutation without the empty clause")
    needed = {last}
    for number in reversed(found):
        if number in needed:
            needed.update(found[number][1])
    first = next(iter(found))
    kept = [number for number in found if number in needed]
    names = {number: first + place for place, number in enumerate(kept)}
    known, text = dict(enumerate(clauses, 1)), []
    for number in kept:
        literals, given = found[number]
        known[number] = tuple(map(int, literals))
        hints = _telling(known[number], given, known)
        text.append(
            " ".join([str(names[number]), *literals, "0", *(str(names.get(h, h)) for h in hints), "0"])
        )
    return text


def _telling(clause: Clause, hints: Iterable[int], known: Mapping[int, Clause]) -> list[int]:
    """The hints without those whose clause is true already, and those after the clause that is false."""
    false, kept = set(clause), []
    for hint in hints:
        left = [literal for literal in known.get(hint, ()) if literal not in false]
        if any(-literal in false for literal in left):
            continue
        kept.append(hint)
        if not left:
            break
        false.add(-left[0])
    return kept


def available() -> bool:
    """Whether the SAT solver is installed."""
    return find_spec("pysolvers") is not None
