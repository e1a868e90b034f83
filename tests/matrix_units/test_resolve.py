"""From a text to a side: what is written in ``docs/reference/names.md``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tcsmt
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, aliases, gpus
from tcsmt.matrix_units.resolve import ResolvedName, file_of, none_fits, reference, resolve
from tcsmt.support.errors import TcsmtError
from tests.support.paths import DATA, ROOT

C = f"{ROOT / 'tests' / 'support' / 'fused_dot_add.c'},function=dot"


def test_every_name_of_the_catalogue_is_its_row() -> None:
    for row in rows(claims=True):
        side = resolve(row.name)
        assert side.row == row and side.units == [row] and not side.listed
        assert reference(row.name, side.row) == row.name


def test_architectures_and_gpus_stand_for_their_instructions() -> None:
    for name in (*ARCHITECTURES, *aliases(), *gpus()):
        side = resolve(name)
        assert reference(name, side.row) == side.row.name and side.row in side.units
        assert {row.architecture for row in side.units} == {side.row.architecture}


def test_a_model_file_means_the_same_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = DATA / "khattak-custom-1.toml"
    (tmp_path / "mine.toml").write_text(path.read_text())
    monkeypatch.chdir(tmp_path)
    side = resolve("mine.toml")
    assert side.row.model == resolve(path).row.model
    assert reference("mine.toml", side.row) == str(tmp_path / "mine.toml")
    assert file_of("mine.toml") == "mine.toml"


@pytest.mark.parametrize(
    "given", ["volta", row_named("volta"), row_named("volta").model, tcsmt.unit("volta")]
)
def test_whatever_means_a_unit_is_one_side(given: object) -> None:
    assert side_of(given).row.model == row_named("volta").model


@pytest.mark.long
def test_c_is_a_unit_wherever_one_is_taken() -> None:
    """With the formats of another one; on two rows it gives what that one gives."""
    unit = tcsmt.unit(f"{C},like=volta")
    a, b = [[1, 2, 0, 0], [0.5, 3, 1, 1]], [[1, 1, 0, 0], [4, 0.25, 8, 1]]
    assert unit(a, b, 0.5).tolist() == tcsmt.unit("volta")(a, b, 0.5).tolist() == [3.5, 12.25]
    assert len(tcsmt.vectors(f"{C},like=volta", kind="edge", rows=5)) == 5
    with pytest.raises(TcsmtError, match=r"no format for a, b, c, d: .* in a unit's name, .*like=UNIT"):
        tcsmt.unit(C)


def test_errors_name_the_nearest() -> None:
    for text, message in (
        ("hoper", "unknown architecture 'hoper': did you mean hopper?"),
        ("volta/mma.m9", "unknown instruction of volta 'mma.m9'"),
        ("none.toml", "cannot read none.toml"),
    ):
        with pytest.raises(TcsmtError, match=message):
            resolve(text)
    assert "from f16 to f32" in str(none_fits("it", row_named("volta"), "with x"))


def test_a_side_of_a_row_is_named_by_it() -> None:
    row = row_named("volta")
    assert ResolvedName.of_row(row) == ResolvedName(row.name, (row,))


@pytest.mark.slow
@pytest.mark.parametrize(
    "before", ["import tcsmt", "import tcsmt.programs.kernels.gemm", "import tcsmt.interface.api.units"]
)
def test_a_text_means_the_same_whatever_was_imported_before(before: str) -> None:
    """In a fresh interpreter: kernels, IEEE operations and designs are read by wings above."""
    texts = ("h100+split-k:2@64", "ieee/fma.f32", "ieee/fma.f32+chained+out=f16@8")
    program = f"{before}\nfrom tcsmt.matrix_units.resolve import file_of, resolve\n"
    program += f"for text in {texts}: print(resolve(text).row.name)\nprint(file_of('dot.sv,k=4'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second, third, file = done.stdout.splitlines()
    assert first == "hopper/mma.m16n8k16.f32.f16.f16.f32+split-k:2@64" and second == "ieee/fma.f32"
    assert third == "ieee/fma.f32+chained+out=f16@8" and file == "dot.sv"
