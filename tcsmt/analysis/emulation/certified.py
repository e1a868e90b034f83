"""Certificates of bounds of emulations: the lemmas of the cut and of the unit, and the losses as fractions.

The argument from the lemmas is ``budget.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tcsmt.analysis.bounds.certified_theorem import OF_ALGORITHM, WHERE, CertifiedTheorem, Conclusion
from tcsmt.analysis.bounds.lemma_chain import LemmaChain, require_no_file
from tcsmt.analysis.emulation.budget import budget
from tcsmt.analysis.error import require_normal
from tcsmt.analysis.search.bound import LONGEST, Bound, unit
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.model_files import row_of_model
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.recipes.emulation.schemes import Emulation
from tcsmt.programs.recipes.named import without_file
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.invariants import not_none


def _emulation(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    """Return the bounds relative to |c| + Σ|a·b| and to |c| + K·max|a|·max|b|, and what each kind of step
    loses.
    """
    require_no_file(about["algorithm"])
    if not 1 <= about["k"] <= LONGEST:
        raise InvalidProof("not asked about")
    emulation, _ = emulation_named(about["algorithm"], row_of_model(about["unit"]))
    require_normal(about["domain"], emulation.wide)
    spent = budget(chain, emulation.program(about["k"]), about["domain"], about["k"])
    losses = {name: str(loss) for name, loss in spent.shares.items()}
    return {"limit": spent.total, "limit of largest": spent.of_largest, "losses": losses}


EMULATION = CertifiedTheorem(
    "the error of {algorithm} on model 1 is at most {limit} of |c| + Σ|a·b|, and at most "
    "{limit of largest} of |c| + K·max|a|·max|b|; " + WHERE,
    "binary64 words",
    OF_ALGORITHM | dict.fromkeys(("limit", "limit of largest"), "fraction"),
    ("losses",),
    about="emulation",
    derive=_emulation,
)


def certify_emulation(
    certificates: Certificates,
    name: str,
    emulation: Emulation,
    row: Row,
    k: int,
    domain: Domain,
    result: Bound,
) -> Certified:
    """Write the certificate of a bound that was proved; name: the emulation's.

    Raises :class:`.InternalError` where the lemmas alone prove another one.
    """
    wide, proved = emulation.wide, not_none(result.proved)
    title = f"{name} on {row.name}, K = {k}, {domain}"
    title += f": an error of {float(proved):.6g}·2^-{wide.precision} at most"
    limits = proved * unit(wide), Fraction(result.of_largest or 0) * unit(wide)
    about = {"algorithm": without_file(name), "k": k, "domain": domain, "unit": row.model}
    about |= dict(zip(("limit", "limit of largest"), limits, strict=True))
    return EMULATION.certify(certificates, title, about)
