"""``tcsmt accuracy sweep``: what it prints, draws and keeps, and how it goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.support.checkpoint import Record
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Task


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["accuracy", "sweep", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.long
def test_the_command_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sweep.json"
    few = ("--unit", "ampere", "--size", 2, "--seeds", 1, "--output", path)
    base = ("--distribution", "uniform", "--distribution", "positive", "--k", 33)
    names = ("markidis", "markidis,every=instruction", "ootomo-halfhalf", "ootomo-halfhalf-4", "fp32-fma")
    chosen = [word for name in names for word in ("--algorithm", name)]

    def stopping(jobs: int, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
        yield from ((task, task.run()) for task in tasks[:2])
        raise KeyboardInterrupt

    answers = processes.answers_of
    monkeypatch.setattr(processes, "answers_of", stopping)
    assert run(*few, *base, *chosen)[0] == 130
    assert len(json.loads(path.read_text())["records"]) == 2
    monkeypatch.setattr(processes, "answers_of", answers)
    pytest.importorskip("matplotlib")
    code, text = run(*few, *base, *chosen, "--plots", tmp_path)
    assert code == 0
    assert "expected mantissa length of Markidis' split: 22.75" in text
    data = json.loads(path.read_text())
    assert len(data["records"]) == 2 * len(names)
    assert len({(r["distribution"], r["k"], r["algorithm"]) for r in data["records"]}) == len(data["records"])
    assert any("negligible" in one["published"] for one in data["findings"])
    assert (tmp_path / "sweep-rounding.svg").read_text().startswith("<?xml")
    code, text = run("--unit", "ampere", "--size", 3, "--output", path)
    assert code == 2
    assert "was made with size = 2, now it is 3" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--distribution", "typ1"), "unknown distribution 'typ1': did you mean type1"),
        (("--algorithm", "markids"), "unknown algorithm 'markids': did you mean markidis"),
        (("--algorithm", "ootomo-tf32tf32", "--unit", "volta"), "it needs a unit from tf32 to f32"),
        (
            (
                "--algorithm",
                "single-f16",
                "--algorithm",
                "markidis",
                "--unit",
                "volta",
                "--unit",
                "x86/vdpbf16ps",
            ),
            "single-f16 on x86/vdpbf16ps: it needs a unit from f16 to f32; there is one from bf16 to f32",
        ),
        (
            ("--algorithm", "single-f16", "--algorithm", "cutlass-3xtf32", "--unit", "volta"),
            "cutlass-3xtf32: none of volta has a unit for tf32",
        ),
        (("--unit", "volt"), "unknown architecture 'volt'"),
        (("--k", "0"), "0 is not in the range"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], message: str) -> None:
    code, text = run(*arguments)
    assert code == 2
    assert message in text
    assert "Traceback" not in text


def test_there_may_be_nothing_to_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    folder = tmp_path / "plots"
    few = ("--unit", "hopper", "--size", 2, "--seeds", 1, "--k", 1, "--distribution", "uniform")
    code, text = run("--algorithm", "fp8", *few, "--plots", folder)  # a single product has no error
    assert code == 0
    assert "nothing to plot: no figure shows fp8 on hopper\n" in text
    assert not folder.exists()


def test_plots_need_matplotlib_before_anything_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    kept = ("--output", tmp_path / "sweep.json", "--plots", tmp_path / "plots")
    code, text = run("--algorithm", "markidis", "--unit", "hopper", "--k", 16, *kept)
    assert code == 2 and "plots need matplotlib" in text
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_algorithms_that_no_slide_shows_are_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    mine = tmp_path / "mine.toml"
    mine.write_text('base = "fasi-bf16x2"\nc = "last"\n')
    few = ("--unit", "hopper", "--size", 2, "--seeds", 1, "--k", 16, "--k", 64, "--distribution", "positive")
    code, text = run("--algorithm", "fp8", "--algorithm", mine, *few, "--plots", tmp_path / "plots")
    assert code == 0
    assert text.count("written: ") == 1
    drawn = (tmp_path / "plots" / "sweep-algorithms.svg").read_text()
    assert "fp8 on hopper" in drawn
    assert f"{mine} on hopper" in drawn
    assert "RNE" not in drawn


@pytest.mark.slow
def test_figures_that_show_something_are_plotted(tmp_path: Path) -> None:
    folder = tmp_path / "plots"
    few = ("--unit", "hopper", "--size", 2, "--seeds", 1, "--k", 16, "--distribution", "uniform")
    pytest.importorskip("matplotlib")
    code, text = run("--algorithm", "markidis", *few, "--plots", folder)
    assert {path.name for path in folder.iterdir()} == {
        f"sweep-{name}.svg" for name in ("k", "bias", "rounding")
    }
    assert code == 0
    assert text.count("written: ") == 3
    panels = {path.stem: path.read_text().count('<g id="axes_') for path in folder.iterdir()}
    # of those with data alone; the bias has its means in an axis at the right
    assert panels == {"sweep-k": 1, "sweep-bias": 2, "sweep-rounding": 1}


@pytest.mark.slow
def test_units_of_all_vendors_are_plotted(tmp_path: Path) -> None:
    """Each in the panel of its formats; on other matrices no such figure is drawn."""
    pytest.importorskip("matplotlib")
    units = ("cdna3", "x86/vdpbf16ps", "arm/fmlal")
    few = ("--size", 2, "--seeds", 1, "--k", 64, *(word for unit in units for word in ("--unit", unit)))
    both = ("--algorithm", "single-f16", "--algorithm", "single-bf16", "--distribution", "shared")
    code, text = run(*both, *few, "--plots", tmp_path, "--output", tmp_path / "units.json")
    assert code == 0
    assert [path.name for path in tmp_path.glob("*.svg")] == ["sweep-units.svg"]
    drawn = (tmp_path / "sweep-units.svg").read_text()
    assert all(word in drawn for word in (*units, "FP16 to FP32", "BF16 to FP32", "AMD", "x86", "Arm"))
    assert "NVIDIA" not in drawn
    kept = json.loads((tmp_path / "units.json").read_text())["records"]
    assert {record["algorithm"]: [*record["units"]] for record in kept} == {
        "single-f16": ["cdna3", "arm/fmlal"],
        "single-bf16": ["cdna3", "x86/vdpbf16ps"],
    }
    code, text = run(*both[:4], *few, "--distribution", "normal", "--plots", tmp_path / "others")
    assert code == 0
    assert "sweep-units" not in text


def test_an_exact_result_of_zero_is_not_a_share() -> None:
    few = ("--unit", "hopper", "--size", 2, "--seeds", 1, "--k", 16, "--distribution", "type4-cc")
    code, text = run("--algorithm", "fp8", *few)
    assert code == 0
    assert "(some exact results are 0)" in text
    assert "not finite" not in text
