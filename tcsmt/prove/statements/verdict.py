"""Verdicts: a witness, a proof, or neither; who says so, and what a proof rests on.

A verdict is kept under the digests of the graphs that it is about. That says nothing of the code that found
it. A witness needs none of that: it is replayed. A proof that was kept counts only where the code that would
prove it now is the code that did (:func:`engine_digest`), so that a mended engine never takes a proof of the
unsound one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.support.errors import Exit
from tcsmt.support.fingerprints import digest_of_sources
from tcsmt.support.text import counted


class Answered:
    """An answer of a solver, or of the simulator or the simplifier, before one was asked."""

    solver: str
    version: str
    seconds: float

    @property
    def by(self) -> str:
        """Return who answered, with the version where there is one."""
        return f"{self.solver} {self.version}".strip()

    def _json(self, verdict: str) -> dict[str, Any]:
        who = {"solver": self.solver, "version": self.version}
        return {"verdict": verdict, **who, "seconds": round(self.seconds, 4)}


def by_whom(by: str, confirmed: str) -> str:
    """Return who says so, for people: one solver alone, or with the one that confirms it."""
    return f"{by}, confirmed by {confirmed}" if confirmed else f"{by} alone"


@dataclass(frozen=True, kw_only=True)
class Distinguished(Answered):
    """A verdict that there is such an input. ``values``: the word of each input, by name."""

    values: Mapping[str, int]
    solver: str
    version: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data. :class:`.Finding` and the algorithms add the witness."""
        return self._json("distinguished")


@dataclass(frozen=True, kw_only=True)
class Equivalent(Answered):
    """A verdict that there is none. ``stage``: what was proved, step by step, in words.

    ``scripts``: SHA-256 of each SMT-LIB script that was answered ``unsat``; none where both
    graphs are the same. ``confirmed``: the other solvers, if to each script one has answered ``unsat``, too,
    or refutations that were checked.
    """

    stage: str
    scripts: tuple[str, ...]
    solver: str
    version: str
    seconds: float
    confirmed: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        proof = {"stage": self.stage, "scripts": list(self.scripts), "confirmed": self.confirmed}
        return self._json("equivalent") | proof

    @property
    def sure(self) -> bool:
        """Return whether it does not rest on one solver alone."""
        return bool(self.confirmed) or not self.scripts

    @property
    def by_whom(self) -> str:
        """Return who says so: one solver alone, or with what confirms it."""
        return by_whom(self.by, self.confirmed) if self.scripts else self.by

    @property
    def how(self) -> str:
        """Return by whom it was proved and with how many queries, or that no solver had to be asked."""
        return f"by {self.by_whom}, {len(self.scripts)} queries" if self.scripts else "without a solver"


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """A verdict without an answer, and why."""

    reason: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {"verdict": "unknown", "reason": self.reason, "seconds": round(self.seconds, 4)}


Verdict = Distinguished | Equivalent | Unknown


def reason_of(verdict: Verdict) -> str:
    """Return why a verdict is unknown; empty where it is not."""
    return verdict.reason if isinstance(verdict, Unknown) else ""


def in_a_word(verdict: Verdict) -> str:
    """Return the verdict for a ``repr``: one word, and why it is unknown."""
    reason = reason_of(verdict)
    return type(verdict).__name__.lower() + (f" ({reason})" if reason else "")


def exit_of(verdict: Verdict) -> Exit:
    """Return what a command exits with: 0 for a proof, 1 for an input, 3 for neither."""
    return Exit.of(truth(verdict, proved=True))


def truth(verdict: Verdict, *, proved: bool) -> bool | None:
    """Return whether a statement holds: a proof makes it ``proved``, an input the opposite; None: unknown."""
    return None if isinstance(verdict, Unknown) else isinstance(verdict, Equivalent) is proved


def answer_json(verdict: Verdict, present: str, absent: str) -> dict[str, Any]:
    """Return a verdict as plain data, with what it answers to its question: ``present`` for such an input,
    ``absent`` if there is none, or unknown.
    """
    data = verdict.as_json()
    answers = {"distinguished": present, "equivalent": absent, "unknown": "unknown"}
    return {"verdict": data["verdict"], "answer": answers[data["verdict"]], **data}


