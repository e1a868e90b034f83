"""Random models of tiny formats, mutations of them, domains, and every input of a domain.

Models and domains are the package's; what is drawn needs no more of it than constructors, which refuse
what contradicts itself. Which inputs lie in a domain is for :mod:`.exact` to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from random import Random
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, Specials, float_format
from tcsmt.matrix_units.arithmetic.nans import NanCase, NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import DotThenAdd, FusedDotAdd, GroupedDotAdd, IeeeDotAdd, Model
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.oracles import exact

Columns = dict[str, exact.Array]

#: Rows that are computed at once.
CHUNK = 1 << 15


# --- formats -------------------------------------------------------------------------------------


def described(**parts: Any) -> Format:
    """A format whose name says all that it is."""
    specials: Specials = parts.setdefault("specials", Specials.IEEE)
    high, low = parts.get("ignored_high_bits", 0), parts.get("ignored_low_bits", 0)
    name = f"{'s' if parts.get('signed', True) else 'u'}{parts['exponent_bits']}m{parts['fraction_bits']}"
    name += f"b{parts['bias']}{specials.name.lower().replace('_', '')}" + (
        f"h{high}l{low}" if high or low else ""
    )
    return Format(name=name, **parts)


def parts(fmt: Format) -> dict[str, Any]:
    """What :func:`described` takes."""
    return {name: part for name, part in vars(fmt).items() if name != "name"}


def some_format(rng: Random, *, infinities: bool = False, wide: bool = False, signed: bool = True) -> Format:
    """2 to 4 bits of exponent and of significand (``wide``: up to 5 and 7), any special values."""
    exponent_bits = rng.choice((2, 2, 3, 3, 4) if not wide else (2, 3, 3, 4, 5))
    fraction_bits = rng.choice((1, 1, 2, 2, 3) if not wide else (1, 2, 3, 4, 6))
    bias = (1 << (exponent_bits - 1)) - 1 + rng.choice((0, 0, 0, 0, -3, -1, 1, 4))
    specials = Specials.IEEE if infinities else rng.choice(list(Specials))
    if not infinities and not signed:
        specials = rng.choice((Specials.IEEE, Specials.NAN_ONLY, Specials.NONE))
    # (of a format whose NaN is one word, ignored bits have no meaning)
    ignored = rng.random() < 0.08 and specials is not Specials.NEGATIVE_ZERO_NAN
    unused = ignored and not infinities and rng.random() < 0.3  # above the exponent: of inputs only
    return described(
        exponent_bits=exponent_bits, fraction_bits=fraction_bits, bias=bias, specials=specials, signed=signed,
        ignored_low_bits=int(ignored and rng.random() < 0.6),
        ignored_high_bits=int(unused),
    )  # fmt: skip


def _finite_only(rng: Random) -> Format:
    """A format all of whose words are finite numbers, as FP4's."""
    shape = rng.choice(((2, 1, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 3)))
    exponent_bits, fraction_bits, bias = shape
    return described(
        exponent_bits=exponent_bits, fraction_bits=fraction_bits, bias=bias, specials=Specials.NONE
    )


def all_finite(fmt: Format) -> Format:
    """The format without its special values."""
    return described(**parts(fmt) | {"specials": Specials.NONE})


def some_scale(rng: Random) -> Format:
    """A format of block scales: powers of two, or with a fraction; signed or not."""
    signed = rng.random() < 0.15
    specials = rng.choice((Specials.NAN_ONLY, Specials.NONE) + (Specials.IEEE,) * signed)
    return described(
        exponent_bits=rng.choice((1, 2, 2)), fraction_bits=rng.choice((0, 0, 1)), bias=rng.choice((0, 1, 2)),
        specials=specials, signed=signed, ignored_high_bits=int(rng.random() < 0.1),
    )  # fmt: skip


