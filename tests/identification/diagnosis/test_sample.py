"""Some elements as numbers: what is allowed, what fits, and what says too little."""

from __future__ import annotations

import numpy as np

from tcsmt.identification.diagnosis.recorded import RecordedResult
from tcsmt.identification.diagnosis.sample import ResultSample, factor_of, wrong_elements
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel

KERNEL = Kernel(side_of("ieee/fma.f32").row)
RNG = np.random.default_rng(3)
A, B = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 50), (50, 7)))
D = KERNEL.multiply(A, B).astype(np.float64)
EVERY = np.argwhere(np.ones(D.shape, bool))


def sample(d=D, places=EVERY) -> ResultSample:
    found = RecordedResult.of(KERNEL, {"a": A.view("u4"), "b": B.view("u4")}, d, FORMATS["f32"])
    assert found is not None
    return ResultSample.of(found, [KERNEL], places)


def test_sums_and_sizes() -> None:
    exact, size = A.astype("f8") @ B.astype("f8"), np.abs(A.astype("f8")) @ np.abs(B.astype("f8"))
    found = sample()
    assert np.allclose(found.exact, exact.reshape(-1)) and np.allclose(found.size, size.reshape(-1))
    error = np.abs(D - exact) / size
    assert error.max() / 4 < found.noise <= error.max() * 1.001
    assert found.residual(found.exact) <= 1 and not found.informative.any()


def test_errors_are_measured_on_more_than_a_few_elements() -> None:
    """One element whose own error happens to be small does not look as if it were far off."""
    every, error = sample(), np.abs(D - A.astype("f8") @ B.astype("f8"))
    one = sample(places=np.argwhere(error == error.min())[:1])
    assert len(one.places) == 1 and one.noise == every.noise


def test_what_fits_is_near_and_is_much() -> None:
    """A factor of two is seen in all elements; it says nothing of one that is as it should be."""
    found = sample(2 * D)
    assert found.fits(2 * found.exact, 100) and not found.fits(found.exact, 1)
    assert not found.fits(2 * found.exact * (1 + 1e-4), 100)
    assert not found.fits(2 * found.exact, 1 << 10**6)  # of so many changes one would fit by chance
    assert not sample().fits(found.exact, 1)  # nothing is off, so that nothing explains it


def test_wrong_elements() -> None:
    d = D.copy()
    d[2, 3] += 1
    d[5, 0] = np.nan
    assert np.argwhere(wrong_elements(sample(d).recorded, [KERNEL])).tolist() == [[2, 3], [5, 0]]


def test_numbers_of_an_epilogue_are_binary32() -> None:
    kernel = Kernel(side_of("ieee/fma.f32").row, epilogue=epilogue_named("alpha=0.1"))
    assert factor_of(kernel, kernel.epilogue.alpha) == float(np.float32(0.1))
    assert factor_of(Kernel(side_of("ieee/fma.f64").row), 0.1) == 0.1
