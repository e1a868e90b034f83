"""Functions for tests of kernels and emulators.

>>> from tcsmt.testing import assert_close
"""

from tcsmt.support.floats import IeeeFloats

with IeeeFloats():  # as in tcsmt's __getattr__
    from tcsmt.interface.api.kernel_configs import assert_same_bits
    from tcsmt.interface.api.power import TestPower, operands, power
    from tcsmt.interface.api.power_proposal import TestProposal, propose
    from tcsmt.interface.api.tolerance import VacuousTolerance, assert_close

__all__ = [
    "TestPower",
    "TestProposal",
    "VacuousTolerance",
    "assert_close",
    "assert_same_bits",
    "operands",
    "power",
    "propose",
]