def _narrow(rng: Random) -> dict[str, Format]:
    """Formats of the fewest words, all with a 1, and results that overflow and lose bits."""
    shapes = ((2, 1, 1, True), (2, 1, 1, False), (2, 1, 1, True), (2, 2, 1, True), (3, 1, 3, True))

    def one(infinities: bool = False) -> Format:
        exponent_bits, fraction_bits, bias, signed = rng.choice(shapes)
        signed, specials = signed or infinities, rng.choice(list(Specials))
        if infinities:
            specials = Specials.IEEE
        elif not signed:
            specials = rng.choice((Specials.NAN_ONLY, Specials.NONE))
        return described(
            exponent_bits=exponent_bits,
            fraction_bits=fraction_bits,
            bias=bias,
            specials=specials,
            signed=signed,
        )

    formats = {"a_format": one(), "b_format": one(), "d_format": one(infinities=True)}
    return formats | {"c_format": formats["d_format"] if rng.random() < 0.5 else one()}


def _formats(rng: Random) -> dict[str, Format]:
    a = some_format(rng, signed=rng.random() < 0.8)
    b = a if rng.random() < 0.5 else some_format(rng, signed=rng.random() < 0.8)
    d = some_format(rng, infinities=True, wide=rng.random() < 0.4)
    if rng.random() < 0.1:
        d = FORMATS[rng.choice(("f16", "f32"))]
    c = d if d.width <= 8 and rng.random() < 0.5 else some_format(rng, signed=rng.random() < 0.9)
    return {"a_format": a, "b_format": b, "c_format": c, "d_format": d}


# --- models ----------------------------------------------------------------------------------------


#: Draws a value of a parameter for a model that has its formats and lengths.
Draw = Callable[[Random, Mapping[str, Any]], Any]


def _divisor(rng: Random, whole: int) -> int:
    return rng.choice([n for n in range(1, whole + 1) if whole % n == 0])


def _rounding(rng: Random, given: Mapping[str, Any]) -> Any:
    return ROUNDINGS[rng.choice(("RNE", "RTZ", *ROUNDINGS))]


def _one_of(*values: Any) -> Draw:
    return lambda rng, given: rng.choice(values)


def _zero_exponent(rng: Random, given: Mapping[str, Any]) -> int | None:
    a, b, c = (given[f"{side}_format"] for side in "abc")
    low, high = min(a.e_min + b.e_min, c.e_min) - 4, max(a.e_max + b.e_max, c.e_max) + 4
    far = rng.choice((-4096, 4096, rng.randint(-4096, 4096), rng.randint(-200, 200)))
    return rng.choice((None, rng.randint(low, high), rng.randint(low, low + 6), rng.randint(low, high), far))


def _bits(rng: Random, given: Mapping[str, Any]) -> int:
    return rng.choice((rng.randint(1, 6), rng.randint(1, 12), rng.randint(1, 40)))


def _kept(rng: Random, given: Mapping[str, Any]) -> int | None:
    return rng.choice((None, None, rng.randint(1, given["d_format"].fraction_bits)))


def _nan(rng: Random, given: Mapping[str, Any]) -> int | None:
    d = given["d_format"]
    if rng.random() < 0.6 or d.width > 16:
        return None
    return rng.choice([word for word in range(1 << d.width) if d.is_nan(word)])


def _nan_rule(rng: Random, given: Mapping[str, Any]) -> int | NanRule | None:
    """A word or none, or up to four cases in any order."""
    d = given["d_format"]
    if rng.random() < 0.7 or d.width > 16:
        return _nan(rng, given)
    words = [word for word in range(1 << d.width) if d.is_nan(word)]
    cases = []
    for subject in rng.sample(["a", "b", "c", "factors", "products"], rng.randint(1, 4)):
        word = rng.choice(words) if subject == "products" or rng.random() < 0.5 else None
        cases.append(NanCase(subject, word, signalling=subject != "products" and rng.random() < 0.3))
    return NanRule(tuple(cases), rng.choice(words))


def _cut_format(rng: Random, given: Mapping[str, Any]) -> Format | None:
    """A format with more fraction bits than the result's, or none."""
    d = given["d_format"]
    if rng.random() < 0.8 or d.ignored_low_bits or d.width > 16:
        return None
    return described(**parts(d) | {"fraction_bits": d.fraction_bits + rng.randint(1, 3)})


