"""What is said of quantisers."""

from __future__ import annotations

import tcsmt
from tcsmt.interface.api.quantisers import block_text, is_quantiser, word_text
from tcsmt.matrix_units.arithmetic.formats import FORMATS


def test_a_row() -> None:
    """Its formula, evidence and device; what becomes of zeros, subnormal numbers, infinities and NaNs."""
    row = tcsmt.quantiser("te/nvfp4")
    facts = row.as_json()
    assert facts["device"] == "any" and facts["evidence"] == "ran" and facts["given"] == ["T"]
    assert facts["ends"]["zeros"] == {"scale": "0x00", "elements": "0x0 0x0"}
    assert "  s = e4m3(min(m * (g * (1 / 6)), 448))" in str(row).splitlines()
    text = str(tcsmt.quantiser("deepseek-v3/act_quant"))
    assert "only approximations are known: div.full.f32" in text
    assert "the recipe mxfp8 gives the same bits" in str(tcsmt.quantiser("torchao/to_mx.floor"))
    assert "by which elements are divided" in str(tcsmt.quantiser("torchao/float8.rowwise"))


def test_the_list() -> None:
    """All rows, and what is left out with its reason."""
    listed = tcsmt.quantisers()
    assert len(listed.quantisers) == len(listed.as_json()["quantisers"]) > 70
    assert "te/delayed-scaling: the factor is made of earlier calls" in str(listed)
    assert is_quantiser("te/mxfp8:e5m2") and not is_quantiser("h100")
    assert [block_text(one) for one in ((0, 0), (1, 0), (1, 32))] == ["tensor", "row", "1x32"]
    words = [word_text(FORMATS["e4m3"], word) for word in (0x7F, 0x7E)]
    assert words == ["0x7f (nan)", "0x7e (448)"]
