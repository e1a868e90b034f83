"""``tcsmt.design``: a design as a unit, its ports and constants by keyword."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tcsmt

#: d = (a · b + c) xor mask, of eight bits.
LINES = """1 sort bitvec 8
2 input 1 left
3 input 1 right
4 input 1 c
5 input 1 mask
6 mul 1 2 3
7 add 1 6 4
8 xor 1 7 5
9 output 8 d
"""
PORTS = {"a": "left", "b": "right"}
BYTES = dict.fromkeys("abcd", "u8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mac.btor2"
    path.write_text(LINES)
    return path


def test_a_design_computes_as_it_is_written(file: Path) -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.integers(0, 256, 50).astype(np.uint8) for _ in "abc")
    for mask in (0, 0x5A):
        unit = tcsmt.design(file, ports=PORTS, constants={"mask": mask}, formats=BYTES)
        assert unit.k == 1
        expected = [(int(x) * int(y) + int(z)) % 256 ^ mask for x, y, z in zip(a, b, c, strict=True)]
        assert unit(a[:, None], b[:, None], c).tolist() == expected


def test_like_takes_the_formats_of_a_unit(file: Path) -> None:
    """What is like the first design is compared with it: the mask is seen."""
    plain = tcsmt.design(file, ports=PORTS, constants={"mask": 0}, formats=BYTES)
    masked = tcsmt.design(file, ports=PORTS, constants={"mask": 1}, like=plain)
    found = tcsmt.compare(plain, masked, options=tcsmt.SolvingOptions(confirm=False))
    assert found.equal is False
    again = tcsmt.design(file, ports=PORTS, constants={"mask": 0}, like=plain)
    assert tcsmt.compare(plain, again, options=tcsmt.SolvingOptions(confirm=False)).equal is True


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ports": {"a": "lift", "b": "right"}}, "unknown input 'lift': did you mean left"),
        ({"constants": {}}, "d depends on the input mask"),
        ({"constants": {"mask": 256}}, "mask=256: mask has 8 bits"),
        ({"formats": {}}, "no format for a, b, c, d"),
        ({"formats": BYTES | {"d": "f16"}}, "port 'd': 8 bits, but the result is f16: 16 bits"),
    ],
)
def test_ports_and_formats_that_do_not_fit_are_refused(
    changed: dict[str, object], message: str, file: Path
) -> None:
    given = {"ports": PORTS, "constants": {"mask": 0}, "formats": BYTES} | changed
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.design(file, **given)