def _operand_format(rng: Random, given: Mapping[str, Any]) -> Format | None:
    """A wider format for the factors, or none; drawn apart, so that the other draws stay what they were."""
    own = Random(f"{given['a_format'].name} {given['b_format'].name} {given['fraction_bits']} {given['k']}")
    a, b = given["a_format"], given["b_format"]
    by_payload = isinstance(given["nan"], NanRule) and any(case.word is None for case in given["nan"].cases)
    if own.random() < 0.8 or given["flush_inputs"] or by_payload:
        return None
    least = min(fmt.e_min - fmt.fraction_bits for fmt in (a, b))
    most, bits = max(a.e_max, b.e_max), max(a.fraction_bits, b.fraction_bits) + own.randint(0, 2)
    for exponent_bits in range(2, 9):
        bias = (1 << (exponent_bits - 1)) - 1
        if 1 - bias - bits <= least and most <= bias:
            return described(exponent_bits=exponent_bits, fraction_bits=bits, bias=bias)
    return None


def _apart(name: str, draw: Draw) -> Draw:
    """A draw that leaves the generator as it was, so that the other draws stay what they were."""
    return lambda rng, given: draw(Random(f"{name} {rng.getstate()[1][-3:]}"), given)


_FUSED: dict[str, Draw] = {
    "n_fma": lambda rng, given: _divisor(rng, given["k"]),
    "interleave": lambda rng, given: rng.choice((0, 0, _divisor(rng, given["n_fma"]))),
    "order": lambda rng, given: rng.choice(
        (None, None, None, tuple(rng.sample(range(given["k"]), given["k"])))
    ),
    "fraction_bits": _bits,
    "products": _one_of("unnormalised", "unnormalised", "normalised"),
    "alignment": _rounding,
    "alignment_sticky": _one_of(False, False, True),
    "alignment_complement": _one_of(False, False, False, True),
    "carry_bits": _one_of(None, None, 0, 1, 2, 3),
    "normalisation": _one_of("once", "once", "once", "every"),
    "c_position": _one_of("aligned", "aligned", "summed", "last"),
    "c_rounding": _rounding,
    "scale_block": lambda rng, given: _divisor(rng, given["k"]),
    "group": lambda rng, given: _divisor(rng, given["k"]),
    "group_fraction_bits": lambda rng, given: rng.choice((None, None, None, _bits(rng, given))),
    "zero_exponent": _zero_exponent,
    "zero_c": _one_of("zero_exponent", "zero_exponent", "fields"),
    "c_exponent_offset": _one_of(0, 0, 0, -1, -2, 1),
    "c_dropped_above": lambda rng, given: rng.choice((None, None, None, rng.randint(-12, 6))),
    "rounding": _rounding,
    "round_fraction_bits": _kept,
    "rounded_format": _cut_format,
    "overflow": _one_of("infinity", "saturate", "ieee"),
    "flush_inputs": _one_of(False, False, True),
    "flush_c": _one_of(False, False, False, True),
    "flush_outputs": _one_of(False, False, True),
    "tininess": _one_of("result", "before", "after"),
    "subnormal_results": _one_of("rounded", "rounded", "rounded", "misplaced"),
    "negative_zero": _one_of(False, True),
    "nan": _nan_rule,
    "operand_format": _operand_format,
    "c_enters": _apart("c", _one_of("always", "leading", "leading", "leading_by_group", "leading_by_group")),
    "inner_group": _apart(
        "inner", lambda rng, given: rng.choice((None, _divisor(rng, given.get("group", 1))))
    ),
    "group_dropped_below": _apart("below", lambda rng, given: rng.choice((None, rng.randint(-9, 8)))),
}


def _product_limit(rng: Random, given: Mapping[str, Any]) -> int | None:
    a, b = given["a_format"], given["b_format"]
    least = max(a.e_min + b.e_max, a.e_max + b.e_min) + 1
    return rng.choice((None, rng.randint(least, max(least, a.e_max + b.e_max + 2))))


