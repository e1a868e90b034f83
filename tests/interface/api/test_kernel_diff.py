"""Two results of one product: counts, exact errors, kernels that were given, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT


def product(seed: int = 0):
    random = np.random.default_rng(seed)
    a = random.standard_normal((5, 96)).astype(np.float16)
    b = random.standard_normal((96, 7)).astype(np.float16)
    return a, b, tcsmt.gemm(a, b, unit="h100"), tcsmt.gemm(a, b, unit="h100", reduction="split-k:3")


def test_counts_errors_and_kernels() -> None:
    a, b, one, two = product()
    found = tcsmt.kernel_diff(a, b, one, two, left_kernel="h100", right_kernel="h100+split-k:3")
    assert found.differences.count == (one != two).sum()
    data = found.as_json()
    worst = data["worst"]
    exact = sum(
        (
            Fraction(float(x)) * Fraction(float(y))
            for x, y in zip(a[worst["row"]], b[:, worst["column"]], strict=True)
        ),
        Fraction(0),
    )
    ulp = Fraction(float(np.spacing(np.float32(abs(float(exact))))))
    for place, result in enumerate((one, two)):
        error = abs(Fraction(float(result[worst["row"], worst["column"]])) - exact) / ulp
        assert worst["errors_ulps"][place] == pytest.approx(float(error))
    tried = min(32, found.differences.count)
    for side in ("left", "right"):
        assert (data["kernels"][side]["gives_recorded"], data["kernels"][side]["tried"]) == (tried, tried)


@pytest.mark.slow
def test_a_kernel_that_did_not_make_the_result_is_said() -> None:
    a, b, one, two = product()
    found = tcsmt.kernel_diff(a, b, one, two, left_kernel="h100", right_kernel="h100")
    data = found.as_json()["kernels"]
    assert data["left"]["gives_recorded"] == data["left"]["tried"] > 0
    assert data["right"]["gives_recorded"] == 0
    assert "both kernels give" in str(found)


def test_the_parameter_that_causes_a_difference_is_named() -> None:
    a, b, one, _ = product()
    other = tcsmt.gemm(a, b, unit="a100")
    found = tcsmt.kernel_diff(a, b, one, other, left_kernel="h100", right_kernel="a100")
    assert found.sheet is not None
    assert "block size N_FMA) (16 against 8)" in found.why or "fraction bits F (25 against 24)" in found.why
    assert found.why in str(found)


def test_tiles_of_stream_k_are_reduced_by_their_place() -> None:
    a, b, one, _ = product()
    text = "h100+stream-k:5,tile=2x4x16"
    two = tcsmt.gemm(a, b, unit="h100", reduction="stream-k:5,tile=2x4x16")
    found = tcsmt.kernel_diff(a, b, one, two, left_kernel="h100", right_kernel=text)
    assert found.differences.count > 0
    assert found.as_json()["kernels"]["right"]["gives_recorded"] == found.tried


def test_equal_results_and_an_element_of_ones_own() -> None:
    a, b, one, _ = product()
    found = tcsmt.kernel_diff(a, b, one, one, left_kernel="h100", right_kernel="h100", element=(2, 3))
    assert found.equal
    assert found.as_json()["first"] is None
    assert found.as_json()["explained"]["element"] == [2, 3]


def test_infinities_have_no_exact_error() -> None:
    a = np.array([[np.inf, 1]], np.float16)
    d = np.array([[np.inf]], np.float32)
    found = tcsmt.kernel_diff(a, a.T, d, np.array([[np.nan]], np.float32))
    assert found.as_json()["worst"]["errors_ulps"] == [None, None]
    assert found.as_json()["worst"]["ulps"] is None


@pytest.mark.parametrize(("changed", "message"), [
    ({"right": np.zeros((7, 5), np.float32)}, r"shapes \(5, 7\) and \(7, 5\)"),
    ({"b": np.zeros((95, 7), np.float16)}, "number of columns of A"),
    ({"c": np.zeros((7, 5), np.float32)}, r"C has shape \(7, 5\): must be \(5, 7\)"),
    ({"element": (5, 0)}, r"element \(5, 0\): the results have 5 rows and 7 columns"),
    ({"left_kernel": "h100", "right_kernel": "a100/mma.m16n8k8.f32.bf16.bf16.f32"},
     "the kernels take or give A"),
    ({"a": np.zeros((5, 96), np.uint16)}, "A has dtype uint16, which names no format"),
    ({"a": np.full((5, 96), None)}, "A has dtype object"),
    ({"left_kernel": "h100+split-j:2"}, "did you mean split-k"),
])  # fmt: skip
def test_arrays_and_kernels_that_do_not_fit_are_refused(changed, message: str) -> None:
    a, b, one, two = product()
    given = {"a": a, "b": b, "left": one, "right": two} | changed
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.kernel_diff(**given)


def test_recorded_products_of_a_library() -> None:
    """FP16 results of cuBLAS against those in FP32: one rounding apart."""
    with np.load(ROOT / "results" / "gemms" / "h100.npz") as words:
        wide = words["f16-f32out-64x64x512"].view(np.float32).astype(np.float16)
        narrow = words["f16-64x64x512"].view(np.float16)
    a = np.zeros((len(wide), 512), np.float16)
    found = tcsmt.kernel_diff(a, np.zeros((512, wide.shape[1]), np.float16), wide, narrow)
    assert found.differences.count == (wide.view(np.uint16) != narrow.view(np.uint16)).sum()


@pytest.mark.slow
def test_numbers_have_decimals_and_what_differs_has_a_place() -> None:
    a, b, one, _ = product()
    two = one.copy()
    two[1:4, 2:5] += 1
    found = tcsmt.kernel_diff(a, b, one, two)
    text, data = str(found), found.as_json()
    assert "all elements of rows 1 to 3, columns 2 to 4 (9" in text
    assert data["block"] == {"rows": [1, 3], "columns": [2, 4]}
    first = f"first [1, 2]: {one[1, 2].view('u4'):#010x} = {float(one[1, 2]):.9g} ("
    assert first in text and f" | {two[1, 2].view('u4'):#010x} = {float(two[1, 2]):.9g} (" in text
    assert [float(x) for x in data["first"]["decimals"]] == pytest.approx([one[1, 2], two[1, 2]])
    two[2, 3] = one[2, 3]
    assert "some of rows 1 to 3, columns 2 to 4" in str(tcsmt.kernel_diff(a, b, one, two))
    assert "they are" not in str(tcsmt.kernel_diff(a, b, one, one + 1))


@pytest.mark.slow
def test_a_side_that_its_kernel_does_not_give_is_diagnosed() -> None:
    """Against the other side's kernel where it has none; an own one that gives it leaves nothing to say."""
    a, b, one, _ = product()
    two = tcsmt.gemm(a[:, :-1], b[:-1], unit="h100")
    for right in ("h100", None):
        found = tcsmt.kernel_diff(a, b, one, two, left_kernel="h100", right_kernel=right)
        assert found.diagnoses[0] is None and found.diagnoses[1] is not None
        assert "right: it looks like: a term left out: k = 95" in str(found)
        assert found.as_json()["diagnosis"]["right"][0]["kind"] == "terms"


