"""Bounds of kernels on domains: what is printed, and what is refused."""

import json
from pathlib import Path

import pytest

import tcsmt
from tcsmt.analysis.tolerance import relative
from tcsmt.interface.api import kernel_bound as module
from tcsmt.interface.api.asked import TYPE1
from tcsmt.interface.api.kernel_bound import kernel_bound
from tcsmt.support.errors import Contradiction

KERNEL = "ieee/fma.f32.bf16+split-k:6,parts=bf16+out=bf16@64"


def test_a_bound() -> None:
    found = kernel_bound(KERNEL, domain=TYPE1, search=0.3)
    assert found.proved_error is not None and found.found_error is not None
    assert 1 < found.found_error <= found.proved_error < 2.01
    assert found.exit_code == 0 and found.reason == ""
    text = str(found).split("\n")
    assert text[0] == "ieee/fma.f32.bf16+split-k:6,parts=bf16+out=bf16, K = 64; domain: exponents -15 to 14"
    assert text[1].startswith("the largest relative error is at least 1.") and "·2^-8 (proved)" in text[1]
    data = json.loads(json.dumps(found.as_json()))
    assert data["proved"] == found.proved_error and data["unit"] == "1/256"
    again = tcsmt.accuracy.bound(KERNEL, search=0.1)
    assert isinstance(again, tcsmt.accuracy.KernelBound) and again.proved_error == found.proved_error
    with pytest.raises(tcsmt.TcsmtError, match="names its unit"):
        tcsmt.accuracy.bound(KERNEL, "volta")


def test_no_bound() -> None:
    found = kernel_bound("ieee/fma.f32.bf16+chained+out=f16@64", domain=TYPE1, search=0.1)
    assert found.exit_code == 3 and "may overflow" in found.reason and found.found_error == float("inf")
    assert "found, not proved: at least inf" in str(found)


def test_refusals(tmp_path) -> None:
    for text, message in (
        ("ieee/fma.f32.bf16+split-k:2", "needs its K"),
        ("ieee/fma.f32.bf16+split-k:2@0", "from 1 to 65536"),
        ("ampere/mma.m16n8k32.s32.s8.s8.s32+chained@64", "accuracy exact"),
        ("nothing/at-all+chained@64", "unknown"),
    ):
        with pytest.raises(tcsmt.TcsmtError, match=message):
            kernel_bound(text, domain=TYPE1, search=0.1)
    with pytest.raises(tcsmt.TcsmtError, match="certificates"):
        kernel_bound(KERNEL, domain=TYPE1, search=0.1, options=tcsmt.SolvingOptions(certificate=tmp_path))


def test_a_larger_error_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "relative_bound", lambda *given: relative.relative_bound(*given) / 64)
    with pytest.raises(Contradiction, match="no error of ieee"):
        kernel_bound(KERNEL, domain=TYPE1, search=0.1)


SLICES = """
a_format = "f64"
b_format = "f64"
c_format = "f64"
program = '''
a, b = maximum(exponent(A), over K, nan=ignored), maximum(exponent(B), over K, nan=ignored)
A0, A1 = digits(A, a, s8, 2, RTZ, bits=7)
B0, B1 = digits(B, b, s8, 2, RTZ, bits=7)
t = accumulate(chain(UNIT, A0·B0 over K, +0), +0:f64, f64, shift=14)
for X·Y in A0·B1, A1·B0:
    t = accumulate(chain(UNIT, X·Y over K, +0), t, f64, shift=21)
d = add(scale(t, a, b, f64, shift=-2), c, f64)
d = select(compare(a, less_equal, 1023:s16), d, 0x7ff8000000000000:f64)
d = select(compare(b, less_equal, 1023:s16), d, 0x7ff8000000000000:f64)
'''
[units]
UNIT = "ampere/mma.m16n8k32.s32.s8.s8.s32"
"""


@pytest.mark.slow
def test_the_text_of_an_emulation_has_the_bound_and_the_integers_of_its_name(tmp_path: Path) -> None:
    file = tmp_path / "slices.toml"
    file.write_text(SLICES)
    domain = tcsmt.Domain(exponents=(0, 0))
    found = tcsmt.accuracy.bound(f"{file}@4", domain=domain, search=0.1)
    named = tcsmt.accuracy.bound("ozaki1-int8,slices=2", "ampere", k=4, domain=domain, search=0.1)
    assert found.proved_error == named.proved and named.proved is not None
    integers = tcsmt.accuracy.exact(f"{file}@4", k=4, search=False).integers
    assert integers == 127
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SLICES.replace("shift=21", "shift=20"))
    more = tcsmt.accuracy.bound(f"{wrong}@4", domain=domain, search=0.1).proved_error
    assert more is not None and more > named.proved
    wrong.write_text(SLICES.replace("scale(t, a, b", "scale(t, a, a"))
    refused = tcsmt.accuracy.bound(f"{wrong}@4", domain=domain, search=0.1)
    assert refused.bound is None and "scale: the largest exponents of A and of B" in refused.reason


def test_digits_of_a_and_b_in_two_formats_have_no_bound(tmp_path: Path) -> None:
    file = tmp_path / "narrow.toml"
    file.write_text(SLICES.replace('a_format = "f64"', 'a_format = "f16"').replace("compare(a", "compare(b"))
    why = "one floating-point format, not of A in f16, B in f64"  # of A's 11 bits alone, no cut loses any
    found = tcsmt.accuracy.bound(f"{file}@1", domain=tcsmt.Domain(exponents=(0, 0)), search=0.1)
    assert found.bound is None and why in found.reason
    exact = tcsmt.accuracy.exact(f"{file}@1", k=1, search=False)
    assert not exact.integers and why in str(exact)