_THEN: dict[str, Draw] = {
    "n_fma": _FUSED["n_fma"],
    "lane_groups": lambda rng, given: _divisor(rng, given["n_fma"]),
    "fraction_bits": _bits,
    "alignment": _rounding,
    "product_limit": _product_limit,
    "dot_fraction_bits": lambda rng, given: given["fraction_bits"] + rng.choice((0, 1, 2, 5, 20)),
    "realignment": _rounding,
    "c_reach": lambda rng, given: rng.choice((None, rng.randint(1, 6), rng.randint(1, 30))),
    "normalised_fraction_bits": lambda rng, given: rng.choice((None, rng.randint(1, 6), rng.randint(1, 30))),
    "rounding": _rounding,
}


def _near_products(rng: Random, given: Mapping[str, Any]) -> int:
    a, b = given["a_format"], given["b_format"]
    return rng.randint(a.e_min + b.e_min - 4, a.e_max + b.e_max + 2)


def _first_bit(side: str) -> Draw:
    return lambda rng, given: rng.choice((0, 0, rng.randint(0, given[f"{side}_format"].fraction_bits)))


def _largest_result(rng: Random, given: Mapping[str, Any]) -> int | None:
    d = given["d_format"]
    stored = rng.randint(1, d.largest_finite_word >> d.ignored_low_bits)
    return rng.choice((None, stored << d.ignored_low_bits))


_GROUPED: dict[str, Draw] = {
    "group_lanes": lambda rng, given: _divisor(rng, given["k"]),
    "a_first_bit": _first_bit("a"),
    "a_bits": lambda rng, given: rng.randint(1, 5),
    "b_first_bit": _first_bit("b"),
    "b_bits": lambda rng, given: rng.randint(1, 5),
    "fraction_bits": _bits,
    "alignment": _rounding,
    "zero_exponent": _near_products,
    "least_exponent": lambda rng, given: rng.choice((None, _near_products(rng, given))),
    "sum_fraction_bits": _bits,
    "group_alignment": _rounding,
    "c_alignment": _rounding,
    "kept_fraction_bits": lambda rng, given: rng.choice((None, rng.randint(1, given["sum_fraction_bits"]))),
    "minus_one_shift": lambda rng, given: rng.choice((None, rng.randint(1, 9))),
    "rounding": _rounding,
    "largest_result": _largest_result,
    "flush_inputs": _one_of(False, True),
    "flush_outputs": _one_of(False, True),
    "tininess": _one_of("after", "before", "result"),
}

_IEEE: dict[str, Draw] = {
    "method": _one_of("sequential", "fma", "pairwise", "exact"),
    "n_fma": lambda rng, given: rng.choice((None, _divisor(rng, given["k"]))),
    "order": lambda rng, given: rng.choice((None, None, tuple(rng.sample(range(given["k"]), given["k"])))),
    "chains": lambda rng, given: rng.choice((1, 1, 1, _divisor(rng, given["k"]))),
    "c_first": _one_of(True, False),
    "product_exponent": lambda rng, given: rng.choice((0, 0, 0, rng.randint(-6, 6))),
    "product_format": lambda rng, given: rng.choice(
        (None, given["sum_format"], some_format(rng, infinities=True, wide=True))
    ),
    "product_rounding": _rounding,
    "rounding": _rounding,
    "d_rounding": _rounding,
    "overflow": _one_of("ieee", "ieee", "infinity", "saturate"),
    "flush_inputs": _one_of(False, False, True),
    "flush_c": _one_of(False, False, False, True),
    "flush_outputs": _one_of(False, False, True),
    "flush_to_positive": _one_of(False, False, True),
    "tininess": _one_of("result", "before", "after"),
    "negative_zero": _one_of(True, True, False),
    "nan": _nan_rule,
}

