"""Published statements: the data file, and verdicts by data, by proof, and by neither."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.simulate.measured.dataset import DataSet, Formats
from tcsmt.simulate.measured.datasets import find_datasets
from tcsmt.simulate.rows import run_words
from tcsmt.surveys.claims import judge, published

CLAIMS = {claim.name: claim for claim in published()}


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.exact is None])
def test_a_claim_is_about_two_models(name: str) -> None:
    claim = CLAIMS[name]
    holds, fails = claim.model(holds=True), claim.model(holds=False)
    assert holds != fails
    assert claim.tells_apart is not None or claim.row.model in (holds, fails) or "carry_bits" in claim.claimed
    assert claim.statement and claim.source and claim.section


@pytest.mark.parametrize(
    ("name", "verdict", "answer"),
    [
        ("volta-third-carry-bit", "confirmed", Distinguished),
        ("ampere-fourth-carry-bit", "refuted", Distinguished),
        pytest.param("hopper-fp8-six-carry-bits", "refuted", Equivalent, marks=pytest.mark.long),
    ],
)
def test_statements_about_tests(name: str, verdict: str, answer: type) -> None:
    judgement = judge(CLAIMS[name], [], Solving())
    assert judgement.verdict == verdict
    assert judgement.finding is not None and isinstance(judgement.finding.verdict, answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdict", "why"),
    [
        ("gemmul8-int8-error-free-hopper", "confirmed", "proved: up to K = 131071"),
        pytest.param(
            "gemmul8-fp8-error-free-hopper",
            "refuted",
            "the result is 16384, exactly 16385",
            marks=pytest.mark.long,
        ),
    ],
)
def test_statements_about_exact_sums(name: str, verdict: str, why: str) -> None:
    judgement = judge(CLAIMS[name], [], Solving())
    assert judgement.verdict == verdict
    assert why in judgement.why
    assert judgement.as_json()["exactness"]["k"] in (64, 131071)


def measured(measured_data: Path, name: str) -> list[DataSet]:
    """One recorded data set."""
    return list(find_datasets([measured_data / f"{name}.npz"]))


@pytest.mark.parametrize(
    ("name", "data", "verdict"),
    [
        ("volta-products-normalised", "v100_f16_f32", "refuted"),
        ("volta-products-unnormalised", "v100_f16_f32", "confirmed"),
        ("hopper-fp8-fourteen-bits", "h200_e4m3_f32", "refuted"),
        ("hopper-fp8-mma-interleaved", "h200_e4m3_f16", "confirmed"),
        ("volta-zero-floor", "v100_f16_f32", "undecided"),
    ],
)
@pytest.mark.slow_cases("volta-zero-floor-v100_f16_f32-undecided")
def test_measured_rows_decide(name: str, data: str, verdict: str, measured_data: Path) -> None:
    judgement = judge(CLAIMS[name], measured(measured_data, data), Solving())
    assert judgement.verdict == verdict, judgement.why
    assert [pair[0].dataset.name for pair in judgement.replays] == [data]


def test_a_unit_that_is_as_claimed() -> None:
    """Rows made by the claimed model confirm the claim, and rows of the other refute it."""
    claim = CLAIMS["turing-as-volta"]
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((400, 8)).astype(np.float16).view(np.uint16) for _ in "ab")
    c = rng.standard_normal(400).astype(np.float32).view(np.uint32)
    row = claim.row
    operands = Operands(a, b, c)
    for holds, verdict in ((True, "confirmed"), (False, "refuted")):
        d = run_words(claim.model(holds=holds), operands)
        data = DataSet(
            name="made", path=Path("made"), gpu="T4", architecture=row.architecture,
            interface=row.instruction,
            formats=Formats.of(row.model), operands=operands, d=d,
        )  # fmt: skip
        judgement = judge(claim, [data], Solving())
        assert judgement.verdict == verdict
        deciding = judgement.row
        assert deciding is not None and deciding.hypothesis == ("otherwise" if holds else "claimed")
        wrong, found = run_words(claim.model(holds=not holds), operands), deciding.mismatch
        assert wrong[found.row] != d[found.row]
        assert (found.expected, found.got) == (d[found.row], wrong[found.row])


#: Statements about CDNA: verdict, and rows that contradict the statement or its opposite, of how many.
CDNA = {
    "cdna3-second-alignment": ("refuted", 4, 141),
    "cdna3-rounds-down": ("confirmed", 33, 141),
    "cdna3-rounds-normalised-sum-down": ("confirmed", 6, 141),
    "cdna1-f16-fma-chain": ("refuted", 221, 236),
    "cdna1-bf16-fma-chain": ("refuted", 490, 493),
    "cdna2-f16-fma-chain": ("refuted", 5, 11),
    "cdna3-f16-fma-chain": ("refuted", 78, 141),
    "cdna3-bf16-fma-chain": ("refuted", 40, 49),
    "cdna3-bf8-fma-chain": ("refuted", 44, 125),
}


@pytest.mark.parametrize("name", CDNA)
def test_published_results_decide_about_cdna(name: str, cdna_data: Path) -> None:
    verdict, wrong, rows = CDNA[name]
    unit = CLAIMS[name].unit.replace("/", "_")
    judgement = judge(CLAIMS[name], find_datasets([cdna_data / f"{unit}.json"]), Solving())
    assert judgement.verdict == verdict
    assert str(wrong) in judgement.why and f"{rows} measured rows" in judgement.why


def test_one_product_refutes_a_chain_over_k(cdna_data: Path) -> None:
    """2^-24·(1 + 2^-8) added to 1 rounds up as a fused multiply-add, and not on an MI300."""
    claim = CLAIMS["cdna3-f16-fma-chain"]
    data = find_datasets([cdna_data / "cdna3_v_mfma_f32_32x32x8_f16.json"])
    row = judge(claim, data, Solving()).row
    assert row is not None
    assert row.as_json()["inputs"] == {"a0": "0x0c04", "b0": "0x0c00", "c": "0x3f800000"}
    exact = 1 + Fraction(1, 2**24) * (1 + Fraction(1, 2**8))
    assert 1 + Fraction(1, 2**24) < exact < 1 + Fraction(1, 2**23)  # nearer to 1 + 2^-23
    assert (row.mismatch.expected, row.mismatch.got) == (0x3F800000, 0x3F800001)
    assert "a0=0x0c04 b0=0x0c00 c=0x3f800000 (all others 0); measured: 0x3f800000, 1; claimed:" in str(row)


@pytest.mark.slow
def test_evidence_that_does_not_decide_is_reported() -> None:
    """The published run that supports two models of Blackwell's FP4 unit alike; a vector decides."""
    judgement = judge(CLAIMS["blackwell-nvfp4-groups-of-four"], [], Solving())
    assert judgement.verdict == "undecided"
    assert judgement.finding is not None and isinstance(judgement.finding.verdict, Distinguished)
    assert "0 of 2,000,000 rows tell the two models apart" in judgement.as_json()["evidence"]
    assert judge(CLAIMS["volta-products-normalised"], [], Solving()).as_json()["evidence"] == ""


