"""Refutations of clauses: found by a SAT solver in its own process, and trimmed to what is needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from tcsmt.prove.certificates.lrat import Clause
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.run import longest
from tcsmt.support.errors import TcsmtError

_CHILD = Path(__file__).parent / "solvers" / "refuting.py"


class NotRefuted(Exception):
    """A reason why there is no refutation."""


class Satisfiable(NotRefuted):
    """The solver says that there is a solution."""


def refutation(cnf: str, options: SolvingOptions) -> str:
    """Return a refutation of a DIMACS file's clauses in the LRAT format, trimmed.

    Raises :class:`NotRefuted` where the solver finds none in the time and memory of the options, and
    :class:`.TcsmtError` where there is no room for the clauses.
    """
    with tempfile.TemporaryDirectory(prefix="tcsmt-") as folder:
        clauses, proof = Path(folder) / "cnf", Path(folder) / "lrat"
        try:
            clauses.write_text(cnf, encoding="utf-8")
        except OSError as error:
            raise TcsmtError(f"cannot write {clauses}: {error.strerror}") from None
        limits = [str(options.memory), str(options.timeout)]
        command = [sys.executable, str(_CHILD), str(clauses), str(proof), *limits]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, timeout=longest(options), check=False, env={**os.environ, "PYTHONSAFEPATH": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NotRefuted("CaDiCaL: hangs") from None
        if done.returncode == -signal.SIGPROF:
            raise NotRefuted(f"CaDiCaL: timeout after {options.timeout:g} s")
        answer = done.stdout.strip()
        if done.returncode or answer != "unsat":
            raise (Satisfiable if answer == "sat" else NotRefuted)(
                f"CaDiCaL: {answer or f'exit code {done.returncode}'}"
            )
        try:
            count = sum(line[:1] not in ("c", "p") for line in cnf.splitlines())
            with proof.open() as lines:
                return "\n".join([*trimmed(lines, count), ""])
        except (OSError, ValueError, IndexError):
            raise NotRefuted("CaDiCaL: what it wrote is not a refutation") from None


def trimmed(lines: Iterable[str], count: int) -> list[str]:
    """Return only the lines on which the empty clause rests, numbered from the ``count`` clauses on.

    CaDiCaL gives clauses their numbers as they come in, one after the other. What it derives meanwhile, such
    as a clause without a literal that a unit clause makes false, takes a number, too, and the clauses after
    it are not numbered as in their file. But each derived clause has its line here: so the number of a clause
    in its file is CaDiCaL's, less the derived ones before it.
    Raises :class:`NotRefuted` where the empty clause is not reached, or a hint names no clause.
    """
    parts_of: dict[int, tuple[str, str]] = {}  # most lines are not needed: their numbers stay text
    last = None
    for line in lines:
        name, _, rest = line.partition(" ")
        if rest.startswith("d"):
            continue
        literals, end, hints = f" {rest}".partition(" 0 ")
        if not end:
            raise ValueError(f"not a line of a refutation: {line:.80}")
        number = int(name)
        parts_of[number] = literals, hints
        if not literals:
            last = number
            break
    if last is None:
        raise NotRefuted("CaDiCaL: a refutation without the empty clause")
    needed: dict[int, list[int]] = {}
    wanted = {last}
    for number in reversed(parts_of):
        if number in wanted:
            needed[number] = [int(word) for word in parts_of[number][1].split()[:-1]]
            wanted.update(needed[number])
    numbers = [number for number in parts_of if number in needed]
    names = {number: count + place for place, number in enumerate(numbers, 1)}
    derived = sorted(parts_of)
    for hint in wanted - parts_of.keys():
        names[hint] = hint - bisect_left(derived, hint)
        if not 1 <= names[hint] <= count:
            raise NotRefuted(f"CaDiCaL: a refutation with the hint {hint}, which names no clause")
    text = []
    for number in numbers:
        hints = " ".join(str(names[hint]) for hint in needed[number])
        text.append(f"{names[number]}{parts_of[number][0]} 0 {hints} 0")
    return text


def strict(lrat: str, clauses: Iterable[Clause]) -> str:
    """Return the refutation without hints that say nothing new.

    CaDiCaL gives such a hint now and then, to a clause that is true already, and strict checkers refuse it.
    Raises :class:`NotRefuted` for a text that is not a refutation.
    """
    clause_of, text = dict(enumerate(clauses, 1)), []
    try:
        for line in lrat.splitlines():
            number, *rest = map(int, line.split())
            end = rest.index(0)
            clause_of[number] = tuple(rest[:end])
            hints = _telling(clause_of[number], rest[end + 1 : -1], clause_of)
            text.append(" ".join(map(str, (number, *clause_of[number], 0, *hints, 0))))
    except ValueError:
        raise NotRefuted("CaDiCaL: what it wrote is not a refutation") from None
    return "\n".join([*text, ""])


def _telling(clause: Clause, hints: Iterable[int], clause_of: Mapping[int, Clause]) -> list[int]:
    """Return the hints without those whose clause is true already, and those after the clause that is
    false.
    """
    false, hints_kept = set(clause), []
    for hint in hints:
        open_literals = [literal for literal in clause_of.get(hint, ()) if literal not in false]
        if any(-literal in false for literal in open_literals):
            continue
        hints_kept.append(hint)
        if not open_literals:
            break
        false.add(-open_literals[0])
    return hints_kept


def available() -> bool:
    """Return whether the SAT solver is installed."""
    return find_spec("pysolvers") is not None
