"""Certificates of what is proved about algorithms: bounds, that one is never less accurate than another, that
a flaw is absent, what a split loses, that sums of integers are exact. :data:`THEOREMS` has the statements of
``emulation/certified.py`` and ``exactness/certified.py``, too.

Such a proof is a list of goals without a solution, and an argument from them in ``budget.py``, ``bound.py``,
``proof.py``, ``monotone.py``, ``result_flaws.py``, ``split_analysis.py`` or a module of ``emulation/`` or
``exactness/``.
A certificate has a lemma for each goal, and the numbers that the argument starts from and ends with, as
fractions. The argument itself is code; it is gone through again when a certificate is written and when it is
checked, with a :class:`StepwiseProof` for which a goal is proved if its lemma is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from tcsmt.analysis.bounds.budget import Keeping, budget
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain, of_a_file
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.split_analysis import SPLITS, name_of, proved_by_lemmas
from tcsmt.analysis.bounds.split_constants import WordsKept, kept, kept_goal
from tcsmt.analysis.emulation.certified import check_emulation
from tcsmt.analysis.error import require_normal
from tcsmt.analysis.exactness.certified import check_kernel, check_sums
from tcsmt.analysis.search import result_flaws
from tcsmt.analysis.search.bound import Bound, by_words, unit
from tcsmt.analysis.search.compare import AlgorithmPair, proved_never_worse
from tcsmt.analysis.search.result_flaws import FLAWS, proved_absent
from tcsmt.analysis.subjects import subject_named
from tcsmt.compose.recipes.algorithm import Algorithm
from tcsmt.compose.recipes.named import algorithm_named
from tcsmt.compose.recipes.split import Split
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.model_files import row_of_model
from tcsmt.matrix_units.models import Model
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.theorems import Check, Theorem
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.certified import Certified
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.invariants import present

__all__ = [
    "THEOREMS",
    "certify_bound",
    "certify_comparison",
    "certify_exact",
    "certify_flaw",
    "certify_slices",
    "certify_split",
]


# --- bounds


def certify_bound(
    certificates: Certificates,
    name: str,
    algorithm: Algorithm,
    row: Row,
    domain: Domain,
    result: Bound,
    keeping: Keeping = kept,
) -> Certified:
    """Write the certificate of a bound that was proved, in units of |c| + Σ |a·b|.

    keeping: says what a split keeps, which has a lemma here.
    """
    proved = present(result.proved)
    limit = proved * unit(algorithm.wide)
    title = f"{name} on {row.name}, K = {algorithm.k}, {domain}: an error of {float(proved):.6g}·2^-24"
    about: dict[str, Any] = {
        "about": "bound", "title": f"{title} at most", "algorithm": name, "k": algorithm.k,
        "domain": asdict(domain), "unit": certificates.model(row.model), "limit": str(limit),
    }  # fmt: skip
    if no := of_a_file(name):
        return certificates.failed(about["title"], no)
    chain = LemmaChain(certificates.lemma)
    constants: list[WordsKept] = []

    def held(split: Split, where: Domain, bits: int, count: int) -> WordsKept:
        constants.append(_held(chain, keeping(split, where, bits, count), split, where, bits))
        return constants[-1]

    try:
        if result.shares:
            spent = budget(chain, algorithm, domain, held)
            _require_equal(spent.total, limit)
            about["constants"] = [_constants(constant) for constant in constants]
            about["losses"] = _losses(spent.shares)
        elif not by_words(chain, algorithm, domain, proved):
            return certificates.failed(about["title"], chain.stopped)
    except (Unbounded, InvalidProof) as why:
        return certificates.failed(about["title"], str(why))
    return certificates.keep({"statement": about}, list(chain.names))


def _check_bound(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    algorithm, domain = _algorithm(about["algorithm"], about["unit"], about["k"]), about["domain"]
    require_normal(domain, algorithm.wide)
    chain, limit = LemmaChain(files.check), about["limit"]
    if "constants" not in about and "losses" not in about:
        if not by_words(chain, algorithm, domain, limit / unit(algorithm.wide)):
            raise InvalidProof(chain.stopped)
        return chain
    constants = iter(about["constants"])

    def keeping(split: Split, where: Domain, bits: int, count: int) -> WordsKept:
        constant = _kept(next(constants))
        if len(constant.sizes) != len(constant.exponents) or len(constant.sizes) > count:
            raise InvalidProof(f"constants of {len(constant.sizes)} words of a split into {count}")
        return _held(chain, constant, split, where, bits)

    spent = budget(chain, algorithm, domain, keeping)
    _require_equal(spent.total, limit)
    if about["losses"] != _losses(spent.shares):
        raise InvalidProof(f"the losses are {_losses(spent.shares)}, not {about['losses']!r:.200}")
    return chain


def _held(chain: StepwiseProof, constants: WordsKept, split: Split, where: Domain, bits: int) -> WordsKept:
    """The constants, once no number of the domain breaks them."""
    goal = kept_goal(split, where, bits, constants)
    if not chain.prove("the constants of the split hold", goal):
        raise Unbounded(chain.stopped)
    return constants


def _losses(shares: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(loss) for name, loss in shares.items()}


def _require_equal(total: Fraction, limit: Fraction) -> None:
    if total != limit:
        raise InvalidProof(f"the losses add up to {total}, not to {limit}")


def _constants(constants: WordsKept) -> dict[str, Any]:
    lists = {"sizes": constants.sizes, "exponents": constants.exponents}
    return {name: [str(x) for x in values] for name, values in lists.items()} | {"left": str(constants.left)}


def _kept(record: Mapping[str, Any]) -> WordsKept:
    sizes, exponents = (tuple(map(_share, record[name])) for name in ("sizes", "exponents"))
    return WordsKept(sizes, exponents, _share(record["left"]))


def _share(text: str) -> Fraction:
    """A fraction that is not negative: as a word, a negative one is large, and its lemma says nothing."""
    share = Fraction(text)
    if share < 0:
        raise InvalidProof(f"{share} is below 0")
    return share


# --- comparisons


def certify_comparison(certificates: Certificates, pair: AlgorithmPair, rows: Sequence[Row]) -> Certified:
    """Write the certificate that the first algorithm's error is never larger."""
    first, second = pair.names
    units = [certificates.model(row.model) for row in rows]
    title = f"{first} on {rows[0].name}, K = {pair.k}, {pair.domain}: never less accurate than {second}"
    about = {
        "about": "comparison", "title": title, "one": first, "two": second, "k": pair.k,
        "domain": asdict(pair.domain), "units": units,
    }  # fmt: skip
    if no := of_a_file(first, second):
        return certificates.failed(title, no)
    chain = LemmaChain(certificates.lemma)
    if not proved_never_worse(chain, pair):
        return certificates.failed(title, chain.stopped)
    return certificates.keep({"statement": about}, list(chain.names))


