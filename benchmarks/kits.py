"""Kits of C: made, compiled by gcc and clang at -O0 and -O3 without a warning, each function called on a
million elements and compared with the simulator, undefined behaviour made an error; rates beside its own.

python benchmarks/kits.py [--elements N] [--output FILE] [ARCH ...]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine

import tcsmt
from tcsmt.interop.kits.instructions import KitFunction
from tcsmt.interop.kits.kit import Kit
from tcsmt.interop.kits.vectors import Tiles
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.words import operand_words
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.simulate.rows import Words, run_words
from tcsmt.surveys.units.vectors import random_rows

__all__ = ["main"]

Array = np.ndarray[Any, np.dtype[Any]]
ARCHITECTURES = ("hopper", "ada", "cdna3", "rdna4", "x86")
#: Each is a compiler and how it optimises; the last makes what C leaves undefined an error.
BUILDS = {
    "gcc -O0": ("gcc", "-O0"),
    "gcc -O3": ("gcc", "-O3"),
    "clang -O0": ("clang", "-O0"),
    "clang -O3": ("clang", "-O3"),
    "gcc -O1 -fsanitize=undefined": ("gcc", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"),
}
#: Processor time for which a function is called, in seconds.
_SECONDS = 0.2


def build(folder: Path, name: str, command: tuple[str, ...]) -> tuple[ctypes.CDLL, float]:
    """Return a kit's library, and the seconds that compiling took."""
    library = folder / f"{'_'.join(command)}.so".replace("=", "")
    options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]
    sources = [str(folder / f"{name}.c"), *map(str, (folder / "units").glob("*.c"))]
    start = time.perf_counter()
    subprocess.run([*command, *options, "-I", str(folder), *sources, "-lm", "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)), time.perf_counter() - start


def batches(function: KitFunction, elements: int, seed: int) -> Iterator[Tiles]:
    """Tiles of random rows, half of them near boundaries, with so many elements of D in all."""
    tile = function.tile
    each = function.sizes["d"] if function.kind == "lanes" else tile.m * tile.n * tile.matrices
    of_tile = each if function.kind == "lanes" else min(tile.m, tile.n) * tile.matrices
    rows = -(-elements // each) * of_tile
    for words in random_rows(function.row.model, rows, seed):
        yield Tiles.of(function, Words(words.a, words.b, words.c))


def wrong(library: ctypes.CDLL, function: KitFunction, tiles: Tiles) -> int:
    """Call a function on tiles; return how many registers of D differ."""
    called, count = getattr(library, function.name), 0
    for parts in zip(tiles.a, tiles.b, tiles.c, tiles.d, strict=True):
        a, b, c, expected = map(np.ascontiguousarray, parts)
        d = c.copy() if c.size == expected.size else np.zeros_like(expected)
        called(*_arguments(function, a, b, c, d))
        count += int((d != expected).sum())
    return count


def _arguments(function: KitFunction, *arrays: Array) -> list[Any]:
    places = dict(zip("abcd", (ctypes.c_void_p(x.ctypes.data) for x in arrays), strict=True))
    return [places[x] if isinstance(x, str) else ctypes.c_uint64(x) for x in function.arguments]


#: Takes the place of the program that checks: calls each function for a while, and prints how often a second.
RATES = """
#include <time.h>
int main(int argc, char **argv) {
  size_t i, n;
  for (i = 0; argc > 1 && i < sizeof functions / sizeof *functions; i++) {
    const struct function *f = &functions[i];
    char path[4096];
    FILE *file;
    double calls = 0;
    clock_t start;
    int operand;
    snprintf(path, sizeof path, "%s/%s.hex", argv[1], f->name);
    file = fopen(path, "r");
    if (!file || fscanf(file, "%zu", &n) != 1) return 1;
    for (operand = A; operand < OPERANDS; operand++) {
      in[operand] = calloc(f->size[operand], sizeof **in);
      if (!in[operand] || !read_words(file, in[operand], f->size[operand])) return 1;
    }
    fclose(file);
    (void)check, (void)expected;
    for (start = clock(); clock() - start < CLOCKS_PER_SEC / 5; calls += 100)
      for (n = 0; n < 100; n++) f->call();
    printf("%s %.0f\\n", f->name, calls * CLOCKS_PER_SEC / (double)(clock() - start));
  }
  return 0;
}
"""


def rates(folder: Path, made: Kit, command: tuple[str, ...]) -> dict[str, float]:
    """Return millions of products a second of one core, on numbers between 1/2 and 2 or small integers."""
    (folder / "plain").mkdir()
    for function in made.functions:
        (folder / "plain" / f"{function.name}.hex").write_text(plain(function).text)
    text = (folder / "check.c").read_text()
    (folder / "rates.c").write_text(text[: text.index("int main(")] + RATES)
    sources = [str(folder / f"{made.name}.c"), *map(str, (folder / "units").glob("*.c"))]
    options = ["-std=c11", "-ffp-contract=off", "-I", str(folder), "-o", str(folder / "rates")]
    subprocess.run([*command, *options, str(folder / "rates.c"), *sources, "-lm"], check=True)
    ran = subprocess.run([folder / "rates", folder / "plain"], capture_output=True, text=True, check=True)
    calls = {name: float(count) for name, count in map(str.split, ran.stdout.splitlines())}
    return {f.row.instruction: calls[f.name] * products(f) / 1e6 for f in made.functions}


def products(function: KitFunction) -> int:
    """Return how many products a call computes."""
    tile = function.tile
    elements = function.sizes["d"] if function.kind == "lanes" else tile.m * tile.n * tile.matrices
    return elements * tile.k


def plain(function: KitFunction) -> Tiles:
    """Return a call on ordinary numbers."""
    model, rng, k = function.row.model, np.random.default_rng(1), function.tile.k
    count = products(function) // k
    formats = {"a": model.a_format, "b": model.b_format, "c": model.c_format}
    numbers = {
        side: rng.uniform(0.5, 2, shape) if isinstance(formats[side], Format) else rng.integers(0, 7, shape)
        for side, shape in {"a": (count, k), "b": (count, k), "c": (count,)}.items()
    }
    words = (operand_words(formats[side], numbers[side], side, "nearest-even") for side in numbers)
    return Tiles.of(function, Words(*words))


def our_rate(function: KitFunction) -> float:
    """Return the simulator's millions of products a second, on rows."""
    model, rng = function.row.model, np.random.default_rng(1)
    (words, *_) = random_rows(model, 1 << 16, int(rng.integers(1 << 30)))
    run_words(model, words)
    start, rounds = time.process_time(), 0
    while time.process_time() - start < _SECONDS:
        run_words(model, words)
        rounds += 1
    return rounds * len(words.c) * model.k / (time.process_time() - start) / 1e6


def measured(architecture: str, elements: int) -> dict[str, Any]:
    """Return the figures of one kit."""
    with tempfile.TemporaryDirectory() as path:
        folder, start = Path(path), time.perf_counter()
        made: Kit = tcsmt.export_kit(architecture, folder)
        found: dict[str, Any] = {
            "name": architecture,
            "functions": len(made.functions),
            "left out": len(made.left_out),
            "export seconds": round(time.perf_counter() - start, 1),
            "header bytes": (folder / f"{made.name}.h").stat().st_size,
            "compile seconds": {},
            "registers that differ": {},
        }
        libraries = {}
        for name, command in BUILDS.items():
            libraries[name], seconds = build(folder, made.name, command)
            found["compile seconds"][name] = round(seconds, 1)
        for name in BUILDS:
            found["registers that differ"][name] = 0
        by_kit, by_simulator = rates(folder, made, BUILDS["gcc -O3"]), {}
        for function in made.functions:
            for seed, tiles in enumerate(batches(function, elements, 1)):
                for name, library in libraries.items():
                    if seed == 0 or name in ("gcc -O3", "clang -O3"):
                        found["registers that differ"][name] += wrong(library, function, tiles)
            by_simulator[function.row.instruction] = our_rate(function)
        found["rates"] = {
            name: {"gcc -O3": round(by_kit[name]), "simulator, rows": round(by_simulator[name])}
            for name in by_kit
        }
        return found | {"elements": elements}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("architectures", nargs="*", default=ARCHITECTURES, metavar="ARCH")
    parser.add_argument("--elements", type=int, default=1_000_000, help="of D, of each function")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    kits = []
    for architecture in options.architectures:
        kits.append(measured(architecture, options.elements))
        print(json.dumps(kits[-1], indent=1), flush=True)
        if options.output:
            names = [f"{kit['name']}/{name}" for kit in kits for name in kit["rates"]]
            found = {"machine": machine(), "kits": kits, "models": models_named(names)}
            options.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
