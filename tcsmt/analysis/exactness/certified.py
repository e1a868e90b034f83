"""Certificates that sums of integers are exact: of a kernel, and of a unit for any K."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcsmt.analysis.bounds.certified_theorem import CertifiedTheorem, Conclusion
from tcsmt.analysis.bounds.lemma_chain import LemmaChain
from tcsmt.analysis.exactness.kernels import not_exact
from tcsmt.analysis.exactness.largest import LARGEST_INTEGER
from tcsmt.analysis.exactness.lattice import missing_integer
from tcsmt.analysis.exactness.search import LONGEST
from tcsmt.analysis.exactness.sums import exact_below
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.reduction import Reduction, reduction_named
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.verdict import Certified

#: What statements about products of integers leave to be said.
WORDS = "a and b are words of its formats, c is +0, and block scales are 1"


def _kernel(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    k, integers, reduction = about["k"], about["integers"], reduction_named(about["reduction"])
    if str(reduction) != about["reduction"]:
        raise InvalidProof(f"the reduction {about['reduction']!r:.80} is written {reduction}")
    if not (0 < k <= LONGEST and 0 < integers <= LARGEST_INTEGER):
        raise InvalidProof("not asked about")
    if why := missing_integer((about["unit"].a_format, about["unit"].b_format), integers):
        raise InvalidProof(why)
    if why := not_exact(chain, about["unit"], reduction, k, integers):
        raise InvalidProof(why)
    return {"format": Schedule(about["unit"], reduction).d_format.name}


KERNEL = CertifiedTheorem(
    "model 1 with the reduction {reduction} sums {k} products of integers of magnitude {integers} at "
    "most exactly, and the result, read in {format}, is never -0; " + WORDS,
    "words of the model's formats that are integers",
    {"unit": "model", "reduction": "text", "format": "text", "integers": "number", "k": "number"},
    about="kernel",
    derive=_kernel,
)


def certify_kernel(
    certificates: Certificates, row: Row, reduction: Reduction, integers: int, k: int
) -> Certified:
    """Write the certificate that a kernel adds up ``k`` products of integers exactly, and that its result is
    never -0, c being +0: so kernels that do so, and whose results are read in the same format, give the same
    words.
    """
    fmt = Schedule(row.model, reduction).d_format.name
    what = f"{k} products of integers up to {integers} are added up exactly, in {fmt}"
    about = {"unit": row.model, "reduction": str(reduction), "format": fmt, "integers": integers, "k": k}
    return KERNEL.certify(certificates, f"{row.name}, {reduction}: {what}", about)


def _sums(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    exact_below(chain, about["unit"], about["bits"])
    return {}


SUMS = CertifiedTheorem(
    "model 1 sums integers exactly where |c| + Σ|a·b| is below 2^{bits}, for any K; "
    "a, b and c are words of its formats",
    "words of the model's formats that are integers",
    {"unit": "model", "bits": "number"},
    about="sums",
    derive=_sums,
)


def certify_sums(certificates: Certificates, unit: Model, name: str, bits: int) -> Certified:
    """Write the certificate that a unit sums integers exactly where |c| + Σ |a·b| is below 2^bits."""
    title = f"{name}: integers are summed exactly below 2^{bits}, for any K"
    return SUMS.certify(certificates, title, {"unit": unit, "bits": bits})
