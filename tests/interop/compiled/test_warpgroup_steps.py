"""``wgmma``: where descriptors put elements, and what must be fenced and waited for."""

from __future__ import annotations

import re

import pytest

from tcsmt.interop.compiled.reading import run_kernel
from tcsmt.interop.compiled.warpgroup_steps import matrix_addresses
from tcsmt.support.errors import TcsmtError
from tests.oracles.ptx import matrix_place
from tests.support.compiled import TEXTS

_MATMUL = ["A", "B", "D", *["64"] * 6]


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize(("size", "transposed"), [(1, False), (2, False), (4, False), (2, True)])
def test_elements_are_where_the_oracle_reads_them(mode: int, size: int, *, transposed: bool) -> None:
    descriptor = 0x123 | 0x45 << 16 | 0x67 << 32 | mode << 62
    found = matrix_addresses(descriptor, 64, 32 // size, size, transposed=transposed)
    for row in range(64):
        for k in range(32 // size):
            assert found[row, k] == matrix_place(descriptor, row, k, size, rows_inside=transposed)


def test_descriptors_that_are_not_read_are_refused() -> None:
    with pytest.raises(TcsmtError, match="descriptors with a base offset are not read"):
        matrix_addresses(1 << 49, 8, 16, 2, transposed=False)
    with pytest.raises(TcsmtError, match="only matrices of 16-bit numbers are transposed"):
        matrix_addresses(0, 8, 32, 1, transposed=True)


@pytest.mark.parametrize(
    ("pattern", "by", "said"),
    [
        (r"wgmma.fence.sync.aligned;", "", "is written, and no wgmma.fence follows before this"),
        (r"fence.proxy.async.shared::cta;", "", "written without fence.proxy.async after it"),
        (
            r"wgmma.wait_group.sync.aligned \d;",
            "",
            "is read before wgmma.wait_group has|writes shared memory that an instruction under way",
        ),
        (r"cp.async.wait_group  \d;", "", "to which cp.async copies: nothing waits for it before"),
        (
            r"(wgmma.mma_async.*), 1, 1, 0, 1;",
            r"\1, -1, 1, 0, 1;",
            "operands with a changed sign are not read",
        ),
        (r"(wgmma.mma_async.*), 1, 1, 0, 1;", r"\1, 1, 1, 0, 2;", "the options after scale-d are not read"),
        (
            r"m64n64k16.f32",
            "m64n64k16.f64",
            "unknown instruction 'wgmma.mma_async.sync.aligned.m64n64k16.f64",
        ),
    ],
)
def test_what_the_isa_leaves_undefined_is_refused(pattern: str, by: str, said: str) -> None:
    text = (TEXTS / "f16_sm90.ptx").read_text()
    changed = re.sub(pattern, by, text)
    assert changed != text
    with pytest.raises(TcsmtError, match=said):
        run_kernel(changed, _MATMUL).read()