#: How each parameter of a kind is drawn.
PARAMETERS: dict[type[Model], dict[str, Draw]] = {
    FusedDotAdd: _FUSED, DotThenAdd: _THEN, GroupedDotAdd: _GROUPED, IeeeDotAdd: _IEEE,
}  # fmt: skip
#: The kinds of models as often as they are drawn.
_KINDS = (FusedDotAdd, FusedDotAdd, FusedDotAdd, DotThenAdd, GroupedDotAdd, IeeeDotAdd)


def some_model(rng: Random, kind: type[Model] | None = None, narrow: bool = False) -> Model:
    """A model of any kind, or of this one; every parameter is drawn. ``narrow``: with the fewest inputs."""
    kind = kind or rng.choice(_KINDS)
    while True:
        found = _try_model(rng, kind, narrow)
        if found is not None:
            return found


def _try_model(rng: Random, kind: type[Model], narrow: bool) -> Model | None:
    k = rng.choice((1, 1, 2) if narrow else (1, 2, 2, 2, 3, 4))
    given: dict[str, Any] = {**(_narrow(rng) if narrow else _formats(rng)), "k": k}
    if kind is GroupedDotAdd:
        given |= {f"{side}_format": all_finite(given[f"{side}_format"]) for side in "abcd"}
    if kind is IeeeDotAdd:
        if rng.random() < 0.12:
            return _flushing(rng, given)
        given["sum_format"] = rng.choice((given["d_format"], some_format(rng, infinities=True, wide=True)))
        if rng.random() < 0.2:  # operations on words, NaNs included
            given["c_format"] = given["sum_format"] = given["d_format"]
    scaled = kind is FusedDotAdd and rng.random() < 0.25
    for name, draw in PARAMETERS[kind].items():
        if name == "scale_block" and not scaled:
            continue
        given[name] = draw(rng, given)
    if scaled and rng.random() < 0.4:
        given |= {"a_format": _finite_only(rng), "b_format": _finite_only(rng)}
    if scaled:
        given |= {"scale_format": some_scale(rng), "interleave": 0, "products": "unnormalised"}
        given |= {"normalisation": "once", "c_position": "aligned"}
        if {given["a_format"].specials, given["b_format"].specials} != {Specials.NONE}:
            given["group"] = 1  # sums of groups are of FP4 numbers: nothing says what a NaN among them does
        if given["scale_format"].has_infinity:
            given["group"] = 1  # nor what an infinite scale makes of a sum that cancels
        if given["group"] > 1:
            given["carry_bits"] = None  # nor how many bits the register for them has
    try:
        return consistent(kind, given)
    except TcsmtError:
        return None


def consistent(kind: type[Model], given: dict[str, Any]) -> Model:
    """A model of these parameters, where they contradict each other with others."""
    given = dict(given)
    if given.get("interleave") and given["n_fma"] == given["k"]:
        given["interleave"] = 0
    if kind is FusedDotAdd:
        _settle(given)
    if given.get("alignment_sticky"):
        given["alignment"] = ROUNDINGS["RTZ"]
    if given.get("normalisation") == "every":
        given |= {"c_position": "aligned", "alignment_sticky": False, "carry_bits": None}
    if kind is IeeeDotAdd:
        if given["method"] in ("sequential", "fma"):
            given["n_fma"] = None
        if given["method"] in ("fma", "exact"):
            given["product_format"] = None
        if given["method"] != "exact":
            given["negative_zero"] = True
        _settle_operations(given)
    return kind.of(**given)


