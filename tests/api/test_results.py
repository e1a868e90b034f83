"""What the public calls return: text, plain data, pictures, and the answer itself."""

from __future__ import annotations

import doctest
import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.arithmetic.words import unsigned
from tcsmt.catalogue import row_named
from tcsmt.cli import main

MODULES = ["tcsmt", *(f"tcsmt.api.{name}" for name in (
    "accuracy", "compare", "designs", "export", "find", "flaws", "formats", "identify", "pictures", "sweep",
    "units", "validate",
))]  # fmt: skip


#: Model files; searches are quick where formats are small.
TWO_LANES = "k = 2\nn_fma = 2\n"
TINY = """k = 1
n_fma = 1
a_format = "e2m1"
b_format = "e2m1"
c_format = "f16"
d_format = "f16"
fraction_bits = 6
"""


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_every_public_name_says_what_it_is() -> None:
    for name in tcsmt.__all__:
        thing = getattr(tcsmt, name)
        assert (thing.__doc__ or "").strip(), name


def test_compare_over_the_same_dot_product() -> None:
    """The smaller unit is chained; the witness is one for the simulator, too."""
    found = tcsmt.compare("volta", "ampere", confirm=False)
    assert found.equal is False and found.witness is not None
    text = str(found)
    assert "volta/mma.m8n8k4.f32.f16.f16.f32: evidence: measured, accepted; chained 4 times to K = 16" in text
    assert "the cause, with all else equal: alignment fraction bits F (23 against 24)" in text
    a, b = (np.array([[found.witness[f"{s}{i}"] for i in range(16)]], np.uint16) for s in "ab")
    c = np.array([found.witness["c"]], np.uint32)
    volta, ampere = tcsmt.unit("volta"), tcsmt.unit("ampere")
    step = c.view(np.float32)
    for first in range(0, 16, 4):
        step = volta(a[:, first : first + 4], b[:, first : first + 4], step)
    words = [int(d.view(unsigned(volta.model.d_format))[0]) for d in (step, ampere(a, b, c))]
    data = found.as_json()
    assert words == [int(r["word"], 16) for r in data["results"]]
    assert words[0] != words[1]
    assert json.loads(json.dumps(data))["cause"] in text
    assert "<svg" in found._repr_html_() and repr(found).endswith("distinguished>")


def test_equal_and_unknown() -> None:
    same = tcsmt.compare("ampere/mma.m16n8k8.f32.f16.f16.f32", "a100")
    assert same.equal is True and same.witness is None and same.sheet() is None
    assert "EQUIVALENT: both models are the same graph" in str(same)


def test_find_tells_its_progress() -> None:
    seen: list[int] = []
    report = tcsmt.find("product-normalization", "volta", progress=lambda r: seen.append(len(r.findings)))
    assert seen == [0, 1] and not report.unknown
    assert report.conclusion in str(report) and report.as_json()["property"] == "product-normalization"
    with pytest.raises(tcsmt.TcsmtError, match="unknown property 'carry'"):
        tcsmt.find("carry", "volta")


def test_explain() -> None:
    one = tcsmt.explain("volta", {"a0": 1.5, "b0": "0x3e00", "c": -0.25})
    assert str(one) == str(tcsmt.explain("volta", "a0=1.5 b0=0x3e00 c=-0.25"))
    assert one.as_svg().startswith("<svg") and "<html" in one.as_html() and one.as_json()["pictures"]
    two = tcsmt.explain("volta", "a0=0x3e00 b0=0x7600 c=0xbde40000", against="ampere")
    assert len(two.as_json()["pictures"]) == 2
    with pytest.raises(tcsmt.TcsmtError, match="unknown input 'z0'"):
        tcsmt.explain("volta", "z0=1")


