"""The atlas of chained units as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from tcsmt.support.text import counted
from tcsmt.surveys.units.chained import ChainedAtlas, ChainedGroup, OnDomain, largest_equal, smallest_witness
from tcsmt.surveys.units.model_pairs import proved_by


def as_chained_table(atlas: ChainedAtlas) -> str:
    """Classes, and for each pair the smallest known witness and the largest domain of equality."""
    several = zip(atlas.groups, atlas.known, strict=True)
    return "\n".join(line for group, results in several for line in _lines(atlas, group, results)) + "\n"


def _lines(atlas: ChainedAtlas, group: ChainedGroup, results: Sequence[OnDomain]) -> Iterator[str]:
    yield group.title
    for number, unit in enumerate(group.units, 1):
        yield f"  {number}: {', '.join(row.name for row in unit.rows)}"
    for row, why in group.left_out:
        yield f"  left out: {row.name}: {why}"
    yield from _integers(atlas, group)
    for first, second in combinations(range(len(group.units)), 2):
        yield f"  {first + 1} | {second + 1}: {'; '.join(_said(atlas, group, results, first, second))}"
    for here in results:
        for (first, second), record in here.records.items():
            if record["verdict"] == "equivalent":
                how = f"{proved_by(record)}, {record['seconds']:.2f} s"
                yield f"  proved: {first + 1} = {second + 1} on {here.domain}: {how}"
    yield ""


def _integers(atlas: ChainedAtlas, group: ChainedGroup) -> Iterator[str]:
    """Say up to which size each class sums integers exactly."""
    exact: dict[int, list[str]] = {}
    wrong: dict[int, list[str]] = {}
    for number, unit in enumerate(group.units):
        if unit.name in atlas.integers:
            bits, beyond = atlas.bits(group, number), atlas.integers[unit.name].get("beyond")
            if not bits and beyond is not None:
                wrong.setdefault(beyond["size"], []).append(str(number + 1))
            else:
                exact.setdefault(bits, []).append(str(number + 1))
    for bits, numbers in sorted(exact.items(), reverse=True):
        text = f"proved where |c| + Σ |a·b| is below 2^{bits}" if bits else "not proved"
        yield f"  integers are summed exactly by {', '.join(numbers)}: {text}"
    for size, numbers in sorted(wrong.items()):
        example = f"|c| + Σ |a·b| = {size} is an example"
        yield f"  integers are not summed exactly by {', '.join(numbers)}: {example}"


def _said(
    atlas: ChainedAtlas, group: ChainedGroup, results: Sequence[OnDomain], first: int, second: int
) -> Iterator[str]:
    witness = smallest_witness(group, results, first, second)
    if witness is not None:
        values, left, right = witness
        used = [f"{name}={group.formats[name].hex(word)}" for name, word in values.items() if word]
        result = group.units[first].rows[0].model.d_format
        yield f"{' '.join(used) or 'all zero'} -> {result.hex(left)} | {result.hex(right)}"
    equal, unknown = largest_equal(results, first, second)
    if equal is not None:
        yield f"equal on: {equal.domain}"
    bits = atlas.bits(group, first, second)
    if bits:
        yield f"equal on: integers, |c| + Σ |a·b| below 2^{bits}"
    if unknown:
        more = f" and {counted(len(unknown) - 1, 'smaller domain')}" if len(unknown) > 1 else ""
        yield f"unknown on: {unknown[0].domain}{more}"
