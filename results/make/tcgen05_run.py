"""The inputs of a published run on a B200, made again: what do they tell apart?

    python results/make/tcgen05_run.py --output results/comparisons/tcgen05-run.json
    python results/make/tcgen05_run.py --rows 65536 --path dense-nvfp4 --save rows.npz

sf-tensor/tcgen05 (8fce64d) states that its model gave every word of a B200 on a million random inputs of
each of 46 paths. The words are not published. The inputs can be made again: they are drawn with Python's
``random`` from published seeds. For the five dense paths with FP4 operands this draws them, and counts the
rows on which models of the instruction differ: the catalogue's accepted row, its disputed one, and variants
of both.

Of a path, half of the rows have any c, the other half a finite one, each half from a seed of its own. A row
draws 64 words of a, 64 of b, c, and the scales of a and of b. A word below n is drawn as Python's
``randrange(n)`` does: the upper bits of the Mersenne twister's next word, drawn again while they are n or
more. For every n here, a power of two, that means while the highest bit is set. c is a whole word; a c that
is not finite, where it has to be, gets an exponent field below 255, drawn alike from eight bits.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.simulate.rows import run_words

Array = np.ndarray[Any, np.dtype[Any]]

#: Rows of a path, half of them from each seed.
ROWS = 1_000_000
#: Rows that are drawn and run at once.
AT_ONCE = 1 << 15


@dataclass(frozen=True)
class RunPath:
    """A path of the run: the catalogue's instruction, its seeds, and the scales of a (and of b)."""

    instruction: str
    seeds: tuple[int, int]
    scales: int


_FP4 = "tcgen05.mMnNk64.kind::{}.f32.e2m1.e2m1.{}"
PATHS = {
    "dense-nvfp4": RunPath(_FP4.format("mxf4nvf4.block16", "ue4m3"), (92801, 92802), 4),
    "dense-mxf4nvf4-4x-ue4m3": RunPath(_FP4.format("mxf4nvf4.block16", "ue4m3"), (92317, 92318), 4),
    "dense-mxf4": RunPath(_FP4.format("mxf4.block32", "ue8m0"), (92311, 92312), 2),
    "dense-mxf4nvf4-2x": RunPath(_FP4.format("mxf4nvf4.block32", "ue8m0"), (92313, 92314), 2),
    "dense-mxf4nvf4-4x": RunPath(_FP4.format("mxf4nvf4.block16", "ue8m0"), (92315, 92316), 4),
}


class Twister:
    """The words of the Mersenne twister that Python's ``random.Random(seed)`` is, many at a time.

    words: those that are held. small: the places of those with the highest bit 0. before: how many of
    these come before each place.
    """

    def __init__(self, seed: int) -> None:
        *key, place = random.Random(seed).getstate()[1]
        self._bits = np.random.MT19937()
        state = {"key": np.array(key, np.uint32), "pos": place}
        self._bits.state = {"bit_generator": "MT19937", "state": state}
        self._hold(np.zeros(0, np.uint32))

    def more(self, used: int, count: int) -> None:
        """Drop the first words, and draw so many more."""
        drawn = self._bits.random_raw(count).astype(np.uint32)
        self._hold(np.concatenate([self.words[used:], drawn]))

    def _hold(self, words: Array) -> None:
        self.words = words
        small = words < 1 << 31
        self.small = np.flatnonzero(small)
        self.before = np.concatenate([[0], np.cumsum(small)])


