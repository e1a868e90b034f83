"""Instructions that programs are made for."""

from __future__ import annotations

import pytest

from tcsmt.catalogue import rows
from tcsmt.hardware.instructions import instruction_of
from tcsmt.support.errors import TcsmtError


def test_rows_without_programs_say_so() -> None:
    for row in rows():
        if row.instruction.startswith(("tcgen05", "mvmul", "v_mfma_i", "vpdp")):
            with pytest.raises(TcsmtError, match="cannot write a program"):
                instruction_of(row)
