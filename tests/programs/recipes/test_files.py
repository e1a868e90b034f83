"""Algorithms in TOML files: the same as the named ones, and errors that name the line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.recipes.named import RECIPES, algorithm_named, recipe_named
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done, refused

OOTOMO = """# as ootomo-halfhalf
format = "f16"
words = 2
scale = 11
c = "last"

[[sum]]
products = [[0, 0]]
every = "instruction"

[[sum]]
products = [[1, 0], [0, 1]]
"""
THREE = """title = "two bf16 words, three products"
format = "bf16"
words = 2
c = "last"
[[sum]]
products = [[1, 0], [0, 1], [0, 0]]
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_a_file_that_says_what_a_named_algorithm_is(tmp_path: Path) -> None:
    found, known = recipe_named(written(tmp_path, OOTOMO)), RECIPES["ootomo-halfhalf"]
    assert replace(found, name="", title="", source="") == replace(known, name="", title="", source="")


def test_a_file_that_changes_a_named_algorithm(tmp_path: Path) -> None:
    text = 'base = "markidis"\nsplit = "RTZ"\ninterleaved = false\nc = "last"\n'
    found, known = (
        recipe_named(written(tmp_path, text)),
        recipe_named("markidis,split=RTZ,interleaved=no,c=last"),
    )
    assert (found.split, found.sums, found.c_enters, found.interleaved) == (
        known.split, known.sums, known.c_enters, known.interleaved,
    )  # fmt: skip
    changed = recipe_named(written(tmp_path, text) + ",split=RNE")
    assert changed.split == RECIPES["markidis"].split
    assert changed.name.endswith("mine.toml,split=RNE")


@pytest.mark.library
def test_a_file_on_a_unit_computes_by_its_words(tmp_path: Path) -> None:
    algorithm, row = algorithm_named(written(tmp_path, THREE), "hopper", 32)
    assert row.model.a_format.name == "bf16"
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 8, 32)).astype(np.float32)
    error = np.abs(multiply(algorithm, a, b.T) - a.astype(float) @ b.T.astype(float)).max()
    one = algorithm_named("single-bf16", "hopper", 32)[0]
    alone = np.abs(multiply(one, a, b.T) - a.astype(float) @ b.T.astype(float)).max()
    assert error < alone / 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (THREE.replace("words = 2", "words = 9"), "mine.toml:3: words = 9: must be from 1 to 8"),
        (THREE.replace("words = 2", 'words = "2"'), "mine.toml:3: words = '2': must be an integer"),
        (THREE.replace("bf16", "bf17"), "mine.toml:2: unknown format 'bf17'"),
        (
            THREE.replace('c = "last"', 'c = "end"'),
            "mine.toml:4: unknown c 'end': allowed: unit, first, last",
        ),
        (THREE.replace("words", "word"), "mine.toml:3: unknown key of a recipe 'word': did you mean words"),
        (
            THREE.replace("[0, 0]]", "[0, 2]]"),
            "mine.toml:6: products = [[1, 0], [0, 1], [0, 2]]: must be pairs",
        ),
        (OOTOMO.replace('"instruction"', "-1"), "mine.toml:9: every = -1: must be"),
        (OOTOMO.replace("products = [[1", "product = [[1"), "mine.toml:12: unknown key of [[sum]] 'product'"),
        ('format = "bf16"\n', "without base, these are needed: words, sum"),
        ('base = "markidi"\n', "mine.toml:1: unknown algorithm 'markidi': did you mean markidis"),
        ("words = = 2\n", "mine.toml:1: not TOML"),
        ('base = "markidis"\ninterleaved = "no"\n', "mine.toml:2: interleaved = 'no': must be true or false"),
        ('base = "markidis"\nsplit = "RNX"\n', "mine.toml:2: "),
    ],
)
def test_errors_name_the_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TcsmtError) as error:
        recipe_named(written(tmp_path, text))
    assert message in str(error.value)


def test_commands_take_files(tmp_path: Path) -> None:
    name = written(tmp_path, THREE)
    options = ["--unit", "hopper", "--k", "1", "--c-zero", "--exponents=0:0", "--search", "0.2"]
    shown = done("accuracy", "compare", name, "single-bf16", *options, "--timeout", "1", code=1)
    assert "WORSE" in shown or "NEVER" in shown
    swept = done(
        "accuracy",
        "sweep",
        "--algorithm",
        name,
        "--unit",
        "hopper",
        "--k",
        "16",
        "--distribution",
        "positive",
    )
    assert "mine.toml" in swept
    assert (
        "no such file"
        in refused("accuracy", "bound", str(tmp_path / "none.toml"), "--unit", "hopper").lower()
    )


@pytest.mark.long
def test_a_certificate_has_all_of_a_files_algorithm(tmp_path: Path) -> None:
    """Its statement names no file, and is checked without it."""
    text = 'format = "bf16"\nwords = 2\ncompensated = "kahan"\nc = "last"\n'
    name = written(tmp_path, f'{text}[[sum]]\nproducts = [[0, 0], [1, 0]]\nevery = "instruction"\n')
    where = ["--unit", "ampere", "--exponents", "0:0", "--bits", "8", "8", "--search", "0.1"]
    proofs = tmp_path / "proofs"
    assert "certificate: " in done("accuracy", "bound", name, *where, "--certificate", proofs)
    Path(name).unlink()
    shown = done("certificate", "check", proofs)
    assert "sums=0.0+1.0@instruction" in shown and "compensated=kahan" in shown
    assert "all proved: 1 statement" in shown


def test_a_file_says_how_long_the_first_chain_is(tmp_path: Path) -> None:
    sums = "[[sum]]\nproducts = [[0, 0]]\nevery = 128\nfirst = "
    text = f'format = "e4m3"\nwords = 1\nc = "last"\n{sums}'
    found = recipe_named(written(tmp_path, f'{text}"instruction"\n'))
    assert found.sums == RECIPES["cutlass-fp8"].sums
    with pytest.raises(TcsmtError, match=r"mine.toml:7: first = 1\.5: must be"):
        recipe_named(written(tmp_path, f"{text}1.5\n"))
    with pytest.raises(TcsmtError, match=r"sums .*first from 0 to every"):
        algorithm_named(written(tmp_path, f"{text}129\n"), "ada")
