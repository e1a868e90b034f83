"""Names of kernels and of IEEE operations."""

from __future__ import annotations

import pytest

from tcsmt.interface.api.units import side_of
from tcsmt.programs.kernels.units import ieee_rows
from tcsmt.programs.names import is_kernel
from tcsmt.support.errors import TcsmtError


def test_a_kernel_is_one_unit() -> None:
    side = side_of("h100+split-k:2,pairs@64")
    assert side.row.model.k == 64 and len(side.units) == 1
    with pytest.raises(TcsmtError, match="@"):
        side_of("h100+split-k:2")


def test_a_plus_in_the_path_of_a_file_is_none_of_a_kernel() -> None:
    assert is_kernel("h100+split-k:2") and not is_kernel("h100")
    assert not is_kernel("a+b.toml") and is_kernel("b.toml+split-k:2@8")


def test_ieee_operations() -> None:
    assert side_of("ieee").units == [*ieee_rows()] and side_of("ieee").listed
    assert all(side_of(row.name).row == row for row in ieee_rows())
    with pytest.raises(TcsmtError, match="unknown unit 'ieee/fmma'"):
        side_of("ieee/fmma")
