"""Which kinds of hypotheses units of given formats have."""

import pytest

from tcsmt.identification.units.kinds import hypotheses_of
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.support.errors import TcsmtError


@pytest.mark.parametrize(
    ("formats", "kinds"),
    [
        ("f16 f16 f32 f32", ["fused-dot-add", "ieee-dot-add"]),
        ("f16 f16 f16 f32", ["fused-dot-add"]),
        ("f64 f64 f64 f64", ["ieee-dot-add"]),
        ("u8 s8 s32 s32", ["integer-dot-add"]),
    ],
)
def test_formats_decide_the_kinds(formats, kinds):
    found = hypotheses_of(map(format_named, formats.split()), 4)
    assert [one.kind.kind for one in found] == kinds
    assert all(one.k == 4 and [f.name for f in one.formats] == formats.split() for one in found)


@pytest.mark.parametrize("formats", ["f16 f16 f32 e4m3", "f64 f64 f32 f64", "u8 f16 s32 s32"])
def test_formats_without_hypotheses_are_refused(formats):
    with pytest.raises(TcsmtError, match="identify: "):
        hypotheses_of(map(format_named, formats.split()), 4)
