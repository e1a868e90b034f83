"""Types as slang writes them, and where their parts lie."""

from __future__ import annotations

import pytest

from tcsmt.interop.implementations.verilog_types import PortPart, VerilogArray, VerilogRecord, read_type
from tcsmt.support.errors import TcsmtError

NAMED = {
    "94001": {"kind": "TypeAlias", "target": "logic[7:4]"},
    "94002": {"kind": "TypeAlias", "target": "struct packed{94001 p::nib n;logic[0:1][2:0] y;}p::s$1"},
    "94003": {"kind": "EnumType", "members": [{"kind": "EnumValue", "value": "-3'sd1"}]},
    "94004": {"kind": "EnumType", "members": [{"kind": "EnumValue", "value": "7"}]},
    "94005": {
        "kind": "EnumType",
        "members": [{"kind": "EnumValue", "value": "2'b0"}, {"kind": "EnumValue", "value": "3'b0"}],
    },
    "m.T": {"kind": "TypeAlias", "target": "reg[0:3]"},
}


@pytest.mark.parametrize(
    ("text", "width", "packed"),
    [
        ("logic", 1, True),
        ("logic signed[3:0]", 4, True),
        ("logic[3:0]$[0:3]", 16, False),
        ("logic[0:3][1:0]$[2:1][0:4]", 80, False),
        ("int", 32, True),
        ("byte$[0:1]", 16, False),
        ("integer", 32, True),
        ("94001 p::nib", 4, True),
        ("94001 p::nib[1:0]$[0:2]", 24, False),
        ("94002 p::st", 10, True),
        ("94002 p::st[1:0]", 20, True),
        ("struct{94001 p::nib n;94002 p::st$[0:1] s;}p::s$3", 24, False),
        ("struct packed signed{logic[3:0] k;}t.s$1$[0:1]", 8, False),
        ("union packed{logic[3:0] u;94001 p::nib v;}p::u$1", 4, True),
        ("94003 m.e", 3, True),
        ("94004 m.f[1:0]", 64, True),
        ("94999 m.T$[1:0]", 8, False),
    ],
)
def test_widths(text: str, width: int, packed: bool) -> None:
    found = read_type(text, NAMED)
    assert (found.width, found.packed) == (width, packed)


@pytest.mark.parametrize(
    "text",
    ["real", "string", "logic[3:0]$[]", "94998 m.U", "94005 m.g", "union{logic u;int v;}t.u$1", "void", "",
     "logic[3:0]$[0:1][0:1] more", "struct packed{logic[3:0];}t.s$1", "logic$[0:1][1:0]x",
     "struct{logic[1:0] a;}t.s$1[1:0]", "event", "logic[3:0]$[$]"],
)  # fmt: skip
def test_types_that_are_no_bits_are_refused(text: str) -> None:
    with pytest.raises(TcsmtError, match=r"the type .* is not supported"):
        read_type(text, NAMED)


def test_where_parts_lie() -> None:
    """The left index and the first member are the most significant."""
    whole = PortPart(read_type("94002 p::st$[1:2]", NAMED), 0, "v")
    assert (whole.low, whole.high) == (0, 19)
    first = whole.element(1)
    assert (first.low, first.high, first.text) == (10, 19, "v[1]")
    assert (first.member("n").low, first.member("n").high) == (16, 19)
    assert whole.selected("[2].y[1]").low == 0 and whole.selected("[2].y[0]").low == 3
    assert whole.selected("[2].n[7:6]").low == 8 and whole.selected("[2].n[5]").low == 7
    assert whole.selected("[2].y[0:1]").high == 5
    array = read_type("logic[0:7]", {})
    assert isinstance(array, VerilogArray) and array.offset(0) == 7 and not array.descends
    record = read_type("union packed{logic[3:0] u;logic[0:3] v;}p::u$1", {})
    assert isinstance(record, VerilogRecord) and record.offset("v") == 0


@pytest.mark.parametrize(
    ("selects", "said"),
    [
        ("[3]", "v[3]: v has the elements 1 to 2"),
        (".n", "v.n: v is not a structure"),
        ("[1].z", "unknown member of v[1] 'z'"),
        ("[1].n[6:7]", "v[1].n is declared [7:4]: give [7:6]"),
        ("[1].n[7:3]", "v[1].n has the elements 4 to 7"),
        ("[1].n[4][0]", "v[1].n[4] is not an array"),
        ("[x]", "v[x]: expected [INDEX], [LEFT:RIGHT] or .MEMBER"),
        ("[1+:2]", "expected [INDEX]"),
    ],
)
def test_selects_that_choose_nothing(selects: str, said: str) -> None:
    with pytest.raises(TcsmtError) as caught:
        PortPart(read_type("94002 p::st$[1:2]", NAMED), 0, "v").selected(selects)
    assert said in str(caught.value)
