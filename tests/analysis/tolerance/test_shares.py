"""The reading on shares: no error of a program is larger, and what no rule is about is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance import domain_search
from tcsmt.analysis.tolerance.domain_search import ErrorSubject, largest_found
from tcsmt.analysis.tolerance.relative import program_bound
from tcsmt.analysis.tolerance.shares import ChainShares, Pieces, Share, ShareRules
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd, Model
from tcsmt.programs.steps.digest import digest
from tcsmt.programs.steps.on_arrays import ArrayRules, of_rows
from tcsmt.programs.steps.program import ProductRun, read
from tcsmt.programs.written.grammar import program_of
from tcsmt.programs.written.programs import WrittenProgram
from tcsmt.prove.statements.domain import Domain
from tests.support.proofs import shared_proof

F16, F32 = FORMATS["f16"], FORMATS["f32"]
RNE = ROUNDINGS["RNE"]
#: Products that are rounded to binary16, one at a time, so that compensated sums of a few bits are attacked.
HALF = IeeeDotAdd.of(
    a_format=F16, b_format=F16, c_format=F16, d_format=F16, sum_format=F16, k=1, method="fma"
)
#: Sums of products of binary16 in binary32.
WIDE = IeeeDotAdd.of(
    a_format=F16, b_format=F16, c_format=F32, d_format=F32, sum_format=F32, k=1, method="fma"
)
UNITS = {"HALF": HALF, "WIDE": WIDE}


def written(text: str, k: int, operands: str = "f16", c: str = "f32") -> WrittenProgram:
    formats = {name: format_named(fmt) for name, fmt in (("A", operands), ("B", operands), ("c", c))}

    def unit(name: str) -> Model:
        return UNITS.get(name) or row_named(name).model

    steps = program_of(text, k, formats, unit)
    return WrittenProgram(
        a_format=formats["A"], b_format=formats["B"], c_format=formats["c"], d_format=steps.result.format,
        k=k, identity=digest(steps), steps=steps, nan=QUIET,
    )  # fmt: skip


def bound_of(model: WrittenProgram, domain: Domain) -> Fraction:
    return program_bound(shared_proof(), model, domain)


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search ends after so many rounds, whatever the clock says."""
    monkeypatch.setattr(domain_search, "time", SimpleNamespace(monotonic=count().__next__))


