"""How property modules are found: shipped ones, a folder of one's own, and modules that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tcsmt.interface.cli import main
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.properties.discovery import load, properties
from tests.support.paths import ROOT


def test_the_first_instruction_to_which_a_property_applies_is_asked() -> None:
    from tcsmt.surveys.properties.discovery import choose_row

    row = choose_row(load("exact-sum-f16"), rows("volta", claims=False))
    assert row is row_named("volta/mma.m8n8k4.f16.f16.f16.f16")
    with pytest.raises(TcsmtError, match="does not apply to any instruction of volta: the op"):
        choose_row(load("tf32-truncation"), rows("volta", claims=False))


OWN = '''"""Whether c alone passes through."""

from dataclasses import replace

from tcsmt.investigation import Claim, Distinguished, Investigation, Row

CLAIMS = (Claim(source="me", section="1", statement="it does"),)


def applies(row: Row) -> str:
    """Only FP32."""
    return "" if row.model.d_format.name == "f32" else "not FP32"


def investigate(ask: Investigation) -> str:
    """Two roundings."""
    unit = ask.unit
    verdict = ask.differ("modes", ("RTZ", unit), ("RNE", unit.replace(rounding="RNE")))
    return "yes" if isinstance(verdict, Distinguished) else "no"
'''


def find(folder: Path, name: str, *more: str) -> Result:
    arguments = ["find", "--property", name, "--arch", "volta", "--folder", str(folder), *more]
    return CliRunner().invoke(main, arguments)


def refused(result: Result, *words: str) -> None:
    """Exit code 2, one error, no traceback."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.output


def test_properties_of_a_given_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "my_own.py").write_text(OWN)
    (tmp_path / "_helper.py").write_text("raise RuntimeError")
    result = find(tmp_path, "my-own")
    assert result.exit_code == 0, result.output
    assert "my-own: Whether c alone passes through." in result.stdout
    assert "answer: yes" in result.stdout
    assert "claimed: me, 1: it does" in result.stdout
    listed = CliRunner().invoke(main, ["properties", "--folder", str(tmp_path)])
    assert "my-own " in listed.stdout
    assert "helper" not in listed.stdout
    refused(find(tmp_path, "my-own", "--instruction", "f16.f16.f16.f16"), "not FP32")


def test_the_module_in_the_guide_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "property-module.md").read_text()
    (module,) = [t for t in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def investigate(" in t]
    (tmp_path / "mine.py").write_text(module)
    result = find(tmp_path, "mine")
    assert result.exit_code == 0, result.output
    assert "answer: Distinguished" in result.stdout


def test_a_module_replaces_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "carry_bits.py").write_text(OWN)
    assert properties([tmp_path])["carry-bits"].title == "Whether c alone passes through."
    assert properties()["carry-bits"].title != "Whether c alone passes through."


ASK = "def investigate(ask):\n"
BAD = {
    "top level": ("import math\n\nmath.sqrt(-1)\n", "line 3: ValueError("),
    "investigate": (f"{ASK}    x = 1\n    return ask.nothing\n", "line 3: AttributeError: "),
    "deeper": (f"def f():\n    return 1 / 0\n\n\n{ASK}    return f()\n", "line 2: ZeroDivisionError: "),
    "applies": (f"def applies(row):\n    return row.colour\n\n\n{ASK}    pass\n", "line 2: AttributeError: "),
    "parameter": (f"from dataclasses import replace\n{ASK}    ask.unit.replace(k=0)\n", "k = 0"),
    "no investigate": ("'''A title.'''\n", "a property module must define investigate(ask)"),
    "no function": ("investigate = 3\n", "a property module must define investigate(ask)"),
    "syntax": ("x = 1\ndef f(:\n", "line 2"),
    "another home": (
        "from tcsmt.surveys.investigations import Claim\n",
        "line 1: No module named 'tcsmt.surveys.investigations'; property modules import all that they need",
    ),
    "another name": ("from tcsmt.investigation import Claims\n", "line 1: cannot import name 'Claims' from"),
    "another library": ("import nothing.of_the_kind\n", "line 1: ModuleNotFoundError("),
    "exit": ("raise SystemExit(5)\n", "line 1: SystemExit(5)"),
    "exit later": (f"{ASK}    raise SystemExit(5)\n", "line 2: SystemExit: 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_failing_modules_are_reported_with_their_line(case: str, tmp_path: Path) -> None:
    text, words = BAD[case]
    (tmp_path / "my_own.py").write_text(text)
    refused(find(tmp_path, "my-own"), words, "" if case == "parameter" else "my_own.py")


def test_no_folder(tmp_path: Path) -> None:
    refused(find(tmp_path / "none", "carry-bits"), "no folder of property modules ")


def test_installations_without_the_shipped_modules_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tcsmt.surveys.properties.discovery.resources.files", lambda package: tmp_path / package
    )
    refused(CliRunner().invoke(main, ["properties"]), "not fully installed", str(tmp_path / "properties"))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "my_own.py").write_bytes(b"'''\xff\xfe'''\x00")
    refused(find(tmp_path, "my-own"), "my_own.py")


def test_claims_of_every_module() -> None:
    for name in properties():
        prop = load(name)
        assert prop.about.title
        assert prop.claims
        for claim in prop.claims:
            assert claim.source
            assert claim.section
            assert claim.statement