def program(path: Path, last: str, operand: str = "A", part: int = 32) -> str:
    text = f"""a_format = "f16"
b_format = "f16"
nan = "quiet"
program = '''
for P in blocks(K, {part}):
    s[P] = chain(hopper/mma.m16n8k16.f32.f16.f16.f32, {operand}·B over P, +0)
t = sum(s, order, f32)
{last}
'''
[inputs]
bias = "f32 b"
"""
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_two_programs_in_files(tmp_path: Path) -> None:
    """The step outside at which they first differ; what a program gives is tried on recorded elements."""
    a, b, _, _ = product()
    bias = np.linspace(-1, 1, 7, dtype=np.float32)
    left = program(tmp_path / "left.toml", "d = maximum(add(t, bias, f32), +0:f32, nan=propagated)")
    right = program(tmp_path / "right.toml", "d = maximum(add(t, bias, f32, RTZ), +0:f32, nan=propagated)")
    one, two = (
        tcsmt.accuracy.multiply(a, b, algorithm=path, inputs={"bias": bias}) for path in (left, right)
    )
    found = tcsmt.kernel_diff(a, b, one, two, bias=bias, left_kernel=left, right_kernel=right)
    data = found.as_json()
    assert found.differences.count == (one != two).sum() > 0
    gives = [data["kernels"][side]["gives_recorded"] for side in ("left", "right")]
    assert gives == [data["kernels"]["left"]["tried"]] * 2
    assert "outside of the units: program/left@96 | program/right@96" in str(found)
    assert "; first at 'sum outside 3': " in str(found)
    (i, j), kernels = data["explained"]["element"], data["explained"]["kernels"]
    words = [int(side["result"], 16) for side in kernels]
    assert words == [int(side.view(np.uint32)[i, j]) for side in (one, two)]
    assert [step["step"] for step in kernels[0]["steps"] if step["kind"] == "outside"][:2] == [
        "sum outside 1", "sum outside 2",
    ]  # fmt: skip


def test_a_program_and_a_kernel(tmp_path: Path) -> None:
    """Sums of the same products stand side by side, whoever makes them."""
    a, b, one, two = product()
    path = program(tmp_path / "split.toml", "d = t")
    found = tcsmt.kernel_diff(a, b, two, two, left_kernel=path, right_kernel="h100+split-k:3", element=(1, 2))
    assert found.chains is not None and found.chains.sentence().startswith("both kernels give")
    found = tcsmt.kernel_diff(a, b, two, one, left_kernel=path, right_kernel="h100", element=(1, 2))
    assert found.chains is not None and found.chains.first is None
    other = program(tmp_path / "scaled.toml", "d = t", operand="x")
    scaled = "x = convert(multiply(convert(A, f32), 1.5:f32, f32), f16)\nfor P"
    text = Path(other).read_text(encoding="utf-8").replace("for P", scaled, 1)
    Path(other).write_text(text, encoding="utf-8")
    found = tcsmt.kernel_diff(a, b, two, one, left_kernel=path, right_kernel=other, element=(1, 2))
    assert "the products 0..15 are added" in str(found)
    assert found.sheet is None


@pytest.mark.slow
def test_functions_are_traced(tmp_path: Path) -> None:
    a, b, one, two = product()
    path = program(tmp_path / "exp.toml", "d = approximate(ex2.approx.f32, t, within=2 ulp)")
    nearest = f"{path},ex2.approx.f32=nearest"
    left = tcsmt.kernel_diff(a, b, one, two, left_kernel=nearest, right_kernel="h100")
    (*_, step), result = (left.as_json()["explained"]["kernels"][0][name] for name in ("steps", "result"))
    assert (step["kind"], step["word"]) == ("outside", result)


def test_a_missing_input_is_refused_by_name(tmp_path: Path) -> None:
    a, b, one, two = product()
    missing = program(tmp_path / "missing.toml", "d = add(t, bias, f32)")
    with pytest.raises(TcsmtError, match="input bias"):
        tcsmt.kernel_diff(a, b, one, two, left_kernel=missing, right_kernel="h100")
