"""A unit in a language by its name: what is known of the file besides its text."""

from __future__ import annotations

import pytest

from tcsmt import __version__
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.outside.exports.languages import LANGUAGES, exported
from tcsmt.support.errors import TcsmtError

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")


@pytest.mark.parametrize("language", LANGUAGES)
def test_exports_name_their_unit_language_and_latency(language: str) -> None:
    made = exported(VOLTA, language, name="dot")
    verilog = language == "systemverilog"
    assert (made.unit, made.language, made.name) == (VOLTA.name, language, "dot")
    assert str(made) == made.text and made.text.endswith("\n")
    assert (made.testbench is not None, made.latency) == (verilog, 0 if verilog else None)
    assert made.as_json() == {
        "tcsmt": __version__, "unit": VOLTA.name, "language": language, "name": "dot",
    } | ({"latency": 0} if verilog else {})  # fmt: skip
    lines = len(made.text.splitlines())
    assert repr(made) == f"<Exported dot: {VOLTA.name} in {language}, {lines} lines>"


def test_the_name_is_made_from_the_unit_s() -> None:
    assert exported(VOLTA, "c").name == "tcsmt_volta_mma_m8n8k4_f32_f16_f16_f32"


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "systemverilog"])
def test_a_pipeline_is_systemverilog_s(language: str) -> None:
    with pytest.raises(TcsmtError, match=f"in systemverilog, not in {language}"):
        exported(VOLTA, language, pipeline=True)


def test_unknown_languages_are_refused() -> None:
    with pytest.raises(TcsmtError, match="unknown language 'verilog': did you mean systemverilog"):
        exported(VOLTA, "verilog")
