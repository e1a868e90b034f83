"""Wall time of whole commands from a cold start.

Usage: python benchmarks/commands.py [HARDWARE_FOLDER]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent


def timed(*arguments: str) -> None:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tcsmt", *arguments], cwd=ROOT, capture_output=True, check=False
    )
    seconds = time.perf_counter() - start
    print(f"{seconds:7.2f} s  exit {done.returncode}  tcsmt {' '.join(arguments)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hardware", nargs="?", type=Path, default=ROOT.parent / "shared" / "hardware")
    hardware: Path = parser.parse_args().hardware
    timed("--version")
    for arch in ("volta", "ampere", "hopper"):
        timed("find", "--property", "carry-bits", "--arch", arch)
    timed("find", "--property", "product-normalization", "--arch", "v100")
    timed("find", "--property", "final-rounding", "--arch", "hopper")
    if hardware.is_dir():
        timed("validate", str(hardware))
    else:
        print(f"no {hardware}: validate not timed")


if __name__ == "__main__":
    main()
