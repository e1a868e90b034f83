"""Instructions that programs are made for."""

from __future__ import annotations

import pytest

from tcsmt.interop.hardware.instructions import instruction_of
from tcsmt.matrix_units.catalogue import rows
from tcsmt.support.errors import TcsmtError
from tests.support.probes import emitted


def test_rows_without_programs_say_so() -> None:
    written = {row.name for row in emitted()}
    assert sum(name.startswith("blackwell/tcgen05") for name in written) == 15
    for row in rows():
        other = row.instruction.startswith("tcgen05") and row.name.partition("@")[0] not in written
        if other or row.instruction.startswith(("mvmul", "v_mfma_i", "vpdp")):
            with pytest.raises(TcsmtError, match="cannot write a program"):
                instruction_of(row)
