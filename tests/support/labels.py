"""Where the labels of a picture are: the box of each text of an SVG that is set in a monospaced font."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

#: Of DejaVu Sans Mono, in parts of the size: the width of a character, and what is above and below the line.
WIDTH, ABOVE, BELOW = 0.602, 0.76, 0.2
_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Label:
    """A text and its box, in the picture's units."""

    text: str
    left: float
    right: float
    top: float
    bottom: float

    def touches(self, other: Label) -> bool:
        """Whether the boxes overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def labels(svg: str) -> Iterator[Label]:
    """Every text of one of our pictures."""
    for element in ET.fromstring(svg).iter(f"{_SVG}text"):
        classes = (element.get("class") or "").split()
        size = 14 if "head" in classes else 10 if "small" in classes else 12
        parts = [(element.text or "", size), *((e.text or "", 8) for e in element)]
        width = sum(len(text) * WIDTH * height for text, height in parts)
        middle = "middle" in classes or "bit" in classes
        left = float(element.get("x", 0)) - (width / 2 if middle else 0)
        line = float(element.get("y", 0))
        raised = 4 if len(parts) > 1 else 0
        text = "".join(text for text, _ in parts)
        yield Label(text, left, left + width, line - ABOVE * size - raised, line + BELOW * size)


def faults(svg: str) -> list[str]:
    """Labels that leave the picture, and pairs that overlap."""
    _, _, wide, high = (float(part) for part in ET.fromstring(svg).attrib["viewBox"].split())
    found = list(labels(svg))
    outside = [x for x in found if x.left < 0 or x.top < 0 or x.right > wide or x.bottom > high]
    pairs = [(x, y) for x, y in combinations(found, 2) if x.touches(y)]
    return [f"outside: {x.text}" for x in outside] + [f"overlap: {x.text} | {y.text}" for x, y in pairs]
