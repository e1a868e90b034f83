"""An exported file, read back as a design, is its unit: every language, every graph of the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.catalogue import Row
from tcsmt.exports.languages import exported
from tcsmt.implementations import c_source, rtl
from tcsmt.implementations.designs import DesignFiles, read_design
from tcsmt.prove.engine import compare_models
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain
from tcsmt.statements.verdict import Equivalent, Verdict
from tests.support.exported import OWN, own_formats

#: The file's suffix for each language that is read.
SUFFIXES = {"systemverilog": ".sv", "c": ".h", "btor2": ".btor2"}


def read_back(row: Row, language: str, folder: Path, seconds: float = 60) -> Verdict:
    """Whether the file is the unit, read as ``tcsmt compare UNIT FILE`` does, without options."""
    missing = {"systemverilog": not rtl.available(), "c": not c_source.available()}.get(language, False)
    if missing:
        pytest.skip(f"nothing that reads {language} is installed")
    file = folder / f"unit{SUFFIXES[language]}"
    file.write_text(str(exported(row, language)))
    model = read_design(DesignFiles(files=[file]).like(row.model)).model
    solving = Solving(Settings(timeout=seconds))
    return compare_models(("unit", row.model), ("file", model), Domain(finite=False), solving).verdict


@pytest.mark.parametrize("language", SUFFIXES)
@pytest.mark.parametrize("name", OWN)
def test_own_formats(name: str, language: str, tmp_path: Path) -> None:
    """Floating point and fixed point, with block scales and without."""
    if name == "floats" and language == "c":
        pytest.skip("long: in the catalogue's test")
    assert isinstance(read_back(own_formats(name, tmp_path), language, tmp_path), Equivalent)
