"""Two configurations: what is unknown is named, and a witness that the kernels do not confirm is a defect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.kernel_read import row_of
from tcsmt.interface.api.kernel_witness import Configuration, SameBits
from tcsmt.interop.triton.launches import LaunchArgument
from tcsmt.support.errors import InternalError
from tests.support.launches import product_launch, tensor

_ANY = tcsmt.Domain(finite=False)


def _configuration(text: str, *, name: str = "one") -> Configuration:
    words = np.zeros((64, 64), np.float16)
    given = (tensor(one, "fp16", words) for one in ("a", "b", "d"))
    launch = product_launch(text, *given, target="ampere", rows=16, columns=16)
    if text == "linear_sm80":
        bias, numbers = tensor("bias", "fp32", np.zeros(64, np.float32)), [LaunchArgument("n", "i32", 64)] * 3
        a, b, d = launch.arguments[:3]
        launch = replace(launch, arguments=(a, b, bias, d, *numbers))
    ((read, block),) = launch.read()
    return Configuration(name, launch, (read,), (block,), (row_of(read, Path(__file__)),))


def test_one_program_is_equal_without_a_question() -> None:
    one = _configuration("f16_sm80")
    assert SameBits(_ANY, tcsmt.SolvingOptions()).answer(one, replace(one, name="two")) is None


def test_an_open_freedom_is_named() -> None:
    one = _configuration("linear_sm80")
    assert SameBits(_ANY, tcsmt.SolvingOptions()).answer(one, one) == (
        None,
        "the program leaves open: contraction",
    )


def test_other_words_are_not_compared() -> None:
    one = _configuration("f16_sm80")
    (read,) = one.reads
    along = {**read.text.along, "A": replace(read.text.along["A"], first=128)}
    other = replace(one, reads=(replace(read, text=replace(read.text, along=along)),))
    assert SameBits(_ANY, tcsmt.SolvingOptions()).answer(one, other) == (
        None,
        "element 0 is made of other words",
    )


def test_a_kernel_that_does_not_do_what_its_program_says_is_a_defect() -> None:
    one = _configuration("f16_sm80")
    text = one.reads[0].text
    twice = replace(text, lines=(text.lines[0], "v1 = add(v0, v0, f32)", "d = convert(v1, f16)"))
    read = replace(one.reads[0], text=twice)
    other = replace(one, name="other", reads=(read,), rows=(row_of(read, Path(__file__)),))
    with pytest.raises(InternalError, match=r"other: the kernel stores 0x.*, and its program says 0x"):
        SameBits(_ANY, tcsmt.SolvingOptions()).answer(one, other)
