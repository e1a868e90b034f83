"""Classical probes of a black box: the order of its sum, precision, rounding, special values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tcsmt.identification.units.boxes import probed_box
from tcsmt.identification.units.classical import BlackBox, OutOfReach, profile, special_values, summation_tree
from tcsmt.interface.api.black_boxes import box_asked
from tcsmt.interface.api.units import UnitLike
from tcsmt.support.errors import choose
from tcsmt.support.floats import ieee_floats
from tcsmt.support.invariants import not_none
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.surveys.papers.khattak import features

#: What a classical probe reads; the last is all of them.
ClassicalProbe = Literal["tree", "precision", "rounding", "special", "features", "all"]
PROBES: tuple[ClassicalProbe, ...] = get_args(ClassicalProbe)


@dataclass(frozen=True, repr=False)
class IdentifyProbe(Result):
    """Readings of classical probes of a black box.

    readings: by name, such as ``summation_tree`` and ``rounding``; "out of reach" where the formats cannot
    ask it. questions: how many were asked.
    """

    readings: Mapping[str, Any]
    questions: int

    def _facts(self) -> dict[str, Any]:
        return {**self.readings, "questions": self.questions}

    def _lines(self) -> Iterator[str]:
        for name, reading in self.readings.items():
            if not isinstance(reading, dict):
                yield reading if "\n" in str(reading) else f"{name}: {reading}"
                continue
            yield f"{name}:"
            for key, value in reading.items():
                parts = [f"{k} {v}" for k, v in value.items()] if isinstance(value, dict) else []
                yield f"  {key}: {', '.join(parts) or value}"
        yield self._title

    @property
    def _title(self) -> str:
        return counted(self.questions, "question")


@ieee_floats
def identify_probe(
    box: Callable[..., Any] | UnitLike | None = None,
    probe: ClassicalProbe = "all",
    *,
    like: UnitLike | None = None,
    formats: Sequence[str] | None = None,
    k: int | None = None,
    command: str | None = None,
    device: UnitLike | None = None,
    answer_timeout: float = 30.0,
) -> IdentifyProbe:
    """Read how a black box sums and rounds, by the probes of the literature; not a proof.

    ``tree`` (the order of summation, by masking), ``precision`` (fraction bits that are kept),
    ``rounding`` (of aligned addends and of the result), ``special`` (subnormal numbers, zeros, overflow,
    infinities, NaNs), ``features`` (the columns of Khattak and Mikaitis's table) or ``all``.

    Args:
        box: As for :func:`tcsmt.identify`, as those that are not listed here.
        probe: Run a classical probe on the box instead.

    Raises :class:`tcsmt.TcsmtError` for another probe, and for formats that no fused dot-add has.

    >>> import tcsmt
    >>> print(tcsmt.identify_probe("volta", "tree"))
    summation_tree: [c p0..p3]
    one sum of 5
    └─ c p0..p3
    12 questions
    """
    choose("probe", probe, PROBES)
    with box_asked(
        box, like=like, formats=formats, k=k, command=command, device=device, timeout=answer_timeout
    ) as (shape, asked):
        family = shape.fused("a probe")
        black_box, count = probed_box(not_none(asked), family.formats, family.k)
        return IdentifyProbe(readings(black_box, probe), count())


def readings(box: BlackBox, probe: str) -> dict[str, Any]:
    """Return what a classical probe reads, by name."""
    read: dict[str, Any] = {}
    if probe in ("tree", "all"):
        try:
            tree = summation_tree(box)
            read |= {"summation_tree": tree.text(box.k), "picture": tree.picture(box.k)}
        except OutOfReach as why:
            read["summation_tree"] = f"out of reach: {why}"
    if probe in ("precision", "rounding", "all"):
        seen = profile(box)
        parts = {"precision": "bits", "rounding": "mode"}
        for name, part in parts.items():
            if probe in (name, "all"):
                sides = {**seen["alignment"], **{f"result, {key}": v for key, v in seen["result"].items()}}
                read[name] = {key: value[part] for key, value in sides.items()}
    if probe in ("special", "all"):
        read["special"] = special_values(box)
    if probe in ("features", "all"):
        try:
            read["features"] = features(box)
        except OutOfReach as why:
            read["features"] = f"out of reach: {why}"
    return read
