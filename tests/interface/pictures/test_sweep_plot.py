"""Figures of sweeps: which records they show, read from the SVG's texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tcsmt.interface.pictures.sweep_plot import is_of_units, plot_algorithms, plot_units

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


def record(algorithm: str, k: int, distribution: str = "uniform", **units: float) -> dict[str, Any]:
    found = {name: {"residual": r, "mean": -0.5} for name, r in units.items()}
    return {"algorithm": algorithm, "k": k, "distribution": distribution, "units": found}


def test_a_line_for_each_algorithm_and_unit_as_it_is(tmp_path: Path) -> None:
    """Variants with another rounding, algorithms that are not asked for and errors of zero are left out."""
    file = tmp_path / "a.svg"
    rows = [
        record("markidis", 64, **{"volta": 1e-6, "hopper, all RNE": 1e-7}),
        record("markidis", 16, volta=1e-7, ampere=0.0),
        record("single-f16", 16, turing=1e-3),
        record("fp8", 16, "normal", hopper=1e-2),
    ]
    assert plot_algorithms(file, rows, ["markidis", "fp8"])
    drawn = file.read_text()
    assert "markidis on volta" in drawn and "fp8 on hopper" in drawn
    assert "uniform" in drawn and "normal" in drawn
    assert all(word not in drawn for word in ("turing", "ampere", "RNE", "single-f16 on"))


def test_lines_go_from_small_k_to_large(tmp_path: Path) -> None:
    """Whatever the order of the records, the picture is the same."""
    rows = [record("markidis", k, volta=1e-7 * k) for k in (16, 64, 256)]
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    assert plot_algorithms(files[0], rows, ["markidis"]) and plot_algorithms(
        files[1], rows[::-1], ["markidis"]
    )
    one, two = (path.read_text() for path in files)
    assert one == two


def test_units_of_vendors_at_the_largest_k(tmp_path: Path) -> None:
    file = tmp_path / "u.svg"
    rows = [
        record("single-f16", 64, "shared", **{"volta": 1e-6, "cdna3": 2e-6}),
        record("single-f16", 16, "shared", turing=1e-6),
        record("single-bf16", 64, "shared-positive", **{"x86/vdpbf16ps": 3e-6}),
        record("markidis", 1024, "shared", ampere=1e-6),
    ]
    assert [is_of_units(row) for row in rows] == [True, True, True, False]
    assert not is_of_units(record("single-f16", 64))
    assert plot_units(file, rows)
    drawn = file.read_text()
    said = ("volta", "cdna3", "x86/vdpbf16ps", "FP16 to FP32", "BF16 to FP32", "NVIDIA", "AMD", "64 terms")
    assert all(word in drawn for word in said)
    assert all(word not in drawn for word in ("turing", "ampere", "Arm"))


@pytest.mark.parametrize("rows", [
    [], [record("markidis", 16, volta=0.0)], [record("single-f16", 16, "shared", volta=0.0)],
    [record("other", 16, volta=1e-6)],
])  # fmt: skip
def test_there_may_be_nothing_to_draw(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "none.svg"
    assert not plot_algorithms(file, rows, ["markidis"])
    assert not plot_units(file, rows)
    assert not file.exists()


def test_the_figure_is_as_wide_as_its_legend(tmp_path: Path) -> None:
    """Names of files and of instructions are long."""
    widths: list[float] = []
    for name, unit in (("fp8", "hopper"), ("a/file/of/ones/own.toml", "hopper/" + "w" * 60)):
        file = tmp_path / f"{len(widths)}.svg"
        assert plot_algorithms(file, [record(name, k, **{unit: 1e-7 * k}) for k in (16, 64)], [name])
        drawn = file.read_text()
        assert f"{name} on {unit}" in drawn
        assert ">64<" in drawn or "<!-- 64 -->" in drawn
        widths.append(float(drawn.split('width="', 1)[1].split("pt", 1)[0]))
    # of 85 letters in 8 points, each is over 4.6 points wide
    assert widths[1] > 85 * 4.6 > widths[0]
