"""Certificates of bounds of emulations: the lemmas of the cut and of the unit, and the losses as fractions.

The argument from the lemmas is ``budget.py``. It is gone through again, as :mod:`tcsmt.analysis.certified`
says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain, of_a_file
from tcsmt.analysis.emulation.budget import Spent, budget
from tcsmt.analysis.error import require_normal
from tcsmt.analysis.search.bound import LONGEST, Bound
from tcsmt.compose.recipes.emulation.named import emulation_named
from tcsmt.compose.recipes.emulation.schemes import Emulation
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.model_files import row_of_model
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.certified import Certified
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import InternalError
from tcsmt.support.invariants import present

__all__ = ["certify_emulation", "check_emulation"]


def certify_emulation(
    certificates: Certificates,
    name: str,
    emulation: Emulation,
    row: Row,
    k: int,
    domain: Domain,
    result: Bound,
) -> Certified:
    """Write the certificate of a bound that was proved; name: the emulation's."""
    wide = emulation.wide
    unit = Fraction(1, 1 << wide.precision)
    proved = present(result.proved)
    title = f"{name} on {row.name}, K = {k}, {domain}"
    title += f": an error of {float(proved):.6g}·2^-{wide.precision} at most"
    if no := of_a_file(name):
        return certificates.failed(title, no)
    chain = LemmaChain(certificates.lemma)
    try:
        spent = budget(chain, emulation, domain, k)
    except Unbounded as why:
        return certificates.failed(title, str(why))
    if (spent.total, spent.of_largest) != (proved * unit, (result.of_largest or 0) * unit):
        raise InternalError(f"{title}: from the lemmas alone, the bound is {spent.total}")
    about = {
        "about": "emulation", "title": title, "algorithm": name, "k": k, "domain": asdict(domain),
        "unit": certificates.model(row.model), **_limits(spent),
    }  # fmt: skip
    return certificates.keep({"statement": about}, list(chain.names))


def check_emulation(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    """The lemmas of a :func:`certify_emulation` statement. Raises :class:`.InvalidProof`: one is missing."""
    name, k, domain = about["algorithm"], about["k"], about["domain"]
    if no := of_a_file(name):
        raise InvalidProof(no)
    if not 1 <= k <= LONGEST:
        raise InvalidProof("not asked about")
    emulation, _ = emulation_named(name, row_of_model(about["unit"]))
    require_normal(domain, emulation.wide)
    chain = LemmaChain(files.check)
    try:
        spent = budget(chain, emulation, domain, k)
    except Unbounded as why:
        raise InvalidProof(str(why)) from None
    for what, proved in _limits(spent).items():
        stated = about[what] if what == "losses" else str(about[what])
        if stated != proved:
            raise InvalidProof(f"{what}: the lemmas prove {proved}, and not {stated!r:.200}")
    return chain


def _limits(spent: Spent) -> dict[str, Any]:
    """The bounds relative to |c| + Σ|a·b| and to |c| + K·max|a|·max|b|, and what each kind of step loses."""
    return {
        "limit": str(spent.total),
        "limit of largest": str(spent.of_largest),
        "losses": {name: str(loss) for name, loss in spent.shares.items()},
    }
