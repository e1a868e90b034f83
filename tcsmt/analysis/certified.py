"""Certificates of what is proved about algorithms: bounds, that one is never less accurate than another, that
a flaw is absent, what a split loses, that sums of integers are exact. :data:`THEOREMS` has the kinds of
statements of ``emulation/certified.py`` and ``exactness/certified.py``, too.

The arguments are ``budget.py``, ``bound.py``, ``proof.py``, ``monotone.py``, ``result_flaws.py``,
``split_analysis.py`` and modules of ``emulation/`` and ``exactness/``. What a statement says, and what its
certificate needs, is written once for each kind (:class:`.CertifiedTheorem`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcsmt.analysis.bounds.budget import SplitProof, budget
from tcsmt.analysis.bounds.certified_theorem import OF_ALGORITHM, WHERE, CertifiedTheorem, Conclusion
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain, require_no_file
from tcsmt.analysis.bounds.split_analysis import SPLITS, name_of, proved_by_lemmas
from tcsmt.analysis.bounds.split_constants import SplitConstants, kept_goal, prove_split_constants
from tcsmt.analysis.emulation.certified import EMULATION
from tcsmt.analysis.error import require_normal
from tcsmt.analysis.exactness.certified import KERNEL, SUMS, WORDS
from tcsmt.analysis.exactness.lattice import largest_integer, missing_integer
from tcsmt.analysis.search.bound import Bound, by_words, unit
from tcsmt.analysis.search.compare import AlgorithmPair, proved_never_worse
from tcsmt.analysis.search.result_flaws import FLAWS, ResultFlaw, proved_absent
from tcsmt.analysis.subjects import subject_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.model_files import row_of_model
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.recipes.named import algorithm_named, without_file
from tcsmt.programs.steps.split import Split
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.invariants import not_none

_NUMBERS = "binary32 words"


def _algorithm(name: str, unit: Model, k: int) -> Algorithm:
    require_no_file(name)
    return algorithm_named(name, row_of_model(unit), k)[0]


# --- bounds


def _bound(chain: LemmaChain, about: Mapping[str, Any], prove_split: SplitProof | None = None) -> Conclusion:
    """Return the bound by losses, or by the words of a split, where a statement has no constants and no
    losses.

    prove_split: says what a split keeps, where a statement does not have it yet.
    """
    algorithm, domain = _algorithm(about["algorithm"], about["unit"], about["k"]), about["domain"]
    require_normal(domain, algorithm.wide)
    if prove_split is None and not about.keys() & {"constants", "losses"}:
        if not by_words(chain, algorithm, domain, about["limit"] / unit(algorithm.wide)):
            raise InvalidProof(chain.stopped)
        return {}
    records = iter(about.get("constants", ()))
    constants: list[SplitConstants] = []

    def held(split: Split, where: Domain, bits: int, count: int) -> SplitConstants:
        """Return the constants, once no number of the domain breaks them."""
        constant = prove_split(split, where, bits, count) if prove_split else _constants(next(records), count)
        if not chain.prove("the constants of the split hold", kept_goal(split, where, bits, constant)):
            raise Unbounded(chain.stopped)
        constants.append(constant)
        return constant

    spent = budget(chain, algorithm, domain, held)
    losses = {name: str(loss) for name, loss in spent.shares.items()}
    return {"limit": spent.total, "constants": [*map(_constants_json, constants)], "losses": losses}


def _constants_json(constants: SplitConstants) -> dict[str, Any]:
    lists = {"sizes": constants.sizes, "exponents": constants.exponents}
    return {name: [str(x) for x in values] for name, values in lists.items()} | {"left": str(constants.left)}


def _constants(record: Mapping[str, Any], count: int) -> SplitConstants:
    sizes, exponents = (tuple(map(_share, record[name])) for name in ("sizes", "exponents"))
    if len(sizes) != len(exponents) or len(sizes) > count:
        raise InvalidProof(f"constants of {len(sizes)} words of a split into {count}")
    return SplitConstants(sizes, exponents, _share(record["left"]))


def _share(text: str) -> Fraction:
    """A fraction that is not negative: as a word, a negative one is large, and its lemma says nothing."""
    share = Fraction(text)
    if share < 0:
        raise InvalidProof(f"{share} is below 0")
    return share


_BOUND = CertifiedTheorem(
    "the error of {algorithm} on model 1 is at most {limit} of |c| + Σ|a·b|; " + WHERE,
    _NUMBERS,
    OF_ALGORITHM | {"limit": "fraction"},
    ("constants", "losses"),
    about="bound",
    derive=_bound,
)


def certify_bound(
    certificates: Certificates,
    name: str,
    algorithm: Algorithm,
    row: Row,
    domain: Domain,
    result: Bound,
    prove_split: SplitProof = prove_split_constants,
) -> Certified:
    """Write the certificate of a bound that was proved, in units of |c| + Σ |a·b|.

    prove_split: says what a split keeps, which has a lemma here.
    """
    proved = not_none(result.proved)
    title = (
        f"{name} on {row.name}, K = {algorithm.k}, {domain}: an error of {float(proved):.6g}·2^-24 at most"
    )
    about = {"algorithm": without_file(name), "k": algorithm.k, "domain": domain, "unit": row.model}
    about["limit"] = proved * unit(algorithm.wide)
    return _BOUND.certify(certificates, title, about, prove_split=prove_split if result.shares else None)


# --- comparisons


def _comparison(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    names = about["one"], about["two"]
    first, second = (_algorithm(*both, about["k"]) for both in zip(names, about["units"], strict=True))
    if not proved_never_worse(chain, AlgorithmPair(names, (first, second), about["domain"])):
        raise InvalidProof(chain.stopped)
    return {}


_COMPARISON = CertifiedTheorem(
    "the error of {one} on model 1 is never larger than that of {two} on model 2; " + WHERE,
    _NUMBERS,
    {"one": "text", "two": "text", "k": "number", "domain": "domain", "units": "models"},
    about="comparison",
    derive=_comparison,
)


def certify_comparison(certificates: Certificates, pair: AlgorithmPair, rows: Sequence[Row]) -> Certified:
    """Write the certificate that the first algorithm's error is never larger."""
    first, second = pair.names
    title = f"{first} on {rows[0].name}, K = {pair.k}, {pair.domain}: never less accurate than {second}"
    about = {"one": without_file(first), "two": without_file(second), "k": pair.k, "domain": pair.domain}
    return _COMPARISON.certify(certificates, title, about | {"units": [row.model for row in rows]})


