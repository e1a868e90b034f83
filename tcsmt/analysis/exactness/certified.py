"""Certificates that sums of integers are exact: of a kernel, and of a unit for any K.

The argument from the lemmas is code, which is gone through again (:mod:`tcsmt.analysis.certified`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain
from tcsmt.analysis.exactness.kernels import not_exact
from tcsmt.analysis.exactness.largest import LARGEST_INTEGER
from tcsmt.analysis.exactness.search import LONGEST
from tcsmt.analysis.exactness.sums import exact_below
from tcsmt.compose.kernels.reduction import Reduction, reduction_named
from tcsmt.compose.kernels.schedule import Schedule
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.certified import Certified

__all__ = ["certify_kernel", "certify_sums", "check_kernel", "check_sums"]


def certify_kernel(
    certificates: Certificates, row: Row, reduction: Reduction, integers: int, k: int
) -> Certified:
    """Write the certificate that a kernel adds up ``k`` products of integers exactly, and that its result is
    never -0, c being +0: so kernels that do so, and whose results are read in the same format, give the same
    words.
    """
    fmt = Schedule(row.model, reduction).d_format.name
    what = (
        f"{row.name}, {reduction}: {k} products of integers up to {integers} are added up exactly, in {fmt}"
    )
    about = {
        "about": "kernel", "title": what, "unit": certificates.model(row.model), "reduction": str(reduction),
        "format": fmt, "integers": integers, "k": k,
    }  # fmt: skip
    chain = LemmaChain(certificates.lemma)
    why = not_exact(chain, row.model, reduction, k, integers)
    return (
        certificates.failed(what, why) if why else certificates.keep({"statement": about}, list(chain.names))
    )


def check_kernel(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    """The lemmas of a :func:`certify_kernel` statement. Raises :class:`.InvalidProof` if unproved."""
    chain = LemmaChain(files.check)
    k, integers, reduction = about["k"], about["integers"], reduction_named(about["reduction"])
    if str(reduction) != about["reduction"]:
        raise InvalidProof(f"the reduction {about['reduction']!r:.80} is written {reduction}")
    fmt = Schedule(about["unit"], reduction).d_format.name
    if about["format"] != fmt:
        raise InvalidProof(f"the results are read in {fmt}, and not in {about['format']!r:.80}")
    if not (0 < k <= LONGEST and 0 < integers <= LARGEST_INTEGER):
        raise InvalidProof("not asked about")
    why = not_exact(chain, about["unit"], reduction, k, integers)
    if why:
        raise InvalidProof(why)
    return chain


def certify_sums(certificates: Certificates, unit: Model, name: str, bits: int) -> Certified:
    """Write the certificate that a unit sums integers exactly where |c| + Σ |a·b| is below 2^bits."""
    title = f"{name}: integers are summed exactly below 2^{bits}, for any K"
    about = {"about": "sums", "title": title, "unit": certificates.model(unit), "bits": bits}
    chain = LemmaChain(certificates.lemma)
    try:
        exact_below(chain, unit, bits)
    except Unbounded as why:
        return certificates.failed(title, str(why))
    return certificates.keep({"statement": about}, list(chain.names))


def check_sums(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    """The lemmas of a :func:`certify_sums` statement. Raises :class:`.InvalidProof` if unproved."""
    chain = LemmaChain(files.check)
    try:
        exact_below(chain, about["unit"], about["bits"])
    except Unbounded as why:
        raise InvalidProof(str(why)) from None
    return chain
