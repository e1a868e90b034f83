"""``quantise`` and ``product`` in a program's text: their results on matrices, as units, and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.programs.steps.digest import digest
from tcsmt.programs.written.programs import WrittenProgram, lines_of
from tcsmt.support.invariants import checked_cast

MXFP8 = "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
FP8 = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"


def written(path: Path, text: str, **inputs: str) -> str:
    table = "".join(f'{name} = "{kind}"\n' for name, kind in inputs.items())
    path.write_text(
        f'a_format = "f32"\nb_format = "f32"\nnan = "quiet"\nprogram = """\n{text}\n"""\n[inputs]\n{table}',
        "utf-8",
    )
    return str(path)


def matrices(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal(size).astype(np.float32) for size in ((m, k), (k, n)))
    return a * 2.0 ** rng.integers(-9, 9, (m, 1)).astype(np.float32), b


def test_a_product_by_a_recipe_is_that_of_quantised_matrices(tmp_path: Path) -> None:
    a, b = matrices(5, 72, 4)
    file = written(tmp_path / "mx.toml", f"d = product({MXFP8}, mxfp8, A·B)")
    left, right = tcsmt.quantise(a, "mxfp8"), tcsmt.quantise(b, "mxfp8", side="b")
    wanted = tcsmt.gemm(left.values, right.values, unit=MXFP8, scale_a=left.scales, scale_b=right.scales)
    assert (tcsmt.accuracy.multiply(a, b, algorithm=file) == wanted).all()
    file = written(
        tmp_path / "tensor.toml",
        f"d = product({FP8}, fp8-tensor, A·B, largest_a=la, largest_b=lb)",
        la="f32 a",
        lb="f32 b",
    )
    left, right = tcsmt.quantise(a, "fp8-tensor"), tcsmt.quantise(b, "fp8-tensor", side="b")
    given = {"la": np.abs(a).max(), "lb": np.abs(b).max()}
    assert left.scales is not None and right.scales is not None
    wanted = tcsmt.gemm(left.values, right.values, unit=FP8) * np.float32(left.scales * right.scales)
    assert (tcsmt.accuracy.multiply(a, b, algorithm=file, inputs=given) == wanted).all()


def test_words_and_scales_of_a_quantised_operand(tmp_path: Path) -> None:
    a, b = matrices(5, 70, 4)
    wanted = tcsmt.quantise(a, "mxfp4")
    for result, own in (("q", wanted.values), ("s", wanted.scales)):
        file = written(tmp_path / f"{result}.toml", f"q, s = quantise(A, mxfp4)\nd = {result}")
        found = tcsmt.accuracy.multiply(a, b, algorithm=file)
        assert own is not None and (found.view(np.uint8) == own.view(np.uint8)).all()
    file = written(tmp_path / "fnuz.toml", "q, s = quantise(A, fp8-row, format=e4m3fnuz)\nd = q")
    found = tcsmt.accuracy.multiply(a, b, algorithm=file)
    assert (
        found.view(np.uint8) == tcsmt.quantise(a, "fp8-row", format="e4m3fnuz").values.view(np.uint8)
    ).all()


def test_its_text_reads_back_as_the_same_program(tmp_path: Path) -> None:
    for name, unit in (("mxfp8", MXFP8), ("mxfp8-up", MXFP8), ("fp8-row", FP8)):
        file = written(tmp_path / "first.toml", f"d = product({unit}, {name}, A·B)")
        first = checked_cast(tcsmt.unit(f"{file}@40").model, WrittenProgram)
        again = written(tmp_path / "again.toml", "\n".join(lines_of(first.program)))
        assert digest(checked_cast(tcsmt.unit(f"{again}@40").model, WrittenProgram).program) == digest(
            first.program
        )


def test_quantisers_are_compared_by_solvers(tmp_path: Path) -> None:
    """Rounded down, a block's largest number may saturate, and rounded up it does not. The scale is the
    exponent of the largest number, less 8.
    """
    texts = {
        "down": "q, s = quantise(A, mxfp8)\nd = q[1]",
        "up": "q, s = quantise(A, mxfp8-up)\nd = q[1]",
        "scale": "q, s = quantise(A, mxfp8)\nd = s[0]",
        "exponent": "d = power_of_two(maximum(absolute(A[1]), absolute(A[0]), nan=propagated), shift=-8)",
    }
    units = {name: f"{written(tmp_path / f'{name}.toml', text)}@2" for name, text in texts.items()}
    assert tcsmt.compare(units["down"], units["up"]).equal is False
    assert tcsmt.compare(units["scale"], units["exponent"]).equal is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d = product(UNIT, mxfp8, A·B)", "a unit with ue8m0 scales of blocks is needed"),
        ("d = product(UNIT, fp8, A·B)", "unknown recipe"),
        ("d = product(UNIT, fp8-row, A B)", "expected a product A·B"),
        ("d = product(UNIT, fp8-row, A·B, role=weight)", "unknown option"),
        ("d = product(UNIT, fp8-tensor, A·B)", "largest magnitude of other rows must be given"),
        ("q, s = quantise(A, mxfp8, role=teacher)\nd = q", "unknown role"),
        ("q, s = quantise(A, mxfp8, format=e5m2)\nd = q", "format of recipe mxfp8"),
        ("d = power_of_two(c, shift=2000)", "shift = 2000: must be from -1024 to 1024"),
        ("d = maximum(A, over blocks(K, 0), nan=ignored)", "blocks of 0: must be from 1"),
        ("d = spread(A, K)", "words of blocks along K are expected here"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = written(tmp_path / "wrong.toml", text.replace("UNIT", FP8))
    with pytest.raises(tcsmt.TcsmtError, match=message.replace("(", r"\(")):
        tcsmt.unit(f"{file}@8")