# --- flaws


def _flaw(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    algorithm = _algorithm(about["algorithm"], about["unit"], about["k"])
    if not proved_absent(chain, FLAWS[about["question"]](about["algorithm"], algorithm, about["domain"])):
        raise InvalidProof(chain.stopped)
    return {}


_FLAW = CertifiedTheorem(
    "{algorithm} on model 1 does not have the flaw '{question}'; " + WHERE,
    _NUMBERS,
    {"question": "text"} | OF_ALGORITHM,
    about="flaw",
    derive=_flaw,
)


def certify_flaw(certificates: Certificates, question: str, flaw: ResultFlaw, row: Row) -> Certified:
    """Write the certificate that a flaw is absent; question: what the flaw is called."""
    title = f"{flaw.name} on {row.name}, K = {flaw.k}, {flaw.domain}: {flaw.absent.lower()}"
    about = {"question": question, "algorithm": without_file(flaw.name), "k": flaw.k, "domain": flaw.domain}
    return _FLAW.certify(certificates, title, about | {"unit": row.model})


# --- splits


def _split(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    if not proved_by_lemmas(chain, {name_of(split): split for split in SPLITS}[about["split"]]):
        raise InvalidProof(chain.stopped)
    return {}


_SPLIT = CertifiedTheorem(
    "the error of {split} is what the closed form says, for all words",
    _NUMBERS,
    {"split": "text"},
    about="split",
    derive=_split,
)


def certify_split(certificates: Certificates, split: Split) -> Certified:
    """Write the certificate of what a split loses of each binary32 number."""
    name = name_of(split)
    title = f"{name}: the error is what the closed form says, for all 2^32 inputs"
    return _SPLIT.certify(certificates, title, {"split": name})


# --- sums of integers


def _exact(chain: LemmaChain, about: Mapping[str, Any]) -> Conclusion:
    require_no_file(about["algorithm"])
    subject = subject_named(chain, about["algorithm"], row_of_model(about["unit"]))
    k, integers = about["k"], about["integers"]
    if not (0 < k <= subject.longest and integers > 0):
        raise InvalidProof("not asked about")
    if why := missing_integer(subject.formats[:2], integers):
        raise InvalidProof(why)
    if why := subject.proved(integers, k):
        raise InvalidProof(why)
    return {}


_EXACT = CertifiedTheorem(
    "model 1 with the algorithm '{algorithm}' ('': alone) sums {k} products of integers of magnitude "
    "{integers} at most exactly; "
    + WORDS
    + " (an algorithm takes binary32 words, an emulation binary64 words)",
    "words of the formats that are integers",
    {"algorithm": "text", "unit": "model", "integers": "number", "k": "number"},
    about="exact",
    derive=_exact,
)


def certify_exact(certificates: Certificates, name: str, row: Row, integers: int, k: int) -> Certified:
    """Write the certificate that sums of ``k`` products of integers are exact.

    name: of the algorithm, or the emulation; "": the unit alone.
    """
    what = f"{name} on {row.name}" if name else row.name
    title = f"{what}: {k} products of integers up to {integers} are summed exactly"
    about = {"algorithm": without_file(name), "unit": row.model, "integers": integers, "k": k}
    return _EXACT.certify(certificates, title, about)


def certify_slices(certificates: Certificates, row: Row, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of :func:`.exactness.table.record` with the certificate of each largest K that is proved."""
    slices = []
    for part in record["slices"]:
        record_of = dict(part)
        if part["k"]:
            # a slice without a sign has no bit for its largest magnitude
            integers = min(1 << part["bits"], largest_integer((row.model.a_format, row.model.b_format)))
            certified = certify_exact(certificates, "", row, integers, part["k"])
            record_of["certificate"] = certified.as_json()
        slices.append(record_of)
    return {**record, "slices": slices}


#: The kinds of statements whose argument is code.
THEOREMS = {
    kind.about: kind for kind in (_BOUND, _COMPARISON, EMULATION, _EXACT, _FLAW, KERNEL, _SPLIT, SUMS)
}