SUMMED = """
t, e = +0:f16, +0:f16
for P in blocks(K, 1):
    t, e = KIND(t, e, chain(HALF, A·B over P, +0), f16)
t, e = KIND(t, e, c, f16)
d = END
"""
PROGRAMS = {
    "kahan": SUMMED.replace("KIND", "kahan").replace("END", "t"),
    "fast-two-sum": SUMMED.replace("KIND", "fast-two-sum").replace("END", "add(e, t, f16)"),
    "two-sum": SUMMED.replace("KIND", "two-sum").replace("END", "add(t, e, f16)"),
    "double-word": SUMMED.replace("KIND", "double-word").replace("END", "t"),
    "kahan, error left out of two": SUMMED.replace("KIND", "kahan").replace("END", "add(t, e, f16)"),
    "chained from a sum": "s = chain(HALF, A·B over K[:3], c)\nd = chain(HALF, A·B over K[3:], s)",
    "scaled": "s = chain(HALF, A·B over K)\nd = add(s, multiply(s, -0.5:f16, f16), f16, shift=0)",
    "tail": "d = chain(HALF, A·B over K[:4], c)",
    "twice": "s = chain(HALF, A·B over K, c)\nd = chain(HALF, A·B over K[:1], s)",
    "a total twice": SUMMED.replace("KIND", "kahan").replace("END", "multiply(add(t, t, f16), 0.5:f16, f16)"),
    "an error that is shifted": SUMMED.replace("KIND", "kahan").replace("END", "add(e, t, f16, shift=9)"),
    "one product many times": "s = chain(HALF, A·B over K[0 0 0 0 0 1 2 3 4 5], c)\n"
    "d = add(multiply(chain(HALF, A·B over K[0]), -4:f16, f16), s, f16)",
    "converted": "d = convert(convert(chain(HALF, A·B over K, c), f32), e5m2)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("rounds")
def test_no_error_that_is_found_is_larger(name: str) -> None:
    """In binary16, where rounding errors are large: a search on inputs, each of them in fractions."""
    model, domain = written(PROGRAMS[name], 6, c="f16"), Domain(exponents=(0, 3))
    bound = bound_of(model, domain)
    found = largest_found(ErrorSubject.of_program(name, model), 6, domain, 20)
    assert found is not None and found.relative is not None
    assert found.relative <= bound, f"{float(found.relative)} of {float(bound)}"
    assert found.relative > bound / 4


SPLIT = """
A0, A1 = split(A, bf16, 2, scale=8)
B0, B1 = split(B, bf16, 2, scale=8)
t = chain(U, A0·B0 over K, c)
u = chain(U, A1·B0, A0·B1 over K)
d = add(u, t, f32, shift=8)
"""
BF16 = "ampere/mma.m16n8k8.f32.bf16.bf16.f32"


@pytest.mark.slow
@pytest.mark.usefixtures("rounds")
def test_words_of_splits_and_what_they_leave_are_counted() -> None:
    model, domain = written(SPLIT.replace("U", BF16), 8, "f32"), Domain(exponents=(0, 2), bits=(16, 16))
    bound = bound_of(model, domain)
    found = largest_found(ErrorSubject.of_program("split", model), 8, domain, 20)
    assert found is not None and found.relative is not None and bound / 60 < found.relative <= bound
    # without the corrections, what is left out is as large as the words that are dropped
    short = written("\n".join(SPLIT.replace("U", BF16).splitlines()[:4]).replace("t =", "d ="), 8, "f32")
    coarse = bound_of(short, domain)
    assert coarse > Fraction(1, 2**8) > 100 * bound


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s = chain(WIDE, A·B over K)\nd = multiply(s, s, f32)", "a product of two sums"),
        ("s = chain(WIDE, A·B over K)\nd = add(s, 1.5:f32, f32)", "the constant 1.5 is added"),
        ("d = add(c, c, f32)", "there are no products"),
        ("d = add(chain(WIDE, A·B over K), multiply(2:f32, 3:f32, f32), f32)", "has the constant 6 in it"),
        ("d = add(chain(WIDE, A·B over K), convert(convert(9:f32, bf16), f32), f32)", "the constant 9 in it"),
        ("d = chain(WIDE, A·B over K, 1024:f32)", "begins with the constant 1024"),
        ("t, e = kahan(1024:f32, +0:f32, chain(WIDE, A·B over K), f32)\nd = t", "the constant 1024 in it"),
        ("s = chain(WIDE, A·B over K)\nd = convert(convert(s, ue4m3), f32)", "ue4m3 has no sign"),
        (
            "x = convert(convert(A, bf16), f32)\nX0, X1 = split(x, f16, 2)\n"
            "Y0, Y1 = split(convert(B, f32), f16, 2)\n"
            "d = chain(WIDE, X0·Y0 over K, c)",
            "a split of an operand that is rounded",
        ),
        (
            "X0, X1 = split(convert(A, tf32), bf16, 2)\nY0, Y1 = split(convert(B, tf32), bf16, 2)\n"
            f"d = chain({BF16}, X1·Y0, X0·Y0 over K, c)",
            "the split of tf32, whose words have bits that are not read",
        ),
        ("d = convert(convert(chain(WIDE, A·B over K), ue8m0), f32)", "ue8m0 has no sign"),
        (
            "x = convert(convert(A, ue4m3), f16)\ny = convert(convert(B, ue4m3), f16)\n"
            "d = chain(WIDE, x·y over K)",
            "ue4m3 has no sign",
        ),
        (
            "m = maximum(c, 0x7f7fffff:f32, nan=propagated)\nd = chain(WIDE, A·B over K, m)",
            "begins with the constant 3.403e\\+38",
        ),
        (
            "k = convert(convert(0x3dcccccd:f32, bf16), f32)\n"
            "d = maximum(chain(WIDE, A·B over K), k, nan=propagated)",
            "the constant 0.1 is rounded to bf16",
        ),
        (
            "x = convert(convert(A, bf16), e4m3)\ny = convert(B, e4m3)\n"
            "d = chain(ada/mma.m16n8k32.f32.e4m3.e4m3.f32, x·y over K)",
            "operands are rounded from bf16 to e4m3",
        ),
        (
            "s = chain(WIDE, A·B over K)\nd = select(compare(s, less, +0:f32), c, s)",
            "a condition on what is off may choose a value that is not near",
        ),
        (
            "d = add(chain(WIDE, A·B over K), convert(maximum(A, over K, nan=ignored), f32), f32)",
            "are no sums",
        ),
        (
            "s = chain(WIDE, A·B over K)\nt, e = kahan(s, chain(WIDE, A·B over K), c, f32)\nd = t",
            "not that of the total",
        ),
    ],
)  # fmt: skip
def test_what_no_rule_is_about_is_refused(text: str, why: str) -> None:
    with pytest.raises(Unbounded, match=why):
        bound_of(written(text, 8), Domain(exponents=(0, 1)))


