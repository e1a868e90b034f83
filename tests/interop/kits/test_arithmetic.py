"""Products in C: in floating point and in integers, in every state of the floating-point unit."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.kits.arithmetic import COLUMNS, ROWS, UnitInC
from tcsmt.interop.kits.kit import Kit
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import Words, run_words
from tcsmt.surveys.units.vectors import edges
from tests.support.kits import WARNINGS

#: With a form in floating point in one step and in several, with fused multiply-adds, and without.
UNITS = {
    "ada/mma.m16n8k16.f32.f16.f16.f32": True,
    "cdna3/v_mfma_f32_32x32x8_f16": True,
    "cdna3/v_mfma_f32_32x32x2_f32": True,
    "volta/mma.m8n8k4.f16.f16.f16.f16": True,
    "rdna4/v_dot2_f32_f16": False,
    "hopper/mma.m16n8k16.s32.u8.s8.s32": False,
}
#: Sets a state of x86's unit in which results would be others: toward zero, subnormal numbers flushed.
STATE = """
#include <xmmintrin.h>
void state(unsigned bits) { _mm_setcsr((_mm_getcsr() & ~0xe040u) | bits); }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("unit", UNITS)
def test_products(unit: str, compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    row = row_named(unit)
    written = UnitInC(row, "unit")
    assert ("tcsmt_usual_floats()" in written.text) == UNITS[unit]
    (tmp_path / "unit.c").write_text(written.text)
    texts = dict(Kit("x", (), {}, {}).files())
    (tmp_path / "units.h").write_text(
        texts["units/units.h"].replace("#endif\n", f"void unit({written.parameters});\n#endif\n")
    )
    usual = texts["x.c"][texts["x.c"].index("int tcsmt_usual") : texts["x.c"].index("/* The elements")]
    (tmp_path / "state.c").write_text(f'#include "units.h"\n{usual}{STATE}')
    library = tmp_path / "unit.so"
    undefined = ("-fsanitize=undefined", "-fno-sanitize-recover=all") if compiler == "gcc" else ()
    command = [compiler, "-std=c11", "-O0", *WARNINGS, *undefined, "-shared", "-fPIC", "-o", str(library)]
    if subprocess.run(
        [*command, str(tmp_path / "unit.c"), str(tmp_path / "state.c"), "-lm"], check=False
    ).returncode:
        pytest.fail("does not compile")
    loaded = ctypes.CDLL(str(library))
    telling, k = edges(row, 2, 48).inputs, row.model.k
    m, n = ROWS + 3, COLUMNS + 2
    rng = np.random.default_rng(4)
    of_a, of_b, of_c = (rng.integers(0, len(telling.c), size) for size in (m, n, (m, n)))
    a, b, c = telling.a[of_a], telling.b[of_b], np.ascontiguousarray(telling.c[of_c])
    # where all three are of one row, it is one that tells
    a[:16], b[:16] = telling.a[:16], telling.b[:16]
    c[np.arange(16), np.arange(16)] = telling.c[:16]
    pairs = (m, n, k)
    words = Words(
        np.broadcast_to(a[:, None], pairs).reshape(-1, k),
        np.broadcast_to(b, pairs).reshape(-1, k),
        c.reshape(-1),
    )
    expected = run_words(row.model, words).reshape(m, n)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    for height in (m, 1):
        for bits in (0, 0x6000, 0x8000, 0x0040):
            d = np.zeros_like(expected)
            arrays = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c, d)]
            loaded.state(bits)
            loaded.unit(ctypes.c_size_t(height), ctypes.c_size_t(n), *arrays)
            loaded.state(0)
            assert np.array_equal(d[:height], expected[:height]), f"{unit}: {height} rows, state {bits:#x}"
