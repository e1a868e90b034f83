"""Where sums of integers are exact: proofs on tiny units against every input, by independent oracles."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tcsmt.analysis.exactness.largest import exact, largest_proved
from tcsmt.analysis.exactness.search import UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.support.errors import Contradiction, TcsmtError
from tests.support.sampling import one_in
from tests.support.sums_of_integers import NARROW, RESULTS, asked, chain, some_unit, wrong

#: Pairs of operands are summed up to this K.
MOST = 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(64, range(64)))
def test_proofs_on_tiny_units_hold_for_every_input(seed: int) -> None:
    rng = Random(seed)
    model = None
    while model is None:
        try:
            model = some_unit(rng)
        except TcsmtError:
            continue
    for limit in (1, 2, 3):
        found = asked(model, integers=limit)
        for k in range(1, min(found.k, MOST if limit == 1 else 3) + 1):
            assert not wrong(model, limit, k), (model, limit, k)
        if found.beyond is not None:  # replayed on the terms; and by the oracle
            assert found.beyond.k > found.k
            if found.beyond.k <= 2:
                assert wrong(model, limit, found.beyond.k)


@pytest.mark.long
def test_tiny_units_are_decided_at_the_next_k() -> None:
    d = RESULTS[1]
    common = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": 2}
    for bits, most in ((3, 4), (2, 2)):
        model = FusedDotAdd.of(
            **common, n_fma=2, fraction_bits=bits, zero_exponent=None, carry_bits=None, rounding="RTZ"
        )  # fmt: skip
        found = asked(model, integers=2)
        assert (found.k, found.closed) == (most, True), found
        assert not wrong(model, 2, found.k)
        assert wrong(model, 2, found.k + 1)


def test_an_input_that_contradicts_the_proof_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    monkeypatch.setattr(UnitSubject, "proved", lambda self, limit, k: "" if k <= 128 else "no")
    with pytest.raises(Contradiction, match=r"128 products of integers up to 15"):
        asked(model, integers=15)


@pytest.mark.long
def test_integers_in_e4m3_on_hopper() -> None:
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    proof = chain()
    subject = UnitSubject(ExactUnit(proof, model))
    found = exact(subject, proof, integers=16)
    assert (found.k, found.closed) == (64, True)
    assert found.beyond is not None
    assert (found.beyond.result, found.beyond.exact) == (16384, 16385)
    known = exact(subject, proof, integers=15, k=128)
    assert known.k == 0
    assert known.beyond is not None
    assert known.beyond.runs == ((128, 15, 15),)
    assert (known.beyond.result, known.beyond.exact) == (28768, 28800)
    assert exact(subject, proof, integers=15).k == 72
    assert exact(subject, proof, k=64).integers == 16
    larger = exact(subject, proof, integers=448)
    assert (larger.k, larger.proof) == (0, None)
    assert larger.beyond is not None


@pytest.mark.parametrize(
    ("name", "limit", "most"),
    [
        ("turing/mma.m8n8k16.s32.s8.s8.s32", 128, 131071),
        pytest.param("cdna2/v_mfma_f32_32x32x8f16", 2048, 4, marks=pytest.mark.long),
        pytest.param("arm/bfdot.ebf0", 256, 256, marks=pytest.mark.long),
        pytest.param("cdna3/v_mfma_f32_32x32x8_f16", 2048, 4, marks=pytest.mark.long),
        pytest.param("volta/mma.m8n8k4.f32.f16.f16.f32", 1024, 16, marks=pytest.mark.long),
    ],
)
def test_units_of_the_catalogue(name: str, limit: int, most: int) -> None:
    found = asked(row_named(name).model, integers=limit, search=most < 1000)
    assert found.k == most
    if most < 1000:
        assert found.closed, found


def test_random_integers_agree_inside_the_domain() -> None:
    """Rows that the search does not draw: every sum inside is exact, by NumPy's integers."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    rng = np.random.default_rng(3)
    for limit, k in ((16, 64), (15, 72), (4, 1024)):
        a, b = (rng.integers(-limit, limit + 1, (64, k)) for _ in range(2))
        got = gemm(a.astype(np.float32), b.T.astype(np.float32), model=model)
        assert (got == a @ b.T).all()


def test_the_largest_of_what_holds_up_to_a_limit() -> None:
    for most in (1, 2, 7, 8, 100):
        for limit in range(most + 1):
            asked_about: list[int] = []

            def why_not(n: int, limit: int = limit, asked_about: list[int] = asked_about) -> str:
                asked_about.append(n)
                return f"not {n}" if n > limit else ""

            found, why = largest_proved(why_not, most)
            assert found == limit
            assert why == (f"not {limit + 1}" if limit < most else "")
            assert max(asked_about, default=0) <= most
