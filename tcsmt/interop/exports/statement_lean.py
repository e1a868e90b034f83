"""A certificate's statement as a theorem of Lean 4, whose proof is one call of ``bv_decide``.

Each node of a term is a ``let`` of type ``BitVec``, by the operations of Lean's own library; a truth value is
a word of one bit. The conditions are those of the SMT-LIB script of the statement. No Lean has run it: there
is none among the packages with which tcsmt is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tcsmt.interop.exports.statement_smtlib import StageNames, asserted
from tcsmt.language.terms import Term, expand, operands_first
from tcsmt.language.write.inlining import fresh
from tcsmt.prove.certificates.statement import Statement
from tcsmt.support.escaping import comment


def bindings(roots: Sequence[Term], names: Mapping[Term, str]) -> tuple[list[str], list[str]]:
    """Return the lines that bind everything below the roots, one operation each, and an expression for each
    root.

    names: of some nodes without macros; the others are ``t0``, ``t1``, … The inputs are bound outside.
    """
    roots = expand(roots)
    nodes = operands_first(roots)
    others = fresh({str(node.data) for node in nodes if node.op == "var"} | set(names.values()))
    text: dict[Term, str] = {}
    lines = []
    for node in nodes:
        if node.op == "var":
            text[node] = str(node.data)
        elif node.op == "const":
            text[node] = f"{node.value}#{node.width}"
        else:
            *first, last = _steps(node, [text[arg] for arg in node.args], others)
            lines += [f"let {name} : BitVec {node.width} := {expression}" for name, expression in first]
            text[node] = names[node] if node in names else last[0]
            lines.append(f"let {text[node]} : BitVec {node.width} := {last[1]}")
    return lines, [text[root] for root in roots]


def _steps(node: Term, args: Sequence[str], names: Iterator[str]) -> list[tuple[str, str]]:
    """Return a node's operation as expressions with names: a maximum takes two words at a time."""
    if node.op != "umax":
        return [(next(names), _EXPRESSION[node.op](node, *args))]
    steps: list[tuple[str, str]] = []
    largest = args[0]
    for arg in args[1:]:
        steps.append((next(names), f"if BitVec.ult {largest} {arg} then {arg} else {largest}"))
        largest = steps[-1][0]
    return steps


def _joined(symbol: str) -> Callable[..., str]:
    return lambda node, *args: f" {symbol} ".join(args)


def _called(function: str) -> Callable[..., str]:
    return lambda node, *args: f"BitVec.{function} {' '.join(args)}"


def _truth(function: str) -> Callable[..., str]:
    return lambda node, *args: f"BitVec.ofBool (BitVec.{function} {' '.join(args)})"


#: How a node of each operation is written.
_EXPRESSION: dict[str, Callable[..., str]] = {
    "not": lambda n, x: f"~~~{x}",
    "and": _joined("&&&"),
    "or": _joined("|||"),
    "xor": _joined("^^^"),
    "neg": lambda n, x: f"-{x}",
    "add": _joined("+"),
    "sub": _joined("-"),
    "mul": _joined("*"),
    "shl": _joined("<<<"),
    "lshr": _joined(">>>"),
    "ashr": _called("sshiftRight'"),
    "concat": _joined("++"),
    "extract": lambda n, x: f"BitVec.extractLsb {n.data[0]} {n.data[1]} {x}",
    "zext": lambda n, x: f"BitVec.setWidth {n.width} {x}",
    "sext": lambda n, x: f"BitVec.signExtend {n.width} {x}",
    "ite": lambda n, c, x, y: f"if {c} == 1#1 then {x} else {y}",
    "eq": lambda n, x, y: f"BitVec.ofBool ({x} == {y})",
    "ult": _truth("ult"),
    "slt": _truth("slt"),
}


def statement_theorem(statement: Statement, about: Iterable[str]) -> str:
    """Return the text of a file that defines all conditions together, with the theorem that no input
    satisfies them.

    about: lines of comment.
    """
    conditions = asserted(statement)
    lines, texts = bindings([term for _, term in conditions], StageNames(statement))
    named = [f"let {name} : BitVec 1 := {text}" for (name, _), text in zip(conditions, texts, strict=True)]
    conjunction = " &&& ".join(name for name, _ in conditions)
    inputs = statement.widths
    formals = " ".join(f"({name} : BitVec {width})" for name, width in inputs.items())
    return "\n".join(
        [
            "-- NOT RUN: no Lean has read this file.",
            *(f"-- {comment(line)}".rstrip() for line in about),
            "import Std.Tactic.BVDecide",
            "",
            "open BitVec",
            "set_option maxRecDepth 100000",
            "",
            f"def conditions {formals} : BitVec 1 :=",
            *(f"  {line}" for line in (*lines, *named)),
            f"  {conjunction}",
            "",
            f"theorem no_input {formals} :",
            f"    conditions {' '.join(inputs)} = 0#1 := by",
            "  unfold conditions",
            "  bv_decide",
            "",
        ]
    )
