"""Check the refutations of a certificate with a checker that is not ours, and is proved to be sound.

    python results/make/verified_checker.py FOLDER [--most N] [--seconds 600]

FOLDER is a certificate. The checker is ``projects/sat/lrat/stobj-based`` of ACL2's books: that a formula has
no solution if it accepts a refutation is a theorem of ACL2. It needs Debian's packages ``acl2``,
``acl2-books-source`` and ``acl2-books-certs`` (1.1 GB). These books are not compiled: that is done first, in
some ten seconds. The exit code is 1 if a refutation is refused.

What is checked here is that the clauses of each ``.cnf`` have no solution. That they are the clauses of the
formula that a proof needs is what ``tcsmt certificate check`` checks.
"""

from __future__ import annotations

import argparse
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

BOOKS = "projects/sat/lrat"
#: What has to be a theorem before a word of the checker counts.
THEOREM = "main-theorem-stobj-based"


class Unusable(Exception):
    """Why the checker cannot be asked."""


def books() -> Path | None:
    """The folder of ACL2's books, if ACL2 and the certified books are installed."""
    command = shutil.which("acl2")
    if command is None:
        return None
    found = re.search(
        r"^export ACL2_SYSTEM_BOOKS=(\S+)$", Path(command).read_text(errors="replace"), re.MULTILINE
    )
    folder = Path(found[1]) if found else None
    return folder if folder and (folder / BOOKS / "stobj-based" / "soundness.cert").is_file() else None


def verified(lemmas: Mapping[str, tuple[str, str]], seconds: float) -> dict[str, bool]:
    """Of each lemma, whether the checker accepts its refutation.

    lemmas: the clauses (DIMACS) and the refutation (LRAT) of each, by its name.
    Raises :class:`Unusable` if the checker does not start, or does not end in so many seconds.
    """
    folder = books()
    if folder is None:
        raise Unusable("install acl2, acl2-books-source and acl2-books-certs")
    with tempfile.TemporaryDirectory(prefix="tcsmt-") as work:
        for name, (cnf, lrat) in lemmas.items():
            lines = [line for line in cnf.splitlines(keepends=True) if line[0] != "c"]  # it reads no comments
            Path(work, f"{name}.cnf").write_text("".join(lines))
            Path(work, f"{name}.lrat").write_text(lrat)
        try:
            done = subprocess.run(
                ["acl2"], input=_session(folder, lemmas), cwd=work, timeout=seconds, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Unusable(f"no end after {seconds:g} s") from None
    if "[Uncertified]" in done.stdout or f"A THEOREM: {THEOREM}\n" not in done.stdout:
        raise Unusable(f"ACL2 does not take the books as certified:\n{done.stdout[-2000:]}")
    said = dict(re.findall(r"^LEMMA (\S+): (ACCEPTED|REFUSED)$", done.stdout, re.MULTILINE))
    return {name: said.get(name) == "ACCEPTED" for name in lemmas}  # an error in Lisp says nothing


def _session(folder: Path, names: Iterable[str]) -> str:
    """What ACL2 is told: the theorem and the program, compiled, then each lemma."""
    lines = [
        f'(ld "{folder / BOOKS / "portcullis.acl2"}")',
        f'(include-book "{BOOKS}/stobj-based/soundness" :dir :system)',
        f'(include-book "{BOOKS}/stobj-based/run" :dir :system)',
        f"(if (getpropc 'lrat::{THEOREM} 'theorem) (cw \"~%A THEOREM: {THEOREM}~%\") nil)",
        "(comp t)",
    ]
    for name in names:
        lines.append(
            f'(mv-let (erp val state) (lrat::verify-lrat-proof "{name}.cnf" "{name}.lrat")'
            f' (prog2$ (cw "~%LEMMA {name}: ~s0~%" (if (and (not erp) (eq val t)) "ACCEPTED" "REFUSED"))'
            f" (mv erp val state)))"
        )
    return "\n".join([*lines, "(good-bye)", ""])


def lemmas_of(folder: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """The clauses and the refutation of each lemma of a certificate, the smallest refutation first."""
    for path in sorted((folder / "lemmas").glob("*.lrat.xz"), key=lambda path: path.stat().st_size):
        name = path.name.split(".")[0]
        cnf, lrat = (
            lzma.decompress(path.with_name(f"{name}.{suffix}.xz").read_bytes()).decode("ascii")
            for suffix in ("cnf", "lrat")
        )
        yield name, (cnf, lrat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the certificate")
    parser.add_argument("--most", type=int, help="check so many lemmas, spread over all sizes")
    parser.add_argument("--seconds", type=float, default=600.0, help="for all of it")
    chosen = parser.parse_args()
    lemmas = dict(lemmas_of(chosen.folder))
    if not lemmas:
        sys.exit(f"{chosen.folder}: no lemmas")
    names = list(lemmas)
    if chosen.most is not None and chosen.most < len(names):
        step = (len(names) - 1) / max(1, chosen.most - 1)
        names = sorted({names[round(step * number)] for number in range(chosen.most)}, key=names.index)
    try:
        said = verified({name: lemmas[name] for name in names}, chosen.seconds)
    except Unusable as why:
        sys.exit(f"ACL2's checker: {why}")
    refused = [name for name, fine in said.items() if not fine]
    for name in refused:
        print(f"{name}: refused")
    print(f"{len(said) - len(refused)} of {len(said)} refutations accepted by ACL2's verified checker")
    sys.exit(bool(refused))


if __name__ == "__main__":
    main()
