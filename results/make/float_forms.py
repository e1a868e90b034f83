"""Prove forms in floating-point operations equal to their models' graphs, and keep the digests.

    python results/make/float_forms.py [--only TEXT] [--certificates FOLDER]

Each unit of the catalogue that has a form is asked about, and one link of each that is a chain of a
processor's instructions but for the words of its NaNs. Bitwuzla has to refute every lemma, and CaDiCaL its
clauses, by a refutation that is checked. The digests of what is proved are written to
``tcsmt/simulate/forms/proved_forms.json``; what is there already stays. With --certificates, a
certificate is written of each proof, of those that are there already, too, which ``tcsmt certificate check``
accepts; where CaDiCaL does not refute the clauses of a lemma in --limit seconds, none is written, and the
reason is printed. Chains that end in an addition of two words (x86's) need a --limit of 1800.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from form_proofs.deduction import ProofFailed
from form_proofs.form_proofs import FormProof, form_proofs

from tcsmt.language.terms import Term
from tcsmt.matrix_units.catalogue import rows
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.simulate.forms.proved_forms import PROVED

ABOUT = (
    "Forms in floating-point operations that are proved to give their models' words: the digests of both "
    "graphs. Made by results/make/float_forms.py; tests/results/form_proofs/test_form_proofs.py asks again."
)


def forms(only: str) -> Iterator[tuple[str, FormProof]]:
    """Each form once, with the first unit that has it, of those whose names contain a text."""
    seen = set()
    for row in rows(claims=True):
        for proof in form_proofs(row.model) if only in row.name else ():
            if proof.digests not in seen:
                seen.add(proof.digests)
                yield row.name, proof


def proved(solving: Solving, proof: FormProof, refuted: set[Term]) -> str:
    """What is missing from the proof; "" if nothing is. refuted: goals, which many forms have in common."""
    try:
        lemmas = proof.derive_proof().lemmas.values()
    except ProofFailed as why:
        return f"not deduced: {why}"
    for lemma in lemmas:
        if lemma.goal in refuted:
            continue
        answer = solving.ask(lemma.goal)
        verdict = solving.proof(lemma.what, lemma.goal, answer, answer.seconds)
        if not isinstance(verdict, Equivalent):
            return f"{lemma.what}: {answer.answer}; {verdict.reason}"
        refuted.add(lemma.goal)
    return ""


def main() -> None:
    """Prove what is not proved yet; write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="only units whose names contain this")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each lemma")
    parser.add_argument("--certificates", type=Path, help="a folder for certificates of proofs")
    options = parser.parse_args()
    entries = json.loads(PROVED.read_text(encoding="utf-8"))["forms"] if PROVED.is_file() else []
    with tempfile.TemporaryDirectory() as folder:
        solving = Solving(SolvingOptions(timeout=options.limit, confirm=True, certificate=Path(folder)))
        certificates = None
        if options.certificates is not None:
            certificates = Certificates(options.certificates, SolvingOptions(timeout=options.limit))
        refuted: set[Term] = set()
        for name, proof in forms(options.only):
            kept = {(entry["model"], entry["form"]) for entry in entries}
            if certificates is not None:
                print(f"{name}: {certificates.add(*proof.certificate(name))}", flush=True)
            if proof.digests in kept:
                continue
            start = time.perf_counter()
            missing = proved(solving, proof, refuted)
            print(f"{name}: {missing or 'proved'}, {time.perf_counter() - start:.0f} s", flush=True)
            if not missing:
                entries.append({"unit": name, "model": proof.digests[0], "form": proof.digests[1]})
                PROVED.write_text(written(entries), encoding="utf-8")


def written(entries: list[dict[str, str]]) -> str:
    """The file."""
    return json.dumps({"about": ABOUT, "forms": entries}, indent=1) + "\n"


if __name__ == "__main__":
    main()