def said_by(record: Mapping[str, Any]) -> str:
    """Return who says so, by a verdict's data: a solver alone, or with what confirms it; else empty."""
    by = f"{record['solver']} {record['version']}".strip()
    return by_whom(by, record["confirmed"]) if record["scripts"] else by


def verdict_text(verdict: Verdict, present: str, absent: str) -> str:
    """Return the verdict in one line, with what a witness and a proof are called."""
    match verdict:
        case Distinguished():
            return f"{present}: found by {verdict.by} in {verdict.seconds:.2f} s, replayed in exact fractions"
        case Equivalent():
            where = f"; {verdict.stage}" if verdict.stage else ""
            return f"{absent}: proved by {verdict.by_whom}, {verdict.seconds:.2f} s{where}"
        case Unknown():
            return f"UNKNOWN: {verdict.reason}; {verdict.seconds:.1f} s"


def record_text(record: Mapping[str, Any], witness: str) -> str:
    """Return a recorded verdict on a lemma, with what a witness against it is called, and who says so."""
    match record["verdict"]:
        case "equivalent":
            return f"proved by {said_by(record)}"
        case "distinguished":
            return f"{witness} by {record['solver']} {record['version']}"
    return f"unknown: {record['reason']}"


def sure(record: Mapping[str, Any]) -> bool:
    """Return whether no solver stands alone for the proof that a record of an earlier run has."""
    return bool(record["confirmed"]) or not record["scripts"]


def joined(parts: Sequence[tuple[str, Equivalent]], seconds: float) -> Equivalent:
    """Join proofs, each with what it proves; confirmed where every one is that has a script."""
    proofs = [proof for _, proof in parts]
    with_scripts = [proof for proof in proofs if proof.scripts]
    first = (with_scripts or proofs)[0]
    several = len({proof.by for proof in with_scripts}) > 1
    return Equivalent(
        stage="; ".join(dict.fromkeys(what for what, _ in parts)),
        scripts=tuple(dict.fromkeys(text for proof in with_scripts for text in proof.scripts)),
        solver=_listed(proof.by for proof in with_scripts) if several else first.solver,
        version="" if several else first.version,
        seconds=seconds,
        confirmed=_listed(p.confirmed for p in with_scripts)
        if all(p.confirmed for p in with_scripts)
        else "",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


@dataclass(frozen=True)
class Certified:
    """The certificate of a proof. path: the statement's file (None: none, and why); lemmas: their number."""

    title: str
    path: Path | None
    lemmas: int = 0
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        if self.path is None:
            return {"certified": False, "reason": self.why}
        return {"certified": True, "file": str(self.path), "lemmas": self.lemmas}

    def __str__(self) -> str:
        if self.path is None:
            return f"no certificate: {self.why}"
        return f"certificate: {self.path} ({counted(self.lemmas, 'lemma')})"


def certificate_json(certified: Certified | None) -> dict[str, Any]:
    """Return what a result's data say of it; nothing where none was asked for."""
    return {} if certified is None else {"certificate": certified.as_json()}


def certificate_lines(certified: Certified | None) -> list[str]:
    """Return the same for people."""
    return [] if certified is None else [str(certified)]


def has_certificate(record: Mapping[str, Any], folder: Path | None) -> bool:
    """Return whether a record of a verdict has the certificate that it should have; folder: None if none is
    due.
    """
    if folder is None or record.get("verdict") != "equivalent":
        return True
    file = (record.get("certificate") or {}).get("file")
    return file is not None and (folder / "statements" / Path(file).name).is_file()


#: What a proof about two graphs rests on; of the certificates, how steps compose and what stands
#: for a maximum.
_ROOMS = ("language", "matrix_units/arithmetic", "matrix_units/models", "prove")


def engine_digest(*more: str) -> str:
    """Return the digest of the sources on which proofs rest; ``more``: rooms that have proofs of their
    own.
    """
    return digest_of_sources(*_ROOMS, *more)
