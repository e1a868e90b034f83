"""A design's file with options as a text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcsmt.face.api.units import side_of
from tcsmt.matrix_units.resolve import reference
from tcsmt.outside.implementations.design_texts import design_side, named_values
from tcsmt.outside.implementations.designs import DesignFiles, read_design
from tcsmt.support.errors import TcsmtError

BTOR2 = "1 sort bitvec 8\n2 input 1 in_a\n3 input 1 b\n4 input 1 c\n5 add 1 2 3\n6 add 1 5 4\n7 output 6 d\n"
FORMATS = ",".join(f"format={name}=u8" for name in "abcd")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.btor2"
    path.write_text(BTOR2)
    return path


def test_options_of_a_text_are_those_of_the_command(file: Path) -> None:
    side = side_of(f"{file},port=a=in_a,{FORMATS}")
    files = DesignFiles(files=[file], ports=("a=in_a",), formats=dict.fromkeys("abcd", "u8"))
    assert side.row.model == read_design(files).model
    assert reference(side.text, side.row) == f"{file},port=a=in_a,{FORMATS}"
    assert design_side(f"{file},{FORMATS}", DesignFiles(files=(), ports=("a=in_a",))).row == side.row


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("prt=a=in_a", "unknown option of a design 'prt': did you mean port?"),
        ("port=a=in_a,lke=volta", "unknown option of a design 'lke': did you mean like?"),
        ("cycles=two", "cycles=two: must be a number"),
        ("hold=1", "hold=1: expected hold"),
        ("port", "port: expected port=VALUE"),
        ("format=a", "format a: expected NAME=VALUE"),
        ("like=hoper", "unknown architecture 'hoper': did you mean hopper?"),
    ],
)
def test_a_wrong_option_is_named(options: str, message: str, file: Path) -> None:
    with pytest.raises(TcsmtError, match=re.escape(message)):
        side_of(f"{file},{options}")


def test_pairs_are_given_once() -> None:
    assert named_values("--param", ["A=1", "B=x=y"]) == {"A": "1", "B": "x=y"}
    with pytest.raises(TcsmtError, match="--param A=2: A is given twice"):
        named_values("--param", ["A=1", "A=2"])
