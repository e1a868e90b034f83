"""Choices of SystemVerilog that claim that their conditions exclude each other, or that one of them holds.

Simulators report a violation of ``unique`` or ``priority`` and go on; synthesis takes the claim for granted.
So a claim must hold at all inputs, which constants alone decide here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tcsmt.interop.implementations.verilog_tree import VerilogNode, VerilogTree

_CHECKS = {"Unique": "unique", "Unique0": "unique0", "Priority": "priority"}
_UNSIGNED = re.compile(r"(logic|reg|bit)(\[|$)")


def choice_fault(node: VerilogNode, tree: VerilogTree) -> str:
    """Say what a case or an if claims that may not hold at all inputs; empty where there is no such claim."""
    attributes = {str(part.get("name")) for part in node.get("attributes", ())}
    claim = str(node.get("check", "None"))
    words = [_CHECKS[claim]] if claim in _CHECKS else []
    words += sorted(attributes & {"full_case", "parallel_case"})
    distinct = claim in ("Unique", "Unique0") or "parallel_case" in attributes
    covered = claim in ("Unique", "Priority") or "full_case" in attributes
    is_case = node["kind"] == "Case"
    if not words or (not distinct and _has_default(node)):
        return ""
    what = f"{' '.join(words)} {'case' if is_case else 'if'}"
    labels, is_complete = _labels(node) if is_case else _tests(node)
    if labels is None:
        return f"{what}: whether its conditions exclude each other is not known"
    if distinct and any(_meet(x, y) for n, x in enumerate(labels) for y in labels[:n]):
        return f"{what}: its conditions overlap"
    width = _width(node["expr"] if is_case else node["conditions"][0]["expr"]["left"], tree)
    reached = [label[-width:] for label in labels if not label[:-width].strip("0-")]
    if covered and not is_complete and not _covers(reached, width):
        return f"{what}: no condition may hold"
    return ""


def _width(node: VerilogNode, tree: VerilogTree) -> int:
    """Return the bits of an expression, without those that an extension by zeros adds."""
    while node["kind"] == "Conversion" and _UNSIGNED.match(str(node["operand"]["type"])):
        node = node["operand"]
    return tree.type_of(node).width


def _has_default(node: VerilogNode) -> bool:
    """Return whether a case or a chain of if has a branch for everything else."""
    while node.get("kind") == "Conditional" and "ifFalse" in node:
        node = node["ifFalse"]
    return "defaultCase" in node or node.get("kind") not in ("Conditional", "Case")


def _covers(labels: Sequence[str], width: int) -> bool:
    """Return whether labels that exclude each other, or few of any kind, fit all words of so many bits."""
    if not width or not labels:
        return bool(labels)
    halves = ([label[1:] for label in labels if label[0] in ("-", bit)] for bit in "01")
    return all(_covers(half, width - 1) for half in halves)


def _meet(first: str, second: str) -> bool:
    """Return whether there are bits that fit both."""
    return all("-" in (x, y) or x == y for x, y in zip(first, second, strict=True))


def _labels(node: VerilogNode) -> tuple[list[str] | None, bool]:
    """Return the constants of a case as bits, ``-`` for any, and whether it has a default; None: not
    constants.
    """
    wild = {"WildcardXOrZ": "xz?", "WildcardJustZ": "z?"}.get(str(node.get("condition")), "")
    found: list[str] = []
    for item in node.get("items", ()):
        for label in item["expressions"]:
            bits = _bits(label)
            if bits is None or "pattern" in label:
                return None, False
            found.append("".join("-" if bit in wild else bit for bit in bits))
    if any(set(label) - set("01-") for label in found) or node.get("condition") == "Inside":
        return None, False
    width = max(map(len, found), default=0)
    return [label.rjust(width, "0") for label in found] or None, "defaultCase" in node


def _tests(node: VerilogNode) -> tuple[list[str] | None, bool]:
    """Return the same of a chain of if whose conditions compare one expression with constants."""
    found: list[str] = []
    subject: object = None
    now: VerilogNode | None = node
    while now is not None and now.get("kind") == "Conditional":
        condition = now["conditions"][0]["expr"] if len(now["conditions"]) == 1 else {}
        bits = _bits(condition.get("right", {}))
        same = condition.get("left") == subject or subject is None
        if condition.get("op") != "Equality" or bits is None or not same or set(bits) - set("01"):
            return None, False
        subject = condition["left"]
        found.append(bits)
        now = now.get("ifFalse")
    return found, now is not None


def _bits(node: VerilogNode) -> str | None:
    """Return the bits of a constant expression; None: it is none, or negative."""
    constant, kind = str(node.get("constant", "")), str(node.get("type", ""))
    match = re.fullmatch(r"(\d+)'s?([bdh])([0-9a-fxz?_]+)", constant, re.IGNORECASE)
    if match is None:
        return (
            f"{int(constant):032b}"
            if constant.isdigit() and kind in ("int", "logic signed[31:0]", "integer")
            else None
        )
    width, base, digits = int(match[1]), match[2].lower(), match[3].lower().replace("_", "")
    if base == "d":
        return f"{int(digits):b}".rjust(width, "0")[-width:] if digits.isdigit() else digits * width
    size = {"b": 1, "h": 4}[base]
    bits = "".join(digit * size if digit in "xz?" else f"{int(digit, 16):0{size}b}" for digit in digits)
    fill = bits[0] if bits[0] in "xz" else "0"
    return bits.rjust(width, fill)[-width:]