def drawn(path: RunPath, seed: int, rows: int, *, finite: bool) -> Iterator[Operands[Array, Array]]:
    """The rows from a seed, some at a time."""
    twister, used = Twister(seed), 0
    scale_bits = (
        8 if "ue4m3" in path.instruction else 9
    )  # randrange(128) takes 8 bits, randrange(256) takes 9
    words = 128 + 2 * path.scales
    while rows:
        count = min(rows, AT_ONCE)
        twister.more(used, max(0, 2 * (words + 8) * count + 4096 - len(twister.words) + used))
        held, small, before = twister.words, twister.small, twister.before
        starts, c_words, scale_starts, used = [], [], [], 0
        for _ in range(count):
            first = before[used]
            if first + words + 2 > len(small):  # the next ones are not drawn yet
                break
            place = small[first + 127] + 1
            c = int(held[place])
            place += 1
            if finite and c & 0x7F800000 == 0x7F800000:
                while held[place] >> 24 == 255:
                    place += 1
                c = c & 0x807FFFFF | int(held[place] >> 24) << 23
                place += 1
            scales = before[place]
            starts.append(first)
            c_words.append(c)
            scale_starts.append(scales)
            used = small[scales + 2 * path.scales - 1] + 1
        rows -= len(starts)
        factors = (held[small[np.array(starts)[:, None] + np.arange(128)]] >> 27).astype(np.uint8)
        places = small[np.array(scale_starts)[:, None] + np.arange(2 * path.scales)]
        scales_of = (held[places] >> 32 - scale_bits).astype(np.uint8)
        yield Operands(
            factors[:, :64], factors[:, 64:], np.array(c_words, np.uint32),
            scales_of[:, : path.scales], scales_of[:, path.scales :],
        )  # fmt: skip


def variants(path: RunPath) -> dict[str, FusedDotAdd]:
    """What is run: both models, and what differs from one of them in one parameter."""
    accepted, newer = (row_named(f"blackwell/{path.instruction}{tag}").model for tag in ("", "@sf-tensor"))
    assert isinstance(accepted, FusedDotAdd)
    assert isinstance(newer, FusedDotAdd)
    found = {"accepted": accepted, "disputed": newer}
    found |= {f"accepted, F = {bits}": accepted.replace(fraction_bits=bits) for bits in (25, 34, 36)}
    if newer.parameters.inner_group is not None:
        found |= {f"disputed, groups of {n}": newer.replace(inner_group=n) for n in (1, 2, 8)}
        found["disputed, groups of 16"] = newer.replace(inner_group=None)
    return found


def count_differences(path: RunPath, rows: int) -> dict[str, Any]:
    """How many rows each variant differs on from the accepted model, and the first few such rows."""
    models = variants(path)
    differ, first = dict.fromkeys(list(models)[1:], 0), {}
    done = 0
    for half, seed in enumerate(path.seeds):
        within = 0
        for operands in drawn(path, seed, rows // 2 if half == 0 else rows - rows // 2, finite=half == 1):
            expected = run_words(models["accepted"], operands)
            for name in differ:
                other = np.flatnonzero(run_words(models[name], operands) != expected)
                differ[name] += len(other)
                if len(other) and name not in first:
                    place = int(other[0])
                    words = {part: words[place].tolist() for part, words in operands.named.items()}
                    first[name] = {"seed": seed, "row": within + place, **words}
                    first[name]["accepted"] = int(expected[place])
            within += len(expected)
            done += len(expected)
            print(f"\r{done:,} of {rows:,} rows", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {
        "unit": f"blackwell/{path.instruction}", "disputed": f"blackwell/{path.instruction}@sf-tensor",
        "seeds": list(path.seeds), "rows": done,
        "rows that differ from the accepted model": differ,
        "the first such row": {name: row for name, row in first.items() if differ[name] < 10},
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--path", choices=PATHS, action="append", help="only this path")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows of a path (default: {ROWS:,})")
    parser.add_argument(
        "--save", type=Path, help="write the inputs of the one path's first rows, and run nothing"
    )
    parser.add_argument("--output", type=Path, help="write the counts as JSON")
    given = parser.parse_args()
    chosen = {name: PATHS[name] for name in given.path or PATHS}
    if given.save:
        (path,) = chosen.values()
        parts = list(drawn(path, path.seeds[0], given.rows, finite=False))
        named = {name: np.concatenate([part.named[name] for part in parts]) for name in parts[0].named}
        np.savez_compressed(given.save, **named)
        return
    found = []
    for name, path in chosen.items():
        start = time.process_time()
        print(name, file=sys.stderr)
        counted = count_differences(path, given.rows)
        found.append({"path": name, **counted, "seconds": round(time.process_time() - start)})
        print(json.dumps(found[-1]["rows that differ from the accepted model"]), file=sys.stderr)
    if given.output:
        source = (
            "sf-tensor/tcgen05 8fce64d, hardware_validation: run_full_validation.py (seeds), mma_probe.py"
        )
        data = {"source": source, "models": models_named(found), "paths": found}
        given.output.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
