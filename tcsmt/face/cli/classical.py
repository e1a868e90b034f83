"""What the classical probes of ``tcsmt identify --probe`` find, as data."""

from __future__ import annotations

from typing import Any

from tcsmt.identification.units.classical import BlackBox, OutOfReach, profile, special_values, summation_tree
from tcsmt.study.papers.khattak import features

__all__ = ["probed"]


def probed(box: BlackBox, kind: str) -> dict[str, Any]:
    """What a classical probe finds, by the names of ``--probe``."""
    found: dict[str, Any] = {}
    if kind in ("tree", "all"):
        try:
            tree = summation_tree(box)
            found |= {"summation_tree": tree.text(box.k), "picture": tree.picture(box.k)}
        except OutOfReach as why:
            found["summation_tree"] = f"out of reach: {why}"
    if kind in ("precision", "rounding", "all"):
        seen = profile(box)
        parts = {"precision": "bits", "rounding": "mode"}
        for name, part in parts.items():
            if kind in (name, "all"):
                sides = {**seen["alignment"], **{f"result, {key}": v for key, v in seen["result"].items()}}
                found[name] = {key: value[part] for key, value in sides.items()}
    if kind in ("special", "all"):
        found["special"] = special_values(box)
    if kind in ("features", "all"):
        try:
            found["features"] = features(box)
        except OutOfReach as why:
            found["features"] = f"out of reach: {why}"
    return found
