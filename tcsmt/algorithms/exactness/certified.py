"""Certificates that sums of integers are exact: of a unit or an algorithm, of a kernel, and for any K.

The argument from the lemmas is code, which is gone through again (:mod:`tcsmt.algorithms.certified`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tcsmt.algorithms.exactness.kernels import not_exact
from tcsmt.algorithms.exactness.largest import LARGEST_INTEGER
from tcsmt.algorithms.exactness.recipes import AlgorithmSubject
from tcsmt.algorithms.exactness.search import LONGEST, Subject, UnitSubject
from tcsmt.algorithms.exactness.sums import exact_below
from tcsmt.algorithms.exactness.units import ExactUnit
from tcsmt.algorithms.fused_loss import Unbounded
from tcsmt.algorithms.lemma_chain import LemmaChain, of_a_file
from tcsmt.algorithms.proof import StepwiseProof
from tcsmt.catalogue import Row
from tcsmt.certificates.derivation import Flaw
from tcsmt.certificates.files import model_named
from tcsmt.certificates.lemmas import LemmaFiles
from tcsmt.data.model_files import read_model
from tcsmt.kernels.reduction import Reduction, reduction_named
from tcsmt.models import Model
from tcsmt.prove.certify import Certificates
from tcsmt.recipes.named import algorithm_named
from tcsmt.statements.certified import Certified

__all__ = [
    "certify_exact", "certify_kernel", "certify_sums", "check_exact", "check_kernel", "check_sums",
]  # fmt: skip


def certify_exact(
    certificates: Certificates,
    name: str,
    row: Row,
    subject: Callable[[StepwiseProof], Subject],
    integers: int,
    k: int,
) -> Certified:
    """Write the certificate that sums of ``k`` products of integers are exact.

    name: of the algorithm; "": the unit alone. subject: it, for a chain.
    """
    what = f"{name} on {row.name}" if name else row.name
    title = f"{what}: {k} products of integers up to {integers} are summed exactly"
    about = {
        "about": "exact", "title": title, "algorithm": name, "unit": certificates.model(row.model),
        "integers": integers, "k": k,
    }  # fmt: skip
    if no := of_a_file(name):
        return certificates.failed(title, no)
    chain = LemmaChain(certificates.lemma)
    why = subject(chain).proved(integers, k)
    return (
        certificates.failed(title, why) if why else certificates.keep({"statement": about}, list(chain.names))
    )


def check_exact(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    """The lemmas of a statement of :func:`certify_exact`. Raises :class:`.Flaw` where it is not proved."""
    chain = LemmaChain(files.check)
    row = read_model(model_named(files.folder, about["unit"]))
    subject: Subject = UnitSubject(ExactUnit(chain, row.model))
    if about["algorithm"]:
        subject = AlgorithmSubject(chain, algorithm_named(about["algorithm"], row)[0])
    k, integers = int(about["k"]), int(about["integers"])
    why = subject.proved(integers, k) if min(k, integers) > 0 and k <= subject.longest else "not asked about"
    if why:
        raise Flaw(why)
    return chain


def certify_kernel(
    certificates: Certificates, row: Row, reduction: Reduction, integers: int, k: int
) -> Certified:
    """Write the certificate that a kernel adds up ``k`` products of integers exactly, and that its result is
    never -0, c being +0: so kernels that do so give the same words.
    """
    what = f"{row.name}, {reduction}: {k} products of integers up to {integers} are added up exactly"
    about = {
        "about": "kernel", "title": what, "unit": certificates.model(row.model), "reduction": str(reduction),
        "integers": integers, "k": k,
    }  # fmt: skip
    chain = LemmaChain(certificates.lemma)
    why = not_exact(chain, row.model, reduction, k, integers)
    return (
        certificates.failed(what, why) if why else certificates.keep({"statement": about}, list(chain.names))
    )


def check_kernel(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    """The lemmas of a statement of :func:`certify_kernel`. Raises :class:`.Flaw` where it is not proved."""
    chain = LemmaChain(files.check)
    model = read_model(model_named(files.folder, about["unit"])).model
    k, integers = int(about["k"]), int(about["integers"])
    if not (0 < k <= LONGEST and 0 < integers <= LARGEST_INTEGER):
        raise Flaw("not asked about")
    why = not_exact(chain, model, reduction_named(about["reduction"]), k, integers)
    if why:
        raise Flaw(why)
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
    """The lemmas of a statement of :func:`certify_sums`. Raises :class:`.Flaw` where it is not proved."""
    chain = LemmaChain(files.check)
    try:
        exact_below(chain, read_model(model_named(files.folder, about["unit"])).model, int(about["bits"]))
    except Unbounded as why:
        raise Flaw(str(why)) from None
    return chain