def _check_comparison(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    names = about["one"], about["two"]
    first, second = (_algorithm(*both, about["k"]) for both in zip(names, about["units"], strict=True))
    pair = AlgorithmPair(names, (first, second), about["domain"])
    chain = LemmaChain(files.check)
    if not proved_never_worse(chain, pair):
        raise InvalidProof(chain.stopped)
    return chain


# --- flaws


def certify_flaw(
    certificates: Certificates, question: str, flaw: result_flaws.ResultFlaw, row: Row
) -> Certified:
    """Write the certificate that a flaw is absent; question: what the flaw is called."""
    title = f"{flaw.name} on {row.name}, K = {flaw.k}, {flaw.domain}: {flaw.absent.lower()}"
    about = {
        "about": "flaw", "title": title, "question": question, "algorithm": flaw.name, "k": flaw.k,
        "domain": asdict(flaw.domain), "unit": certificates.model(row.model),
    }  # fmt: skip
    if no := of_a_file(flaw.name):
        return certificates.failed(title, no)
    chain = LemmaChain(certificates.lemma)
    if not proved_absent(chain, flaw):
        return certificates.failed(title, chain.stopped)
    return certificates.keep({"statement": about}, list(chain.names))


def _check_flaw(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    algorithm = _algorithm(about["algorithm"], about["unit"], about["k"])
    flaw = FLAWS[about["question"]](about["algorithm"], algorithm, about["domain"])
    chain = LemmaChain(files.check)
    if not proved_absent(chain, flaw):
        raise InvalidProof(chain.stopped)
    return chain


# --- splits


def certify_split(certificates: Certificates, split: Split) -> Certified:
    """Write the certificate of what a split loses of each binary32 number."""
    name = name_of(split)
    title = f"{name}: the error is what the closed form says, for all 2^32 inputs"
    chain = LemmaChain(certificates.lemma)
    if not proved_by_lemmas(chain, split):
        return certificates.failed(title, chain.stopped)
    about = {"about": "split", "title": title, "split": name}
    return certificates.keep({"statement": about}, list(chain.names))


def _check_split(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    split = {name_of(split_named): split_named for split_named in SPLITS}[about["split"]]
    chain = LemmaChain(files.check)
    if not proved_by_lemmas(chain, split):
        raise InvalidProof(chain.stopped)
    return chain


# --- sums of integers


def certify_exact(certificates: Certificates, name: str, row: Row, integers: int, k: int) -> Certified:
    """Write the certificate that sums of ``k`` products of integers are exact.

    name: of the algorithm, or the emulation; "": the unit alone.
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
    if why := subject_named(chain, name, row).proved(integers, k):
        return certificates.failed(title, why)
    return certificates.keep({"statement": about}, list(chain.names))


def certify_slices(certificates: Certificates, row: Row, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of :func:`.exactness.table.record` with the certificate of each largest K that is proved."""
    slices = []
    for part in record["slices"]:
        record_of = dict(part)
        if part["k"]:
            certified = certify_exact(certificates, "", row, 1 << part["bits"], part["k"])
            record_of["certificate"] = certified.as_json()
        slices.append(record_of)
    return {**record, "slices": slices}


def _check_exact(about: Mapping[str, Any], files: LemmaFiles) -> LemmaChain:
    chain = LemmaChain(files.check)
    subject = subject_named(chain, _no_file(about["algorithm"]), row_of_model(about["unit"]))
    k, integers = about["k"], about["integers"]
    if not (0 < k <= subject.longest and integers > 0):
        raise InvalidProof("not asked about")
    if why := subject.proved(integers, k):
        raise InvalidProof(why)
    return chain


# --- reading


def _no_file(name: str) -> str:
    """The name of an algorithm: a file beside the checker is not a part of the certificate."""
    if no := of_a_file(name):
        raise InvalidProof(no)
    return name


def _algorithm(name: str, unit: Model, k: int) -> Algorithm:
    return algorithm_named(_no_file(name), row_of_model(unit), k)[0]


def _checked(check: Callable[[Mapping[str, Any], LemmaFiles], LemmaChain]) -> Check:
    def run(about: Mapping[str, Any], files: LemmaFiles) -> list[str]:
        try:
            return list(check(about, files).names)
        except (LookupError, StopIteration, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise InvalidProof(f"{type(error).__name__}: {error}") from None

    return run


_OF_ALGORITHM = {"algorithm": "text", "k": "number", "domain": "domain", "unit": "model"}
_NUMBERS = "binary32 words"
_WHERE = "K = {k}, where a, b and c have {domain}"
#: The kinds of statements whose argument is code.
THEOREMS = {
    "bound": Theorem(
        "the error of {algorithm} on model 1 is at most {limit} of |c| + Σ|a·b|; " + _WHERE, _NUMBERS,
        _OF_ALGORITHM | {"limit": "fraction"}, _checked(_check_bound), ("constants", "losses"),
    ),
    "comparison": Theorem(
        "the error of {one} on model 1 is never larger than that of {two} on model 2; " + _WHERE, _NUMBERS,
        {"one": "text", "two": "text", "k": "number", "domain": "domain", "units": "models"},
        _checked(_check_comparison),
    ),
    "emulation": Theorem(
        "the error of {algorithm} on model 1 is at most {limit} of |c| + Σ|a·b|, and at most "
        "{limit of largest} of |c| + K·max|a|·max|b|; " + _WHERE, "binary64 words",
        _OF_ALGORITHM | dict.fromkeys(("limit", "limit of largest"), "fraction"),
        _checked(check_emulation), ("losses",),
    ),
    "exact": Theorem(
        "model 1 with the algorithm '{algorithm}' ('': alone) sums {k} products of integers of magnitude "
        "{integers} at most exactly", "integers",
        {"algorithm": "text", "unit": "model", "integers": "number", "k": "number"}, _checked(_check_exact),
    ),
    "flaw": Theorem(
        "{algorithm} on model 1 does not have the flaw '{question}'; " + _WHERE, _NUMBERS,
        _OF_ALGORITHM | {"question": "text"}, _checked(_check_flaw),
    ),
    "kernel": Theorem(
        "model 1 with the reduction {reduction} sums {k} products of integers of magnitude {integers} at "
        "most exactly, and the result, read in {format}, is never -0; c is +0", "integers",
        {"unit": "model", "reduction": "text", "format": "text", "integers": "number", "k": "number"},
        _checked(check_kernel),
    ),
    "split": Theorem(
        "the error of {split} is what the closed form says, for all words", _NUMBERS, {"split": "text"},
        _checked(_check_split),
    ),
    "sums": Theorem(
        "model 1 sums integers exactly where |c| + Σ|a·b| is below 2^{bits}, for any K", "integers",
        {"unit": "model", "bits": "number"}, _checked(check_sums),
    ),
}  # fmt: skip
