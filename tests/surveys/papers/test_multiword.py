"""Products of several words: the words add up, and Figure 7 has the published digits."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.language.run import jit
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.steps.on_arrays import split_words as words_of
from tcsmt.surveys.papers import multiword


@pytest.mark.parametrize("name", ["e5m2", "f16", "bf16"])
@pytest.mark.parametrize("rounding", ["RNE", "RTZ"])
def test_words_add_up(name: str, rounding: str) -> None:
    fmt = FORMATS[name]
    x = np.random.default_rng(7).standard_normal(1000)
    split = multiword.splitting(fmt, 3, rounding)
    words = [floats(fmt, word) for word in words_of(split, x.view(np.uint64))]
    u = 2.0**-fmt.precision
    rest = x - sum(word * u**j for j, word in enumerate(words))
    # a word leaves u to nearest and 2u toward zero, of what the word before left
    left = (u if rounding == "RNE" else 2 * u) ** 3
    least = 2.0 ** (fmt.e_min - fmt.fraction_bits) * u**2
    assert np.all(np.abs(rest) <= left * np.abs(x) + least)


#: The published points of n = 10 to 112 (two words n = 10), experiments/data of MATLAB-tensor-core.
DIGITS = {
    "f16 1": {
        10: ("1.283168e-04", "A100"), 18: ("1.508825e-04", "V100"), 33: ("2.227198e-04", "B200 RN"),
        61: ("1.484215e-04", "A100"), 112: ("1.434395e-04", "B200"),
    },
    "e5m2 1": {18: ("1.204863e-01", "L40S"), 33: ("4.384558e-02", "L40S"), 112: ("3.420082e-02", "B200")},
    "bf16 1": {10: ("1.469606e-03", "A100"), 112: ("9.231870e-04", "B200 RN")},
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("title", "largest"),
    [("f16 1", 33), *(pytest.param(title, 112, marks=pytest.mark.long) for title in DIGITS)],
)
def test_figure_seven_has_the_published_digits_and_resumes(
    title: str, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if largest == 33:  # not worth compiling
        monkeypatch.setattr(jit, "available", lambda: False)
    panels = [p for p in multiword.PANELS if p.name == title]
    points = list(multiword.figure_seven(largest=largest, panels=panels))
    found = {point["n"]: point["errors"] for point in points}
    published = {n: said for n, said in DIGITS[title].items() if n <= largest}
    assert len(published) >= 2
    for n, (digits, unit) in published.items():
        assert f"{found[n][unit]:.6e}" == digits
    assert list(multiword.figure_seven(largest=largest, panels=panels, before=points[:-1])) == points