def test_claims_of_a_disputed_model_are_its_rows() -> None:
    for name in (
        "blackwell-nvfp4-groups-of-four",
        "blackwell-mxf4-c-by-group",
        "blackwell-tcgen05-no-zero-floor",
    ):
        claim = CLAIMS[name]
        assert claim.model(holds=True) == row_named(f"{claim.unit}@sf-tensor").model
    for claim in published():
        if claim.reading:
            reading = row_named(f"{claim.unit}@{claim.reading}")
            assert reading.status != "accepted" and claim.model(holds=True) == reading.model
            assert not claim.claimed, "a claim has parameters or a reading"


@pytest.mark.slow
@pytest.mark.parametrize("fidelity", ["hifi3", "hifi2", "lofi"])
def test_one_product_decides_about_wormholes_fault(fidelity: str) -> None:
    """tcsmt finds the vector, and what a card answers on it confirms or refutes the statement."""
    claim = CLAIMS[f"wormhole-{fidelity}-without-fault"]
    judgement = judge(claim, [], Solving())
    assert judgement.verdict == "undecided"
    assert judgement.finding is not None
    verdict = judgement.finding.verdict
    assert isinstance(verdict, Distinguished)
    assert {name for name, word in verdict.values.items() if word} <= {"a0", "b0", "c"}
    model = claim.row.model
    a, b = (np.array([[verdict.values[f"{side}{lane}"] for lane in range(16)]]) for side in "ab")
    operands = Operands(a, b, np.array([verdict.values["c"]]))
    words = [run_words(claim.model(holds=holds), operands) for holds in (True, False)]
    right, wrong = (word.astype(np.uint32).view(np.float32)[0] for word in words)
    assert wrong == right * 2**27
    for answer, expected in zip(words, ("confirmed", "refuted"), strict=True):
        card = DataSet(
            name="card", path=Path("card"), gpu="n150", architecture="wormhole",
            interface=claim.row.instruction, formats=Formats.of(model), operands=operands, d=answer,
        )  # fmt: skip
        assert judge(claim, [card], Solving()).verdict == expected
