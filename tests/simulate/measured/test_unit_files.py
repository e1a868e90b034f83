"""Captured and emulated rows of several units in a file: read, replayed, and held against exact integers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.catalogue.published_files import PREDICTIONS, SELECTIONS
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.simulate.measured.datasets import explaining_row, find_datasets, replay
from tcsmt.simulate.measured.unit_files import predictions, unit_datasets
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import uncompressed
from tests.oracles import units
from tests.oracles.mvmul import mvmul
from tests.support.paths import ROOT
from tests.support.sampling import mostly_long

ROWS = {"rdna3_gfx1100": 615, "rdna4_gfx1201": 169, "rdna_packed_f16": 1344, "rdna_packed_bf16": 128}
DOT: dict[str, Any] = {"kind": "dot2", "in_format": "f16"}
ROWS |= {"riscv_rvbna_spike": 1000, "x86_vdpbf16ps_zen4": 2000, "arm_fdot_fp8_qemu": 2000}
ROWS |= {f"arm_{name}_{ebf}_qemu": 1000 for name in ("bfdot", "bfmmla", "bfmopa") for ebf in ("ebf0", "ebf1")}
ROWS |= {f"arm_{name}_qemu": 1000 for name in ("fmopa_f16", "bfmlalb", "fmlal")}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.slow_cases("riscv_rvbna_spike")
def test_every_row_replays(name: str, unit_data: Path) -> None:
    """Every word that was captured or emulated, NaN words included."""
    counted = 0
    for dataset in find_datasets([unit_data / f"{name}.json"]):
        row = explaining_row(dataset)
        assert dataset.name in row.measured and row.evidence in ("measured here", "measured", "simulated")
        result = replay(dataset, row.model)
        assert result.mismatches == 0, (dataset.name, result.examples)
        counted += result.rows
    assert counted == ROWS[name]


@pytest.mark.slow
def test_rows_name_the_files_that_hold_them(unit_data: Path) -> None:
    held = {dataset.name for name in ROWS for dataset in unit_datasets(unit_data / f"{name}.json")}
    held |= {uncompressed(path).stem for path in (ROOT / "results" / "hardware").glob("*.json.xz")}
    for architecture in ("rdna3", "rdna4", "riscv", "x86", "arm"):
        for row in rows(architecture, claims=False):
            assert set(row.measured) <= held
            assert bool(row.measured) == (row.evidence not in ("published", "conjectured")), row.name


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions(name: str, unit_data: Path) -> None:
    """What each reading is said to give is what its model gives."""
    found = list(predictions(unit_data / f"{name}.json"))
    assert found and not any(one.differs for one in found)
    assert any(one.unit is not None for one in found)


def test_differing_predictions_are_shown_and_fail(unit_data: Path, tmp_path: Path) -> None:
    """It is shown, and the exit code says so."""
    data = json.loads((unit_data / "rdna_undecided.json").read_text())
    data["rows"][0]["model"] = "417ffff0"
    path = tmp_path / "rdna_undecided.json"
    path.write_text(json.dumps(data))
    result = CliRunner().invoke(main, ["validate", str(path)])
    assert result.exit_code == 1
    assert "model: 0x417ffff0; rdna3/v_dot2_f32_f16 gives 0x417ffffe, which differs" in result.output
    assert "0 data sets, 0 rows, 0 mismatches; 20 predictions, 1 differ" in result.output


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows: none is of rdna3/v_dot2_f32_f16"),
        ({}, "rows: none is of rdna3/v_dot2_f32_f16"),
        ({"one part": 1}, 'no list "rows"'),
        (
            [{"kind": "dot2", "in_format": "f16", "a": ["x"], "b": ["0"], "c": "0", "d": "0"}],
            "'x' is not a hexa",
        ),
        (
            [{"kind": "dot2", "in_format": "f16", "a": ["0"], "b": ["0"], "d": "0"}],
            "is not an object with a, b, c",
        ),
    ],
)
def test_bad_files(rows: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rdna3_gfx1100.json"
    path.write_text(json.dumps({"rows": rows}))
    with pytest.raises(TcsmtError, match=message):
        list(unit_datasets(path))


def test_selections_name_units() -> None:
    for selections in SELECTIONS.values():
        for selection in selections:
            assert row_named(selection.unit).name == selection.unit


# --- against exact integers ------------------------------------------------------------------------


def some_word(rng: random.Random, fmt: Format) -> int:
    """Special words, the ends of the range, few bits set, and any."""
    edges = [0, 1, fmt.infinity_word, fmt.infinity_word - 1, 1 << fmt.fraction_bits]
    edges += [(1 << fmt.fraction_bits) - 1, fmt.word(1), fmt.nan_word or 0, fmt.infinity_word + 1]
    mask = (1 << fmt.width) - 1
    kind = rng.random()
    if kind < 0.25:
        word = rng.choice(edges)
    elif kind < 0.6:  # exponents about that of 1, few fraction bits
        word = (fmt.bias + rng.randint(-14, 14)) << fmt.fraction_bits
        word |= rng.getrandbits(fmt.fraction_bits) & rng.getrandbits(fmt.fraction_bits)
    elif kind < 0.75:
        word = rng.getrandbits(fmt.fraction_bits + 2)
    else:
        word = rng.getrandbits(fmt.width)
    return (word | rng.getrandbits(1) << fmt.sign_bit) & mask


def step_rows(rng: random.Random, model: FusedDotAdd, count: int) -> list[tuple[list[int], list[int], int]]:
    rows = []
    for _ in range(count):
        a, b = ([some_word(rng, fmt) for _ in range(model.k)] for fmt in (model.a_format, model.b_format))
        if rng.random() < 0.3:  # products that cancel
            a[-1], b[-1] = a[0], b[0] ^ 1 << model.b_format.sign_bit
        rows.append((a, b, some_word(rng, model.c_format)))
    return rows


def held(model: FusedDotAdd, rows: list[tuple[list[int], list[int], int]], expected: list[int]) -> None:
    words = [np.array(part, unsigned(fmt)) for part, fmt in zip(
        zip(*rows, strict=True), (model.a_format, model.b_format, model.c_format), strict=True
    )]  # fmt: skip
    got = run_words(model, Operands(*words)).tolist()
    for row, found, wanted in zip(rows, got, expected, strict=True):
        assert found == wanted, (row, hex(found), hex(wanted))


#: Of how many rows one is tried.
STEPS = mostly_long([5, 1], [5])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "row",
    [
        row
        for name in ("rdna3", "rdna4")
        for row in rows(name, claims=False)
        if isinstance(row.model, FusedDotAdd)  # integers: tests/matrix_units/catalogue/test_amd.py
    ],
    ids=lambda row: str(row.name),
)
def test_radeon(row: Any, step: int) -> None:
    """Steps in the order that FACTS.md says: pairs, or quartets with wave32's order on RDNA4."""
    model, rng = row.model, random.Random(row.name)
    a, b, d = (fmt.name for fmt in (model.a_format, model.b_format, model.d_format))
    rows = step_rows(rng, model, (1500 if model.k == 2 else 400) // step)
    expected = []
    quartets = (
        (0, 8, 4, 12) if row.architecture == "rdna4" and row.instruction.endswith("_w32") else (0, 4, 8, 12)
    )
    for left, right, c in rows:
        word = c
        if row.architecture == "rdna3":
            for lane in range(0, model.k, 2):
                word = units.gfx11_step(a, d, left[lane : lane + 2], right[lane : lane + 2], word)
        elif model.k < 16:
            word = units.gfx12_step(a, b, d, left, right, word)
        else:
            for lane in quartets:
                word = units.gfx12_step(a, b, d, left[lane : lane + 4], right[lane : lane + 4], word)
        expected.append(word)
    held(model, rows, expected)


FLOATS = {"bf16": units.BF16, "e4m3": units.E4M3, "e5m2": units.E5M2}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("row", rows("riscv", claims=False), ids=lambda row: str(row.instruction))
def test_riscv(row: Any, step: int) -> None:
    model, rng = row.model, random.Random(row.name)
    rows = step_rows(rng, model, 6000 // model.k // step)
    a, b = FLOATS[model.a_format.name], FLOATS[model.b_format.name]
    held(model, rows, [units.rvbna(a, b, left, right, c, model.k) for left, right, c in rows])


# --- MVMUL's registers: held against the oracle, and broken ---------------------------------------


NAME = "tenstorrent_mvmul_ttsim.json"
GIVEN = ROOT.parent / "shared" / "units" / NAME
CALLED = {"BF16": "bf16", "TF32": "tf32", "FP16": "f16", "FP32": "f32"}


@pytest.fixture
def simulated() -> Path:
    """The simulator's rows beside the repository."""
    if not GIVEN.is_file():
        pytest.skip(f"there is no {GIVEN}")
    return GIVEN


@pytest.mark.slow
def test_every_row_of_mvmul_replays(simulated: Path) -> None:
    found, total = set(), 0
    for dataset in unit_datasets(simulated):
        row = explaining_row(dataset)
        assert (row.architecture, row.instruction) == (dataset.architecture, dataset.interface)
        result = replay(dataset, row.model)
        assert (result.mismatches, result.examples) == (0, ()), dataset.name
        assert dataset.provenance["evidence"] == "vendor simulator"
        total += result.rows
        found.add(row.name)
    assert total == len(json.loads(simulated.read_text())["rows"])
    assert found == {row.name for name in ("wormhole", "blackhole") for row in rows(name, claims=False)}


def test_the_oracle_has_every_row(simulated: Path) -> None:
    for row in json.loads(simulated.read_text())["rows"]:
        unit = row["arch"].lower(), CALLED[row["src"]], CALLED[row["dst"]], row["phase"]
        a, b = ([int(word, 16) for word in row[side]] for side in "ab")
        assert mvmul(*unit, a, b, int(row["c"], 16)) == int(row["d"], 16), row


#: 2·3 + 1 in FP16, each word by hand: 2 has exponent field 16, 3 the same and half a unit more.
ROW: dict[str, Any] = {
    "arch": "Blackhole", "src": "FP16", "dst": "FP16", "phase": 0,
    "a": ["04000", *["0"] * 15], "b": ["04200", *["0"] * 15], "c": "07800000", "d": "08e00000",
}  # fmt: skip


def registers(path: Path, *rows: object, **others: object) -> Path:
    path.write_text(json.dumps({"rows": rows, **others}))
    return path


def test_words_of_registers_by_hand(tmp_path: Path) -> None:
    """2·3 + 1 = 7 in FP16 words."""
    (found,) = unit_datasets(registers(tmp_path / NAME, ROW, simulator="by hand"))
    assert (found.architecture, found.interface) == ("blackhole", "mvmul.f16.f16.phase0")
    operands = found.operands
    assert [int(x) for x in (operands.a[0, 0], operands.b[0, 0], operands.c[0])] == [0x4000, 0x4200, 0x3C00]
    assert int(found.d[0]) == 0x4700
    assert found.provenance == {"simulator": "by hand"}
    assert replay(found, explaining_row(found).model).mismatches == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"arch": 3}, ": unknown architecture '3'"),
        ({"arch": "Grayskull"}, ": unknown architecture 'Grayskull'"),
        ({"src": "FP8"}, ": src = 'FP8': must be one of BF16, TF32, FP16, FP32"),
        ({"phase": 4}, "'mvmul.f16.f16.phase4'"),
        ({"dst": "BF16"}, "'mvmul.bf16.f16.phase0'"),
        ({"a": ["0"]}, ".a has 1 word, but a of the first row has 16"),
        ({"b": None}, ".b is not a list of words"),
        ({"c": None}, ".c: None is not a hexadecimal word"),
        ({"c": "1ffffffff"}, ".c: '1ffffffff': a word of the register of e5m10fn has 32 bits"),
        ({"b": ["80000", *["0"] * 15]}, ".b[0]: '80000': a word of the register of e5m10fn has 19 bits"),
        ({"d": "one"}, ".d: 'one' is not a hexadecimal word"),
        ({"d": "08e00001"}, ".d: 0x8e00001 has bits that a word of e5m10fn has no place for"),
        ({"a": ["08000", *["0"] * 15]}, ".a[0]: 0x8000 has bits that a word of e5m10fn has no place for"),
    ],
)
def test_rows_of_registers_that_are_refused(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    path = registers(tmp_path / NAME, ROW, ROW | change)
    with pytest.raises(TcsmtError) as caught:
        list(unit_datasets(path))
    assert str(caught.value).startswith(f"{path}: rows[1]")
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [('{"rows": []}', "rows: there are none"), ("[1]", 'no list "rows"'), ('{"rows": 3}', 'no list "rows"')],
)
def test_files_of_registers_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / NAME
    path.write_text(text)
    with pytest.raises(TcsmtError, match=message):
        list(unit_datasets(path))


def test_a_row_of_registers_that_is_not_an_object(tmp_path: Path) -> None:
    path = registers(tmp_path / NAME, ROW, 7)
    with pytest.raises(TcsmtError, match=r"rows\[1\]: not an object"):
        list(unit_datasets(path))
