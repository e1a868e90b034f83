"""Certificates of exact sums: written, checked, and refused where the statement says more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt.analysis.certified import THEOREMS
from tcsmt.analysis.exactness.certified import certify_kernel, certify_sums
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.prove.certificates.checker import check_statement
from tcsmt.prove.certificates.description import described
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.errors import Malformed

pytest.importorskip("pysat")


#: Up to which integers the small unit adds up 256 products exactly, cut in two.
LIMIT = 2
#: It sums integers exactly below two to this power.
BITS = 11


def small() -> Row:
    """A fused sum of two FP4 products and c."""
    e2m1, f16 = FORMATS["e2m1"], FORMATS["f16"]
    model = FusedDotAdd.of(
        a_format=e2m1,
        b_format=e2m1,
        c_format=f16,
        d_format=f16,
        k=2,
        n_fma=2,
        fraction_bits=11,
        zero_exponent=None,
        rounding=ROUNDINGS["RTZ"],
    )
    return replace(side_of("volta").row, model=model)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exact")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Certified:
    return certify_kernel(Certificates(folder), small(), reduction_named("split-k:2"), LIMIT, 256)


@pytest.fixture(scope="module")
def sums(folder: Path) -> Certified:
    return certify_sums(Certificates(folder), small().model, "it", BITS)


def flaw(folder: Path, one: Certified, change: Mapping[str, Any]) -> str:
    """What the checker says of the statement with other values; "" if nothing."""
    assert one.path is not None, one.why
    record = json.loads(one.path.read_text())
    record["statement"] |= change
    changed = folder / "statements" / "changed.json"
    changed.write_text(json.dumps(record))
    try:
        return check_statement(changed, LemmaFiles(folder), THEOREMS).flaw
    except Malformed as why:
        return str(why)
    finally:
        changed.unlink()


@pytest.mark.slow
def test_both_are_proved(folder: Path, kernel: Certified, sums: Certified) -> None:
    assert flaw(folder, kernel, {}) == flaw(folder, sums, {}) == ""
    assert kernel.lemmas > 3 and sums.lemmas
    assert not any(one.flaw for one in tcsmt.check_certificate(folder))


#: Up to 11, 256 products cut in two are added up exactly; fewer are, too.
OTHERS: list[Mapping[str, Any]] = [
    {"integers": LIMIT + 1}, {"integers": 1 << 20}, {"integers": 0}, {"integers": -1}, {"integers": "x"},
    {"k": 1024}, {"k": 0}, {"k": 1 << 40}, {"unit": "0.toml"},
    {"reduction": "split-k:2,parts=e4m3"}, {"reduction": "nothing"}, {"reduction": 2},
    {"format": "f32"}, {"format": None}, {"reduction": "split-k:2,sum=f32"},
]  # fmt: skip


@pytest.mark.parametrize("change", OTHERS, ids=str)
@pytest.mark.slow_cases("{'integers': 3}")
def test_false_statements_about_a_kernel_are_refused(
    folder: Path, kernel: Certified, change: Mapping[str, Any]
) -> None:
    assert flaw(folder, kernel, change)


def test_the_format_of_the_result_is_said(folder: Path, kernel: Certified, sums: Certified) -> None:
    """The same bits in another format are another number."""
    (says,) = [one.stated.says for one in described(folder, THEOREMS) if "reduction" in one.stated.says]
    assert "and the result, read in f16, is never -0" in says and kernel.title.endswith("in f16")
    assert flaw(folder, kernel, {"reduction": "split-k:2,sum=f32", "format": "f32"}) == ""


def test_inputs_are_said_to_be_integers(folder: Path, kernel: Certified, sums: Certified) -> None:
    inputs = "words of the model's formats that are integers"
    assert {one.stated.inputs for one in described(folder, THEOREMS)} == {inputs}
    for one in described(folder, THEOREMS):
        assert "words of its formats" in one.stated.says


def test_less_is_proved_by_the_same_lemmas(folder: Path, kernel: Certified) -> None:
    assert flaw(folder, kernel, {"integers": 1, "k": 512}) == ""


@pytest.mark.parametrize(
    "change", [{"bits": BITS + 1}, {"bits": 0}, {"bits": None}, {"unit": "0.toml"}], ids=str
)
def test_false_statements_about_sums_are_refused(
    folder: Path, sums: Certified, change: Mapping[str, Any]
) -> None:
    assert flaw(folder, sums, change)


def test_a_sum_that_rounds_down_may_be_negative_zero(tmp_path: Path) -> None:
    """1 - 1 is -0 there, and +0 where another part is added: numbers agree, words do not."""
    row = side_of("ieee/fma.f32").row
    down = replace(row, model=row.model.replace(rounding=ROUNDINGS["RTN"]))
    found = certify_kernel(Certificates(tmp_path), down, reduction_named("chained"), 4, 4)
    assert found.path is None and "-0" in found.why
    assert certify_kernel(Certificates(tmp_path), row, reduction_named("chained"), 4, 4).path is not None


def test_unproved_statements_have_no_certificate(folder: Path, kernel: Certified) -> None:
    """The lemmas of what is proved are there."""
    files = Certificates(folder)
    found = [
        certify_kernel(files, small(), reduction_named("split-k:2"), LIMIT + 1, 256),
        certify_sums(files, small().model, "it", BITS + 1),
    ]
    assert [one.path for one in found] == [None, None]
    assert all(one.why for one in found)