@pytest.mark.parametrize(
    ("model", "formats", "dtypes"),
    [
        (TINY, ("e2m1", "e2m1", "f16", "f16"), ("float4_e2m1fn", "float16")),
        pytest.param(TWO_LANES, ("f16", "f16", "f32", "f32"), ("float16", "float32"), marks=pytest.mark.long),
    ],
)
def test_identify_a_function(
    model: str, formats: tuple[str, ...], dtypes: tuple[str, str], tmp_path: Path
) -> None:
    """A function of arrays is a box; so is a unit, whose formats need not be said."""
    mine = tcsmt.read_model(_written(tmp_path, model))
    k = mine.k
    asked = []

    def box(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        asked.append((a.shape, b.shape, c.shape, a.dtype.name, c.dtype.name))
        return np.asarray(mine(a, b, c))

    found = tcsmt.identify(box, formats=formats, k=k, budget=3)
    assert set(asked) == {((1, k), (1, k), (1,), *dtypes)} and len(asked) == 3
    assert found.verdict == "open" and found.as_json()["questions"] == 3
    assert "3 questions" in str(found)
    with pytest.raises(tcsmt.TcsmtError, match=r"give like=UNIT, or formats=\.\.\. and k"):
        tcsmt.identify(box)


def _written(folder: Path, model: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(f'base = "volta/mma.m8n8k4.f32.f16.f16.f32"\n{model}')
    return path


def test_validate(measured_data: Path) -> None:
    found = tcsmt.validate(measured_data)
    assert found.mismatches == 0 and found.rows > 70_000
    assert found.summary == str(found).splitlines()[-1] and found.as_json()["rows"] == found.rows


def test_validate_against_another_unit(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    row = {"a": ["0x3c00"] * 4, "b": ["0x3c00"] * 4, "c": "0x00000000", "d": "0x40800001"}
    rows.write_text(json.dumps({"model": "volta", "rows": [row]}))
    found = tcsmt.validate(rows)
    assert (found.rows, found.mismatches) == (1, 1)
    assert "measured 0x40800001" in str(found) and "model 0x40800000" in str(found)
    with pytest.raises(tcsmt.TcsmtError, match="nothing to compare"):
        tcsmt.validate(rows, against="hopper/wgmma.m64nNk32.f32.e4m3.e4m3")


def test_accuracy() -> None:
    assert "markidis" in tcsmt.accuracy.recipes()
    found = tcsmt.accuracy.compare("markidis", "single-f16", "volta", k=1, search=0.3, timeout=0.1)
    assert found.ever_worse in (True, None) and "markidis: volta/" in str(found)
    domain = tcsmt.Domain(exponents=(0, 0), bits=(4, 4), c_zero=True)
    bound = tcsmt.accuracy.bound("single-f16", "volta", k=1, domain=domain, search=0.3)
    assert bound.proved is not None and bound.as_json()["unit"] == row_named("volta").name
    assert "(proved)" in str(bound)


@pytest.mark.long
def test_accuracy_of_several_instructions() -> None:
    domain = tcsmt.Domain(exponents=(-2, 2), bits=(11, 11))
    fp8 = tcsmt.accuracy.bound("fp8", "h100", k=1, domain=domain, search=0.2, timeout=0.2)
    assert fp8.row.instruction == "wgmma.m64nNk32.f32.e4m3.e4m3"
    assert "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32" in fp8.others and "compute otherwise" in str(fp8)


def test_an_algorithm_against_itself_asks_nobody() -> None:
    found = tcsmt.accuracy.compare("markidis", "markidis", "volta", k=16, search=1e-6, timeout=1e-6)
    assert found.ever_worse is False
    assert "NEVER WORSE: both are the same algorithm on the same unit" in str(found)
    assert found.as_json()["scripts"] == []


def test_flaws() -> None:
    found = tcsmt.accuracy.find("sign", "markidis", "hopper", k=2, search=0.5)
    assert found.has_flaw is True and found.witness is not None and "WRONG SIGN" in str(found)
    data = json.loads(json.dumps(found.as_json()))
    assert data["unit"] == found.row.name and data["short"]["inputs"]["a0"]["word"] in str(found)
    assert "<svg" in found._repr_html_() and repr(found).endswith("distinguished>")
    with pytest.raises(tcsmt.TcsmtError, match="unknown question 'sing': did you mean sign"):
        tcsmt.accuracy.find("sing", "markidis", "volta")
    with pytest.raises(tcsmt.TcsmtError, match="k = 65: must be from 1 to 64"):
        tcsmt.accuracy.find("sign", "markidis", "volta", k=65)


def test_sweep_goes_on_from_its_file(tmp_path: Path) -> None:
    """What the call returns is what the command prints; a second call computes only what is missing."""
    file = tmp_path / "sweep.json"
    asked = {"distributions": "positive", "seeds": 1, "output": file}
    one = tcsmt.accuracy.sweep("markidis", "volta", lengths=16, **asked)  # type: ignore[arg-type]
    assert len(one.new) == len(one.records) == 1 and one.error("markidis", "volta", 16, "positive")
    both = tcsmt.accuracy.sweep("markidis", "volta", lengths=[16, 32], **asked)  # type: ignore[arg-type]
    assert [record["k"] for record in both.new] == [32] and len(both.records) == 2
    arguments = ["--algorithm", "markidis", "--arch", "volta", "--distribution", "positive"]
    arguments += ["--k", "16", "--seeds", "1"]
    printed = CliRunner().invoke(main, ["accuracy", "sweep", *arguments]).stdout
    assert printed == f"{one}\n"
    assert json.loads(json.dumps(one.as_json()))["records"][0]["k"] == 16
    assert "markidis" in one._repr_html_() and "1 records on volta" in repr(one)
    with pytest.raises(tcsmt.TcsmtError, match="no record of markidis at K = 99"):
        one.error("markidis", "volta", 99)
    with pytest.raises(tcsmt.TcsmtError, match="was made with seeds = 1, now it is 2"):
        tcsmt.accuracy.sweep("markidis", "volta", distributions="positive", lengths=16, output=file)
    with pytest.raises(tcsmt.TcsmtError, match="K = 0: must be 1 or more"):
        tcsmt.accuracy.sweep("markidis", "volta", lengths=0)
