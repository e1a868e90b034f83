"""``tcsmt accuracy bound``: what it prints, and how it ends."""

import json
import struct
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from tcsmt.analysis.search import bound
from tcsmt.interface.cli import main
from tests.oracles.rationals import rounded
from tests.support.command_line import done, refused


@pytest.mark.slow
def test_bound_on_the_command_line() -> None:
    where = ["--unit", "volta", "--exponents", "0:0", "--bits", "4", "4"]
    arguments = ["accuracy", "bound", "single-f16", *where]
    options = ["--positive", "--c-zero", "--search", "0.2", "--timeout", "20"]
    shown = CliRunner().invoke(main, [*arguments, *options])
    assert shown.exit_code == 0, shown.output
    assert "none at all" in shown.output  # a product of 4-bit numbers has 8 bits
    two = ["accuracy", "bound", "fp32-fma", "--unit", "hopper", "--k", "8", "--exponents", "0:0"]
    data = json.loads(CliRunner().invoke(main, [*two, "--search", "0.2", "--json"]).output)
    assert data["relative"]["relative"] < data["proved"] < 9
    assert abs(sum(data["shares"].values()) - data["proved"]) < 1e-9
    wide = [
        "accuracy",
        "bound",
        "single-bf16",
        "--unit",
        "ampere",
        "--exponents",
        "62:64",
        "--bits",
        "8",
        "8",
    ]
    open_ended = CliRunner().invoke(main, [*wide, "--k", "2", "--search", "0.2", "--timeout", "5"])
    assert open_ended.exit_code == 3
    assert "found, not proved" in open_ended.output
    assert "a fused sum may overflow" in open_ended.output


LONG = ("accuracy", "bound", "fp32-fma", "--unit", "hopper", "--exponents", "0:0", "--search", "0.2")


@pytest.mark.long
@pytest.mark.parametrize("k", [50, 8192])
def test_long_dot_products(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound holds for any K; the search changes the first products, the error is that of all."""
    monkeypatch.setattr(bound, "SEARCHED", 2)
    text = done(*LONG, "--k", k)
    assert "·2^-24 (proved)" in text
    assert f"  a1..a{k - 1} = 0x" in text
    assert "proved without a solver" in text
    assert "the search changed the first 2 products only; the others repeat them, or are zero" in text
    data = json.loads(done(*LONG, "--k", k, "--json"))
    assert len(data["relative"]["inputs"]) >= 2 * k
    assert data["searched"] == 2
    # how much is found depends on the machine's other work; that it is the error of all products does not
    assert data["relative"]["relative"] == pytest.approx(float(_lost(data["relative"]["inputs"], k) / U))
    # k roundings to nearest, each of a sum that has the errors before it: (1 + u)^k - 1
    most = float(((1 + U) ** k - 1) / U)
    assert data["relative"]["relative"] < data["proved"] == pytest.approx(most, rel=1e-12)


#: Half of the last bit of 1 in binary32.
U = Fraction(1, 1 << 24)


def _lost(inputs: dict[str, Any], k: int) -> Fraction:
    """The error of a chain of multiply-adds in binary32, relative to the sum of all magnitudes."""

    def value(name: str) -> Fraction:
        word = inputs[name]["word"] if name in inputs else "0x0"
        return Fraction(struct.unpack(">f", bytes.fromhex(word[2:].zfill(8)))[0])

    products = [value(f"a{n}") * value(f"b{n}") for n in range(k)]
    total = value("c")
    for product in products:
        total = rounded(total + product, 24, -126, "RNE")
    exact = value("c") + sum(products)
    return abs(total - exact) / (abs(value("c")) + sum(map(abs, products)))


def test_lengths_beyond_what_is_allowed() -> None:
    assert "k = 65537: must be from 1 to 65536" in refused(*LONG, "--k", 65537)
    assert "k = 0: must be from 1 to 65536" in refused(*LONG, "--k", 0)


def test_bounds_of_emulations_count_in_binary64_units() -> None:
    where = ["--unit", "turing", "--exponents=0:0", "--c-zero", "--search", "0.1"]
    data = json.loads(done("accuracy", "bound", "ozaki1-int8,slices=1", *where, "--k", "2", "--json"))
    assert data["in"] == "2^-53"
    assert data["relative"]["relative"] <= data["proved"]
    assert data["relative"]["inputs"]["a0"]["format"] == "f64"
    assert data["proved_of_largest"] <= data["proved"] * (1 + 1e-9)
    wrong = done("accuracy", "bound", "ozaki2-int8,moduli=1,bits=8", *where, code=3)
    assert "the condition does not hold: 2·1·(2^8 - 1)^2 < 256" in wrong
    assert "multiplies binary64 matrices" in refused(
        "accuracy", "find", "sign", "ozaki1-int8", "--unit", "turing"
    )


def test_a_kernel() -> None:
    words = ["accuracy", "bound", "ieee/fma.f32.bf16+split-k:2@64", "--search", "0.1"]
    text = CliRunner().invoke(main, words)
    assert text.exit_code == 0 and "(proved)" in text.output.split("\n")[1]
    refused = CliRunner().invoke(main, [*words, "--unit", "volta"])
    assert refused.exit_code == 2 and "names its unit" in refused.output
    missing = CliRunner().invoke(main, ["accuracy", "bound", "single-f16"])
    assert missing.exit_code == 2 and "Missing option '--unit'" in missing.output
