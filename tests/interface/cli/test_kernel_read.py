"""``tcsmt kernel read``: a program of PTX, its file, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import done, refused
from tests.support.compiled import TEXTS

_FILE = TEXTS / "f16_sm80.ptx"
_ARGUMENTS = "A,B,D,64,64,64,64,64,64"


def test_a_program_is_printed_and_written(tmp_path: Path) -> None:
    file = tmp_path / "matmul.toml"
    text = done("kernel", "read", _FILE, "--arguments", _ARGUMENTS, "--output", file)
    assert "v0 = chain(U, A·B over K, +0)\nd = convert(v0, f16)" in text
    assert "A·B over K" in done("describe", f"{file}@64", "--steps")
    words = ("--block", 1, 0, 0, "--element", 64 * 16 + 3, "--target", "h100", "--json")
    data = json.loads(done("kernel", "read", _FILE, "--arguments", _ARGUMENTS, *words))
    assert (data["element"], data["target"], data["k"]) == (64 * 16 + 3, "hopper", 64)


def test_what_is_not_read_is_an_error(tmp_path: Path) -> None:
    assert "argument 4 of matmul is missing" in refused("kernel", "read", _FILE, "--arguments", "A,B,D")
    words = ("kernel", "read", _FILE, "--arguments", _ARGUMENTS)
    assert "the name must end in .toml" in refused(*words, "--output", tmp_path / "x.txt")
    assert "element 5000 is not stored by this block" in refused(*words, "--element", 5000)