def _settle(given: dict[str, Any]) -> None:
    """Parameters of a fused sum that contradict others, without effect."""
    scaled = given.get("scale_format") is not None
    given.setdefault("group", 1)
    if given["interleave"] or scaled:
        given["order"] = None
    if given["normalisation"] == "every" or given["c_position"] != "aligned":
        given |= {"alignment_complement": False, "group_fraction_bits": None, "zero_c": "zero_exponent"}
        given |= {"c_exponent_offset": 0, "c_dropped_above": None}
    _settle_groups(given, scaled and given["group"] > 1)
    if scaled:
        given["group_fraction_bits"] = None
    elif given["group_fraction_bits"] is None or given["n_fma"] % given["group"]:
        given |= {"group": 1, "group_fraction_bits": None}
    if scaled:
        given["alignment_complement"] = False
    if given["alignment_complement"]:
        given |= {"group": 1, "group_fraction_bits": None, "c_dropped_above": None}
        given |= {"alignment": ROUNDINGS["RTZ"], "alignment_sticky": False}
    if given["alignment_complement"] or given["group_fraction_bits"] or given["c_exponent_offset"]:
        given["carry_bits"] = None  # nothing says how many bits the register has
    if given["round_fraction_bits"] is not None or given["c_position"] == "last":
        given["rounded_format"] = None
    if given["flush_outputs"] or given["rounded_format"] or given["d_format"].ignored_low_bits:
        given["subnormal_results"] = "rounded"
    if given["normalisation"] == "every" or given["carry_bits"] is not None:
        given["subnormal_results"] = "rounded"  # the grid of such sums is not said
    if not given["flush_outputs"] or given["c_position"] == "last":
        given["tininess"] = "result"
    if isinstance(given["nan"], NanRule) and given["nan"].cases and (scaled or given["c_position"] == "last"):
        given["nan"] = given["nan"].otherwise


def _settle_groups(given: dict[str, Any], grouped: bool) -> None:
    """What only exact sums of scaled groups have, and what they do not have then."""
    for name, value in (("c_enters", "always"), ("inner_group", None), ("group_dropped_below", None)):
        given[name] = given.get(name, value) if grouped else value
    inner = given["inner_group"]
    if given["c_enters"] != "leading" or inner == given["group"]:
        given["inner_group"] = None
    if given["inner_group"] is not None:
        given["group_dropped_below"] = None
    if given["c_enters"] != "always":
        given |= {"alignment_sticky": False, "carry_bits": None, "c_exponent_offset": 0}
        given["c_dropped_above"] = None


def _settle_operations(given: dict[str, Any]) -> None:
    """Parameters of IEEE operations that contradict others, without effect."""
    if given["method"] != "fma":
        given["chains"] = 1
    if not given["flush_outputs"]:
        given["tininess"] = "result"
    if not (given["flush_inputs"] or given["flush_c"]):
        given["flush_to_positive"] = False
    if isinstance(given["nan"], NanRule) and given["nan"].cases:
        one = given["c_format"] == given["sum_format"] == given["d_format"]
        if given["method"] != "fma" or not one:
            given["nan"] = given["nan"].otherwise


def _flushing(rng: Random, given: dict[str, Any]) -> Model | None:
    """Operations on binary32 words, with products about its smallest number."""
    f32 = FORMATS["f32"]
    a = given["a_format"]
    a = described(**parts(a) | {"bias": a.bias + rng.choice((0, 62, 64, -60))})
    given |= {"a_format": a, "b_format": a, "c_format": f32, "d_format": f32, "sum_format": f32}
    given |= {"method": "pairwise", "product_format": f32}
    flush = rng.random() < 0.7
    given |= {"flush_inputs": flush, "flush_outputs": flush, "flush_to_positive": flush}
    given["n_fma"] = rng.choice((None, _divisor(rng, given["k"])))
    try:
        return IeeeDotAdd.of(**given)
    except TcsmtError:
        return None


def mutated(rng: Random, model: Model) -> Model:
    """The model with one or two parameters drawn again, near their values or not; never the same."""
    while True:
        given = {f.name: getattr(model.parameters, f.name) for f in fields(model.table())}
        changed: dict[str, Any] = {}
        for _ in range(rng.choice((1, 1, 2))):
            name = rng.choice(list(PARAMETERS[type(model)]))
            value = given[name]
            near = isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.6
            changed[name] = value + rng.choice((-1, 1)) if near else PARAMETERS[type(model)][name](rng, given)
        if changed.get("fraction_bits", 0) > given.get("dot_fraction_bits", 1 << 20):
            changed["dot_fraction_bits"] = changed["fraction_bits"]
        if changed.get("alignment_sticky"):
            changed["alignment"] = ROUNDINGS["RTZ"]
        if isinstance(model, FusedDotAdd):
            both = given | changed
            unsaid = any(both[name] != value for name, value in exact.SAID.items())
            if unsaid or any(name in changed for name in exact.SAID):
                changed["carry_bits"] = None
        if given.get("scale_format") is not None and changed.get("group", given.get("group", 1)) > 1:
            if {given["a_format"].specials, given["b_format"].specials} != {Specials.NONE}:
                continue
            changed["carry_bits"] = None
        try:
            other = model.replace(**changed)
        except TcsmtError:
            continue
        if other != model:
            return other


