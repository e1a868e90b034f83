"""The page of the whole catalogue in headless Chromium: bytes, time to a result, what the search finds.

    python benchmarks/page.py [--limit SECONDS] [--output results/benchmarks/page.json]

It needs Chromium with its driver, and selenium (the extra ``test``). ``first view`` are the files that a
browser loads before anything is chosen, each compressed by gzip as a server would. ``first result`` is the
time from the start of a navigation to the first computed result, of a page that is opened as a file, in a
new profile and once more. The search is asked for a difference of every pair of classes for which the atlas
has one, with one seed each, until the limit. Its rate is that of units with themselves.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from machine import machine

import tcsmt
from tcsmt.interface.page.site import first_view
from tcsmt.matrix_units.catalogue.digests import models_named
from tests.support.browser import Tab, opened, why_not

#: How often a time is taken.
TIMES = 5

SEARCH = """
const [left, right, limit, seed] = arguments;
const loading = [left, right].map((name) => unitOf(INDEX.units.get(name)));
return Promise.all(loading).then((units) => {
  const { found, count, ms } = searched(units, new Random(seed), limit);
  return [Boolean(found), count, ms];
});
"""


def built(folder: str) -> tuple[tcsmt.Page, dict[str, float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    page = tcsmt.page(folder, results=ROOT / "results")
    seconds = {"wall": time.perf_counter() - wall, "processor": time.process_time() - cpu}
    return page, {name: round(value, 1) for name, value in seconds.items()}


def first_results(page: tcsmt.Page) -> dict[str, float]:
    """Milliseconds to the first result: the median, in a new profile and in one that was used."""
    new, again = [], []
    for _ in range(TIMES):
        with opened() as tab:
            for times in (new, again):
                tab.open(page.path)
                times.append(float(tab.run("return Number(document.body.dataset.ready)")))
    return {"new profile": round(statistics.median(new)), "again": round(statistics.median(again))}


def pairs_of_atlas(tab: Tab) -> list[tuple[str, str]]:
    known: dict[str, Any] = tab.run("return loaded('pairs.js')")
    return [
        (record["left"], record["right"])
        for group in known["groups"]
        for *_, record in group["pairs"]
        if record["verdict"] == "distinguished"
    ]


def searches(page: tcsmt.Page, limit: float) -> dict[str, Any]:
    found, counts, missed = [], [], []
    with opened() as tab:
        tab.open(page.path)
        pairs = pairs_of_atlas(tab)
        for left, right in pairs:
            is_found, count, ms = tab.run(SEARCH, left, right, 1000 * limit, 1)
            if is_found:
                found.append(ms)
                counts.append(count)
            else:
                missed.append(
                    {"pair": [left, right], "inputs": count, "per second": round(1000 * count / ms)}
                )
                print(f"missed: {left} against {right}: {count:,} inputs", file=sys.stderr, flush=True)
    return {
        "pairs": len(pairs),
        "found": len(found),
        "limit in seconds": limit,
        "median of inputs": statistics.median(counts),
        "median of milliseconds": round(statistics.median(found), 1),
        "longest in milliseconds": round(max(found)),
        "missed": missed,
    }


#: Units of which the search's rate is taken.
RATED = tuple(
    tcsmt.unit(name).name
    for name in ("volta", "hopper", "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
)


def rates(page: tcsmt.Page) -> dict[str, int]:
    """Inputs a second of the search for a difference of units with themselves: none is there."""
    with opened() as tab:
        tab.open(page.path)
        runs = {name: tab.run(SEARCH, name, name, 3000, 1) for name in RATED}
    return {name: round(1000 * count / ms) for name, (_, count, ms) in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    if reason := why_not():
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as folder:
        page, seconds = built(folder)
        sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in first_view(page.path.parent)}
        data: dict[str, Any] = {
            "machine": machine(),
            "tcsmt": tcsmt.__version__,
            "page": {"units": len(page.units), "modules": page.modules, "bytes": page.size},
            "seconds to build": seconds,
            "bytes of the first view, compressed": sum(sizes.values()),
            "files of the first view": sizes,
            "milliseconds to the first result": first_results(page),
            "inputs a second": rates(page),
            "search": searches(page, given.limit),
        }
        missed = {name for one in data["search"]["missed"] for name in one["pair"]}
        data["models"] = models_named([*RATED, *sorted(missed)])
    text = json.dumps(data, indent=1, ensure_ascii=False)
    print(text)
    if given.output:
        given.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