def rules(runs: list[list[int]], k: int) -> ShareRules:
    """Rules for chains that lose nothing, over these products."""
    most = np.full(len(runs) + 3, 100.0)
    return ShareRules(
        lambda unit, some, has_c, plain: ChainShares(Fraction(0), before=Fraction(1)), most,
        [[ProductRun(np.array(run))] for run in runs], k, lambda split, side: Pieces(),
    )  # fmt: skip


def test_chains_that_share_products_count_together() -> None:
    apart, shared = rules([[0, 1], [2]], 3), rules([[0, 1], [1, 2]], 3)
    assert apart.of_products(np.array([0.25, 0.5])) == 0.5
    assert 0.75 <= shared.of_products(np.array([0.25, 0.5])) < 0.751


def test_what_is_missing_or_there_twice_is_counted() -> None:
    for runs, wanted in (
        ([[0, 1], [2]], 0),
        ([[0], [2]], 1),
        ([[0, 1, 2], [1]], 1),
        ([[0, 1, 2], [1, 1]], 2),
    ):
        own = rules(runs, 3)
        total = own.chain(None, Pieces(), Pieces(), unit=HALF, runs=own.runs[0])
        part = own.chain(None, Pieces(), Pieces(), unit=HALF, runs=own.runs[1])
        both = own.add(total, part, fmt=F32, shift=0, rounding=RNE)
        assert wanted <= sum(own.missing(both.value, Fraction(1))) <= wanted * 1.0001, runs


def test_factors_that_binary64_does_not_have_are_refused() -> None:
    own = rules([[0]], 1)
    x = own.unit(0)
    third = Share(x.value, x.off, Fraction(1, 3))
    with pytest.raises(Unbounded, match="binary64"):
        own.multiply_add(x, third, Share(0 * x.value, x.off, Fraction(0)), fmt=F32)
    tiny = Share(x.value * 2.0**-60, x.off)
    with pytest.raises(Unbounded, match="binary64"):
        own.add(x, tiny, fmt=F32, shift=0, rounding=RNE)


def test_an_error_belongs_to_its_total() -> None:
    own = rules([[0], [1]], 2)
    zero = own.constant(fmt=F32, word=0)
    x, y = own.unit(0), own.unit(1)
    how = {"scheme": "two-sum", "fmt": F32, "shift": 0, "rounding": RNE}
    total, error = own.compensated(zero, zero, x, **how)
    other, _ = own.compensated(zero, zero, y, **how)
    with pytest.raises(Unbounded, match="not that of the total"):
        own.compensated(other, error, y, **how)
    with pytest.raises(Unbounded, match="to nearest alone"):
        own.compensated(total, error, y, **{**how, "rounding": ROUNDINGS["RTZ"]})


def test_quantised_operands_are_refused_by_their_recipe() -> None:
    model = written("d = product(hopper/wgmma.m64nNk32.f32.e4m3.e4m3, fp8-row, A·B)", 8, "f32")
    with pytest.raises(Unbounded, match=r"operands are quantised \(fp8-row\)"):
        bound_of(model, Domain(exponents=(0, 1)))


