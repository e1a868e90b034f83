"""Prove forms in floating-point operations equal to their models' graphs, and keep the digests.

    python results/make/float_forms.py [--only TEXT]

Each unit of the catalogue that has a form is asked about, and one link of each that is a chain of a
processor's instructions but for the words of its NaNs. Bitwuzla has to refute every lemma, and CaDiCaL its
clauses, by a refutation that is checked; with --certificates they are kept in a folder. The digests of what
is proved are written to ``tcsmt/matrix_units/models/proved_forms.toml``; what is there already stays.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.models.float_form import float_form
from tcsmt.matrix_units.models.proved_forms import PROVED, digests, one_lane
from tcsmt.prove.engine import float_form_proof, nan_words_proof
from tcsmt.prove.engine.deduction import NotDeduced, Obligation
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent

HEAD = """\
# Forms in floating-point operations that are proved to give their models' words: the digests of both graphs.
# Made by results/make/float_forms.py; tests/prove/engine/test_float_form_proof.py asks again.
"""


@dataclass(frozen=True)
class Candidate:
    """What is to be proved: the unit that it is of, the digests of both graphs, and what gives the lemmas."""

    unit: str
    digests: tuple[str, str]
    deduced: Callable[[], list[Obligation]]

    @property
    def entry(self) -> dict[str, str]:
        """As the file has it."""
        return {"unit": self.unit, "model": self.digests[0], "form": self.digests[1]}


def candidates() -> Iterator[Candidate]:
    """Each form once, with the first unit that has it."""
    seen = set()
    for row in rows(claims=True):
        form, steps = float_form(row.model), one_lane(row.model)
        if form is not None:
            names = digests(row.model, form.result, form.guard)
            lemmas = partial(float_form_proof.deduced, row.model, form)
        elif steps is not None:
            names = digests(steps[0], steps[1].trace.output)
            lemmas = partial(nan_words_proof.deduced, *steps)
        else:
            continue
        if names not in seen:
            seen.add(names)
            yield Candidate(row.name, names, lemmas)


def proved(solving: Solving, candidate: Candidate) -> str:
    """What is missing from the proof; "" if nothing is."""
    try:
        lemmas = candidate.deduced()
    except NotDeduced as why:
        return f"not deduced: {why}"
    for lemma in lemmas:
        answer = solving.ask(lemma.goal)
        verdict = solving.proof(lemma.what, lemma.goal, answer, answer.seconds)
        if not isinstance(verdict, Equivalent):
            return f"{lemma.what}: {answer.answer}; {verdict.reason}"
    return ""


def main() -> None:
    """Prove what is not proved yet; write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="only units whose names contain this")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each lemma")
    parser.add_argument("--certificates", type=Path, help="a folder for the refutations")
    options = parser.parse_args()
    entries = tomllib.loads(PROVED.read_text(encoding="utf-8"))["forms"] if PROVED.is_file() else []
    with tempfile.TemporaryDirectory() as folder:
        solving = Solving(
            SolvingOptions(
                timeout=options.limit, confirm=True, certificate=options.certificates or Path(folder)
            )
        )
        for candidate in candidates():
            if options.only not in candidate.unit or candidate.entry in entries:
                continue
            start = time.perf_counter()
            missing = proved(solving, candidate)
            print(f"{candidate.unit}: {missing or 'proved'}, {time.perf_counter() - start:.0f} s", flush=True)
            if not missing:
                entries.append(candidate.entry)
                PROVED.write_text(written(entries), encoding="utf-8")


def written(entries: list[dict[str, str]]) -> str:
    """The file."""
    blocks = ["\n".join(["[[forms]]", *(f'{k} = "{v}"' for k, v in entry.items()), ""]) for entry in entries]
    return "\n".join([HEAD, *blocks])


if __name__ == "__main__":
    main()
