"""Programs that no term says all of: each step in a table, with what it loses of the result."""

from __future__ import annotations

import re
from pathlib import Path

import tcsmt

RESIDUES = """
a_format = "f64"
b_format = "f64"
c_format = "f64"
program = '''
a, b = maximum(exponent(A), over K, nan=ignored), maximum(exponent(B), over K, nan=ignored)
A0 = digits(A, a, s64, 1, RTZ, bits=7)
B0 = digits(B, b, s64, 1, RTZ, bits=7)
x, y = residue(A0, s8, modulus=256), residue(B0, s8, modulus=256)
r = exact_sum(1·chain(UNIT, x·y over K, +0), modulus=256)
x, y = residue(A0, s8, modulus=255), residue(B0, s8, modulus=255)
s = exact_sum(1·chain(UNIT, x·y over K, +0), modulus=255)
n = exact_sum(65025·r, 256·s, modulus=65280)
d = add(scale(n, a, b, f64, shift=12), c, f64)
'''
[units]
UNIT = "ampere/mma.m16n8k32.s32.s8.s8.s32"
"""


def test_residues(tmp_path: Path) -> None:
    """Of 1.25·1.5 + 2^-60: integers 80 and 96, whose product has the residues 0 and 30; c is lost."""
    file = tmp_path / "residues.toml"
    file.write_text(RESIDUES)
    text = str(tcsmt.explain(f"{file}@2", "a0=1.25 b0=1.5 c=0x1p-60"))
    words = dict(re.findall(r"^  (\S.*?) {2,}0x(\w+)", text, re.MULTILINE))
    assert int(words["a0, word 0"], 16) == 80 and int(words["b0, word 0"], 16) == 96
    assert {int(word, 16) for name, word in words.items() if name.startswith("computed")} >= {30, 7680}
    assert words["result"] == "3ffe000000000000"
    (lost,) = re.findall(r"lost by steps +(\S+)", text)
    assert lost == "2^-60"
