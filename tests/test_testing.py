"""What tests are written with: a public module, loaded on first use."""

import subprocess
import sys

import pytest

import tcsmt
import tcsmt.testing


def test_its_names() -> None:
    assert tcsmt.testing.__all__ == [
        "TestPower",
        "TestProposal",
        "VacuousTolerance",
        "assert_close",
        "assert_same_bits",
        "operands",
        "power",
        "propose",
    ]
    assert all(hasattr(tcsmt.testing, name) for name in tcsmt.testing.__all__)


@pytest.mark.slow
def test_it_is_loaded_on_first_use() -> None:
    program = (
        "import sys, tcsmt; assert 'numpy' not in sys.modules and 'tcsmt.testing' not in sys.modules; "
        "assert callable(tcsmt.testing.assert_close) and 'tcsmt.testing' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
