"""Changes are told apart by what they say, not by how they are computed."""

from __future__ import annotations

import numpy as np

from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.face.api.units import side_of
from tcsmt.identification.diagnosis.change import Change, Way, unchanged
from tcsmt.identification.diagnosis.recorded import KernelInputs


def test_a_way_changes_nothing_unless_it_says_so() -> None:
    kernel, inputs = Kernel(side_of("volta").row), KernelInputs(np.zeros((1, 2)), np.zeros((1, 2)))
    assert Way().inputs(inputs) is inputs and Way().kernels(kernel) == [kernel]
    assert Way().inputs is unchanged


def test_ways_are_no_part_of_what_a_change_is() -> None:
    assert Change("terms", "x", 1) == Change("terms", "x", 1, ways=()) != Change("terms", "y", 1)
