"""Tiny units that sum products of integers, and how many of all their inputs they get wrong, by oracles."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.largest import Exactness, exact
from tcsmt.analysis.exactness.search import UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, IeeeDotAdd, Model
from tests.oracles import exact as oracle
from tests.oracles import integers, tiny
from tests.support.proofs import shared_proof

__all__ = ["NARROW", "RESULTS", "asked", "chain", "numbers", "some_unit", "value_of", "wrong"]

#: Zero, 1/8 and more, 1, 1.5, 2, 3, 4 and 6.
NARROW = tiny.described(exponent_bits=3, fraction_bits=1, bias=4)
RESULTS = tuple(tiny.described(exponent_bits=4, fraction_bits=f, bias=7) for f in (2, 3, 4))


def chain() -> StepwiseProof:
    return shared_proof()


def asked(model: Model, **about: Any) -> Exactness:
    proof = chain()
    return exact(UnitSubject(ExactUnit(proof, model)), proof, **about)


def some_unit(rng: Random) -> Model:
    d = rng.choice(RESULTS)
    k = rng.choice((1, 2))
    given: dict[str, Any] = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": k}
    rounding = rng.choice(("RTZ", "RNE", "RTN", "RTO"))
    kind = rng.choice(("fused", "fused", "dot", "ieee"))
    if kind == "ieee":
        method = rng.choice(("sequential", "fma", "pairwise", "exact"))
        flush = rng.random() < 0.3
        given |= {"rounding": ROUNDINGS[rounding], "flush_outputs": flush}
        return IeeeDotAdd.of(**given, method=method, sum_format=d)
    given |= {"n_fma": rng.choice([n for n in (1, 2) if k % n == 0]), "rounding": rounding}
    bits = rng.choice((2, 3, 3, 4, 5))
    if kind == "dot":
        reach = rng.choice((None, None, bits + 2))
        more = rng.choice((0, 2))
        return DotThenAdd(**given, fraction_bits=bits, dot_fraction_bits=bits + more, c_reach=reach)
    given |= {
        "fraction_bits": bits,
        "alignment": rng.choice(("RTZ", "RTZ", "RNE", "RTN")),
        "products": rng.choice(("unnormalised", "normalised")),
        "zero_exponent": rng.choice((None, None, -20, 1)),
        "c_position": rng.choice(("aligned", "aligned", "aligned", "summed", "last")),
        "carry_bits": rng.choice((None, None, None, None, None, None, 1)),
        "round_fraction_bits": rng.choice((None, None, 2)),
    }
    return FusedDotAdd.of(**given)


def numbers(fmt: Any, limit: int) -> list[tuple[int, int]]:
    """The integers of a format up to a limit, each with its word, by the oracle."""
    if isinstance(fmt, IntegerFormat):
        return [
            (integers.count(fmt, w), w) for w in integers.words(fmt) if abs(integers.count(fmt, w)) <= limit
        ]
    words = np.arange(1 << fmt.width)
    x = oracle.Format.of(fmt).decode(words)
    values = np.where(x.sign, -1, 1) * x.mag * 2.0**x.lsb
    whole = (values == np.rint(values)) & (np.abs(values) <= limit) & ~x.inf & ~x.nan
    return [(int(values[w]), int(w)) for w in words[whole]]


def wrong(model: Model, limit: int, k: int) -> int:
    """On how many inputs of k products the result is not the sum of products: every input is tried."""
    pairs = {(x * y, min(v, w)): (v, w) for (x, v), (y, w) in itertools.product(
        numbers(model.a_format, limit), numbers(model.b_format, limit))}  # fmt: skip
    count = len(pairs)
    places = np.indices((count,) * k).reshape(k, -1)
    products, words = np.array([p for p, _ in pairs]), np.array(list(pairs.values()))
    total = products[places].sum(axis=0)
    c = np.zeros(places.shape[1], np.int64)
    for first in range(0, k, model.k):
        columns: dict[str, Any] = {}
        for lane in range(model.k):
            for side, name in enumerate("ab"):
                inside = first + lane < k
                columns[f"{name}{lane}"] = words[places[first + lane], side] if inside else np.zeros_like(c)
        columns = dict(sorted(columns.items())) | {"c": c}
        c = oracle.results(model, columns).astype(np.int64)
    return int((value_of(model.d_format, c) != total).sum())


def value_of(fmt: Any, words: Any) -> Any:
    if isinstance(fmt, IntegerFormat):
        return np.array([integers.count(fmt, int(w)) for w in words])
    x = oracle.Format.of(fmt).decode(words)
    return np.where(x.inf | x.nan, np.nan, np.where(x.sign, -1, 1) * x.mag * 2.0**x.lsb)