def zeros_apart(rng: Random) -> tuple[FusedDotAdd, FusedDotAdd]:
    """Two units that count zeros with different exponents, on grids so fine that it often cannot be seen."""
    while True:
        one = some_model(rng, FusedDotAdd)
        assert isinstance(one, FusedDotAdd)
        other = _zero_exponent(rng, vars(one.parameters))
        p = one.parameters
        if p.c_position != "last" and p.normalisation == "once" and other != p.zero_exponent:
            one = one.replace(fraction_bits=rng.randint(8, 40), carry_bits=None)
            return one, one.replace(zero_exponent=other)


def some_domain(rng: Random, model: Model) -> Domain:
    """Which inputs count; exponents about those that the formats have."""
    exponents = None
    if rng.random() < 0.35:
        a, b = float_format(model.a_format), float_format(model.b_format)
        low, high = min(a.e_min, b.e_min) - 1, max(a.e_max, b.e_max) + 1
        ends = sorted((rng.randint(low, high), rng.randint(low, high)))
        exponents = (ends[0], ends[1])
    return Domain(
        finite=rng.random() < 0.6, positive=rng.random() < 0.25, subnormals=rng.random() < 0.7,
        c_zero=rng.random() < 0.2, exponents=exponents,
    )  # fmt: skip


# --- every input of a domain ------------------------------------------------------------------------


@dataclass(frozen=True)
class Everything:
    """All inputs of a model in a domain: the words that each input can have, by name."""

    words: dict[str, exact.Array]

    @classmethod
    def of(
        cls, formats: Mapping[str, Format], domain: Domain, fixed: Mapping[str, int] | None = None
    ) -> Everything:
        """The inputs of a domain; ``fixed``: inputs with one word only."""
        found = {}
        for name, fmt in formats.items():
            given = (fixed or {}).get(name)
            if given is None and domain.c_zero and name == "c":
                given = 0
            whole = (
                np.array([given]) if given is not None else np.arange(1 << min(fmt.width, 20), dtype=np.int64)
            )
            assert given is not None or fmt.width <= 20, f"too many words of {fmt.name}"
            found[name] = whole[exact.inside(domain, fmt, name, whole)]
        return cls(found)

    @property
    def count(self) -> int:
        """How many inputs there are."""
        return math.prod(len(words) for words in self.words.values())

    def rows(self, start: int, stop: int) -> Columns:
        """The inputs of these numbers."""
        number = np.arange(start, stop, dtype=np.int64)
        found = {}
        for name, words in self.words.items():
            number, digit = np.divmod(number, max(1, len(words)))
            found[name] = words[digit]
        return found

    def some(self, rng: Random, count: int) -> Columns:
        """So many of the inputs, at random."""
        dice = np.random.default_rng(rng.getrandbits(64))
        return {name: words[dice.integers(0, len(words), count)] for name, words in self.words.items()}

    def __iter__(self) -> Iterator[Columns]:
        for start in range(0, self.count, CHUNK):
            yield self.rows(start, min(start + CHUNK, self.count))

    def __contains__(self, values: Mapping[str, int]) -> bool:
        return all((self.words[name] == word).any() for name, word in values.items())


def countable(model: Model, domain: Domain) -> bool:
    """Whether every input of the domain can be listed at all."""
    return all(
        fmt.width <= 20 or (name == "c" and domain.c_zero) for name, fmt in model.input_formats.items()
    )
