"""Recorded results as numbers, and changes of what a kernel does."""

from __future__ import annotations

import numpy as np

from tcsmt.identification.diagnosis.recorded import (
    Change,
    RecordedResult,
    Way,
    kernel_values,
    same_values,
    unchanged,
)
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named

UNIT = side_of("ieee/fma.f32.f16").row
RNG = np.random.default_rng(2)
A, B = (RNG.standard_normal(shape).astype(np.float16) for shape in ((6, 40), (40, 5)))
BIAS = RNG.standard_normal(5).astype(np.float32)
KERNEL = Kernel(UNIT, reduction_named("split-k:2"), epilogue_named("bias"))
D = KERNEL.multiply(A, B, bias=BIAS)
WORDS = {"a": A.view("u2"), "b": B.view("u2"), "bias": BIAS.view("u4")}


def recorded() -> RecordedResult:
    found = RecordedResult.of(KERNEL, WORDS, D.astype(np.float64), FORMATS["f32"])
    assert found is not None
    return found


def test_elements_are_those_of_their_places() -> None:
    places = np.array([[1, 4], [5, 0]])
    inputs = recorded().at(places)
    assert recorded().shape == (6, 5, 40)
    assert np.array_equal(recorded().values("a", inputs), A[[1, 5]].astype("f8"))
    assert np.array_equal(recorded().values("b", inputs), B.T[[4, 0]].astype("f8"))
    assert np.array_equal(recorded().values("bias", inputs), BIAS[[4, 0]].astype("f8"))
    assert recorded().values("c", inputs) == 0
    assert np.array_equal(recorded().transposed().d, D.T)


def test_kernels_give_elements_with_their_bias() -> None:
    """One that needs random bits is left out, and does not keep others from being computed."""
    places = np.argwhere(np.ones(D.shape, bool))
    random = Kernel(UNIT, epilogue=epilogue_named("bias,out=bf16,stochastic=8"))
    found = dict(kernel_values([random, KERNEL], recorded().at(places)))
    assert found.keys() == {KERNEL}
    assert np.array_equal(found[KERNEL][0].reshape(D.shape), D)


def test_zeros_have_signs_and_nans_are_alike() -> None:
    first, second = np.array([0.0, -0.0, np.nan, 1.0]), np.array([-0.0, -0.0, np.nan, 2.0])
    assert same_values(first, second).tolist() == [False, True, True, False]


def test_integers_are_no_numbers_to_diagnose() -> None:
    row = side_of("ampere/mma.m16n8k32.s32.s8.s8.s32").row
    words = {"a": np.ones((2, 32), "u1"), "b": np.ones((32, 2), "u1")}
    assert RecordedResult.of(Kernel(row), words, np.ones((2, 2)), row.model.d_format) is None


def test_a_way_changes_nothing_unless_it_says_so() -> None:
    kernel, inputs = Kernel(side_of("volta").row), SampledElements(np.zeros((1, 2)), np.zeros((1, 2)))
    assert Way().inputs(inputs) is inputs and Way().kernels(kernel) == [kernel]
    assert Way().inputs is unchanged


def test_ways_are_no_part_of_what_a_change_is() -> None:
    assert Change("terms", "x", 1) == Change("terms", "x", 1, ways=()) != Change("terms", "y", 1)
