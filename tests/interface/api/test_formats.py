"""Values of formats, one's own among them, against ml_dtypes' and gfloat's tables."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.format_tables import format_of_table
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, Specials
from tests.support.command_line import done, refused
from tests.support.exported import OWN

#: Formats of one's own that ml_dtypes has, too: the dtype, and the table.
PEERS: dict[str, dict[str, Any]] = {
    "float8_e3m4": {"exponent_bits": 3, "fraction_bits": 4},
    "float8_e4m3": {"exponent_bits": 4, "fraction_bits": 3},
    "float8_e4m3b11fnuz": {
        "exponent_bits": 4, "fraction_bits": 3, "bias": 11, "specials": "negative-zero-nan",
    },
    "float8_e8m0fnu": {"exponent_bits": 8, "fraction_bits": 0, "specials": "nan-only", "signed": False},
    "int4": {"bits": 4},
    "uint4": {"bits": 4, "signed": False},
    "int2": {"bits": 2},
}  # fmt: skip
#: Such as nobody has.
OTHERS: list[dict[str, Any]] = [
    {"exponent_bits": e, "fraction_bits": m, "bias": bias, "specials": specials, "signed": signed}
    for e, m, bias in ((3, 4, 3), (5, 3, 20), (2, 5, 1), (4, 2, 0), (5, 1, 15))
    for specials in ("ieee", "nan-only", "negative-zero-nan", "none")
    for signed in (True, False)
    if signed or specials != "negative-zero-nan"
]


def holds(fmt: AnyFormat, word: int, value: float) -> bool:
    """Whether a word's value is a float's."""
    if math.isnan(value):
        return fmt.is_nan(word)
    if math.isinf(value):
        return fmt.is_infinite(word) and fmt.describe(word) == ("inf" if value > 0 else "-inf")
    signed_zero = value == 0 and fmt.has_negative_zero
    return fmt.value(word) == Fraction(value) and (
        not signed_zero or (fmt.describe(word)[0] == "-") == (math.copysign(1, value) < 0)
    )


@pytest.mark.parametrize("peer", PEERS)
def test_tables_of_ml_dtypes(peer: str) -> None:
    fmt = format_of_table("own", PEERS[peer])
    dtype = getattr(ml_dtypes, peer)
    words = np.arange(1 << fmt.width, dtype=np.uint8)
    values = words.view(dtype).astype(np.float64).tolist()
    assert len(words) == len(tcsmt.FormatValues(fmt).words)
    assert all(holds(fmt, word, value) for word, value in enumerate(values))


def as_gfloat(fmt: Format) -> Any:
    """The format as gfloat describes it."""
    gfloat = pytest.importorskip("gfloat", reason="the extra `oracle` is not installed")
    top = 1 << fmt.fraction_bits
    nans = {Specials.IEEE: top - 1, Specials.NAN_ONLY: 1}.get(fmt.specials, 0)
    return gfloat.FormatInfo(
        name=fmt.name, k=fmt.width, precision=fmt.precision, bias=fmt.bias, is_signed=fmt.signed,
        domain=gfloat.Domain.Extended if fmt.has_infinity else gfloat.Domain.Finite,
        has_nz=fmt.has_negative_zero, num_high_nans=nans, has_subnormals=fmt.has_subnormals,
        is_twos_complement=False,
    )  # fmt: skip


def test_values_by_gfloat() -> None:
    """Every word of narrow formats: the known ones whose words have no other bits, and others."""
    gfloat = pytest.importorskip("gfloat", reason="the extra `oracle` is not installed")
    known = [f for f in FORMATS.values() if f.width <= 8 and not (f.ignored_low_bits or f.ignored_high_bits)]
    for fmt in [*known, *(format_of_table("own", table) for table in OTHERS)]:
        assert isinstance(fmt, Format)
        info = as_gfloat(fmt)
        for word in range(1 << fmt.width):
            assert holds(fmt, word, gfloat.decode_float(info, word).fval), (fmt, word)


def test_landmarks() -> None:
    found = tcsmt.describe_format("e4m3")
    value = {name: found.format.describe(word) for name, word in found.landmarks.items()}
    assert value == {
        "lowest": "-1.75·2^8", "zero": "0", "smallest subnormal": "2^-9", "largest subnormal": "1.75·2^-7",
        "smallest normal": "2^-6", "one": "1", "largest": "1.75·2^8", "NaN": "nan",
    }  # fmt: skip
    assert list(tcsmt.describe_format("f16").words) == []
    tf32 = tcsmt.describe_format("tf32")
    assert tf32.landmarks["smallest subnormal"] == 1 << 13
    assert tcsmt.describe_format("int8").landmarks == {
        "lowest": 128,
        "zero": 0,
        "smallest step": 1,
        "one": 1,
        "largest": 127,
    }


def test_command(tmp_path: Path) -> None:
    lines = done("describe", "--format", "e2m1").splitlines()
    assert lines[0] == "e2m1: 4 bits"
    assert lines[-9:] == [
        "  0x7  1.5·2^2  6", "  0x8  -0", "  0x9  -2^-1  -0.5", "  0xa  -1", "  0xb  -1.5", "  0xc  -2^1  -2",
        "  0xd  -1.5·2^1  -3", "  0xe  -2^2  -4", "  0xf  -1.5·2^2  -6",
    ]  # fmt: skip
    model = tmp_path / "mine.toml"
    model.write_text(OWN["floats"])
    assert "  largest:            0x7f  1.9375·2^4  31" in done("describe", model, "--format", "e3m4")
    assert "unknown format 'e9m9'" in refused("describe", "--format", "e9m9")
    assert "unknown format 'e3m4'" in refused("describe", "volta", "--format", "e3m4")
    assert "expected a UNIT, or --format NAME" in refused("describe")
