#!/usr/bin/env python3
"""Run the tests that depend on the processor as older processors, and emulated ones, would.

    .venv/bin/python .ci/processors.py [TEXT]

Runs only the legs with TEXT in their names. A library of this machine chooses the order of its sums by the
processor; the tests marked ``library`` ask it under each kernel of OpenBLAS, with another size of the cache,
and without the features that NumPy would use. The compiled simulator is tested at each level of vectors.
What this processor cannot run, or is not installed, is named and left out. Two legs run at a time, each in
one process: most of them are short. Exit code: 0, or 1 where a leg failed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).resolve().parents[1]
#: What a kernel of OpenBLAS needs of the processor, as NumPy names it.
KERNELS = {
    "Prescott": ("SSE3",),
    "Nehalem": ("SSE42",),
    "Sandybridge": ("AVX",),
    "Haswell": ("AVX2", "FMA3"),
    "Zen": ("AVX2", "FMA3"),
    "SkylakeX": ("AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL"),
}
#: What LLVM must not use (:mod:`tcsmt.language.run.jit`), and what the processor has then less. With all of
#: its features the suite itself runs.
VECTORS = {
    "without AVX-512": ("avx512f", ("AVX512F",)),
    "without AVX": ("avx,sse3,popcnt,bmi,bmi2,lzcnt,movbe", ("AVX",)),
}
#: Only files that have such tests: to collect all others takes longer than to run these.
LIBRARY = (
    "-m", "library and not long",
    *(str(p) for p in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.library" in p.read_text()),
)  # fmt: skip
SIMULATOR = (
    "tests/simulate/test_compiled.py", "tests/simulate/test_matmul.py", "tests/simulate/test_rows.py",
    "tests/simulate/test_float_kernels.py", "tests/simulate/test_kernel_source.py",
    "tests/language/write/test_llvm.py", "tests/support/test_floats.py",
    "tests/language/run/test_exhaust.py", "tests/language/run/test_sums.py",
)  # fmt: skip
#: An emulator takes twenty times as long: products of units, and of NumPy.
FEW = (*LIBRARY[:2], "tests/simulate/test_matmul.py", "tests/interface/api/test_recipes.py")
#: Processors that QEMU emulates, by the machine.
EMULATED = {"x86_64": ("Nehalem",)}


@dataclass
class Leg:
    """One run of tests. without: why it cannot be run here; before: the command that runs Python."""

    name: str
    tests: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    without: str = ""

    def run(self) -> bool:
        """Whether it passed, with a line that says so; a leg that cannot be run passes."""
        if self.without:
            print(f"not run  {self.name}: {self.without}", flush=True)
            return True
        command = [*self.before, sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "not long"]
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as cache:
            ended = subprocess.run(
                [*command, *self.tests], cwd=ROOT, check=False, encoding="utf-8", stdout=subprocess.PIPE,
                env={**os.environ, **self.environment, "TCSMT_CACHE": cache},
                stderr=subprocess.DEVNULL if self.before else None,  # QEMU says which features it has not
            )  # fmt: skip
        passed = ended.returncode == 0
        print(
            f"{'passed' if passed else 'FAILED'}   {self.name}: {time.monotonic() - start:.0f} s", flush=True
        )
        if not passed:
            print(ended.stdout, flush=True)
        return passed


def lacking(features: tuple[str, ...]) -> str:
    """Why something that needs these cannot be run on this processor; empty if it can."""
    missing = [name for name in features if not __cpu_features__.get(name)]
    return f"this processor lacks {', '.join(missing)}" if missing else ""


def legs() -> list[Leg]:
    """All of them, in the order in which they are run."""
    found = [
        Leg(f"OpenBLAS's kernels for {name}", LIBRARY, {"OPENBLAS_CORETYPE": name}, without=lacking(needs))
        for name, needs in KERNELS.items()
    ]
    found.append(Leg("OpenBLAS with a cache of 256 KiB", LIBRARY, {"OPENBLAS_L2_SIZE": "256"}))
    here = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    off = {"NPY_DISABLE_CPU_FEATURES": " ".join(here)}
    found.append(
        Leg(f"NumPy without {', '.join(here)}", LIBRARY, off, without="" if here else "it uses none")
    )
    found += [
        Leg(f"the simulator, {name}", SIMULATOR, {"TCSMT_DISABLE_CPU_FEATURES": off}, without=lacking(needs))
        for name, (off, needs) in VECTORS.items()
    ]
    emulator = f"qemu-{platform.machine()}"
    missing = "" if shutil.which(emulator) else "it is not installed"
    found += [
        Leg(f"{emulator} -cpu {name}", FEW, before=(emulator, "-cpu", name), without=missing)
        for name in EMULATED.get(platform.machine(), ())
    ]
    return found


def main(text: str = "") -> int:
    """Run the legs with this text in their names."""
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(Leg.run, [leg for leg in legs() if text in leg.name]))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