NEGATIVE = "s = chain(HALF, A·B over K, c)\nd = select(compare(s, less, +0:f16), "
#: What a condition or a maximum makes of the exact s = c + Σ a·b.
CHOSEN: dict[str, tuple[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "relu": (
        "s = chain(HALF, A·B over K, c)\nd = maximum(s, +0:f16, nan=propagated)",
        lambda s, c: max(s, 0 * s),
    ),
    "leaky": (NEGATIVE + "multiply(s, 0.25:f16, f16), s)", lambda s, c: s / 4 if s < 0 else s),
    "magnitude": (NEGATIVE + "negate(s), s)", lambda s, c: abs(s)),
    "clamp": (
        "s = chain(HALF, A·B over K, c)\nt = maximum(negate(s), -6:f16, nan=propagated)\n"
        "d = add(maximum(negate(t), -6:f16, nan=propagated), c, f16)",
        lambda s, c: max(min(s, Fraction(6)), Fraction(-6)) + c,
    ),
    "on c": (
        "s = chain(HALF, A·B over K, c)\nd = select(compare(c, less, +0:f16), multiply(s, 3:f16, f16), s)",
        lambda s, c: 3 * s if c < 0 else s,
    ),
    "the larger of two sums": (
        "s = chain(HALF, A·B over K, c)\nd = maximum(chain(HALF, A·B over K), s, nan=propagated)",
        lambda s, c: max(s - c, s),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_no_error_beside_a_condition_is_larger(name: str) -> None:
    """Against the exact steps, by fractions: many sums are nearly 0, where conditions differ."""
    text, exact = CHOSEN[name]
    k, rows = 3, 4000
    model, rng, worst = written(text, k, c="f16"), np.random.default_rng(7), Fraction(0)
    bound = bound_of(model, Domain(exponents=(0, 3)))
    a, b = (
        (
            rng.integers(1 << 10, 1 << 11, (rows, k))
            * rng.choice([1, -1], (rows, k))
            * 2.0 ** rng.integers(-10, -6, (rows, k))
        )
        for _ in "ab"
    )
    c = -(a * b).sum(axis=1).astype(np.float16)
    inside = (np.abs(c) >= 1) & (np.abs(c) < 16)
    a, b, c = a[inside].astype(np.float16), b[inside].astype(np.float16), c[inside]
    given = {name: x.view(np.uint16) for name, x in (("A", a), ("B", b), ("c", c))}
    found = read(model.program, ArrayRules((len(a),), of_rows, QUIET), given).view(np.float16)
    for x, y, z, result in zip(a.tolist(), b.tolist(), c.tolist(), found.tolist(), strict=True):
        products = [Fraction(p) * Fraction(q) for p, q in zip(x, y, strict=True)]
        error = abs(Fraction(result) - exact(sum(products, Fraction(z)), Fraction(z)))
        worst = max(worst, error / (abs(Fraction(z)) + sum(map(abs, products))))
    assert bound / 200 < worst <= bound, (float(worst), float(bound))


def test_operands_that_are_rounded_are_held_against_what_they_were() -> None:
    model = written(
        "x, y = convert(A, f16), convert(B, f16)\nd = chain(HALF, x·y over K, c)", 2, "f32", "f16"
    )
    domain = Domain(exponents=(0, 3))
    bound = bound_of(model, domain)
    found = largest_found(ErrorSubject.of_program("rounded", model), 2, domain, 0.3)
    assert found is not None and found.relative is not None and bound / 12 < found.relative <= bound
    with pytest.raises(Unbounded, match="f32 to f16, which has exponents from -14 to 15"):
        bound_of(model, Domain(exponents=(-20, 3)))


def test_a_chain_whose_sums_are_not_checked_begins_with_c_alone() -> None:
    run = rules([[0], [1]], 2)
    run.lost = lambda unit, some, has_c, plain: ChainShares(Fraction(0))
    first = run.chain(None, Pieces(), Pieces(), unit=WIDE, runs=run.runs[0])
    with pytest.raises(Unbounded, match="begins with what is not c"):
        run.chain(first, Pieces(), Pieces(), unit=WIDE, runs=run.runs[1])
    for c in (run.unit(-3), run.negate(run.unit(-3), fmt=F32)):
        run.operands.clear()
        assert run.chain(c, Pieces(), Pieces(), unit=WIDE, runs=run.runs[0]).value[0] == 1


def test_formats_without_a_sign_hold_no_result() -> None:
    run, fmt = rules([[0]], 1), FORMATS["ue4m3"]
    how = {"source": F32, "target": fmt, "bits": 4, "saturate": True}
    for step in (
        lambda: run.convert_randomly(run.unit(0), run.unit(-1), **how),
        lambda: run.negate(run.unit(0), fmt=fmt),
    ):
        with pytest.raises(Unbounded, match="has no sign"):
            step()
