"""A certificate's statement as a theorem of Lean 4, whose proof is one call of ``bv_decide``.

No Lean has run it. It is written from the same conditions as the SMT-LIB script of the statement.
"""

from __future__ import annotations

from collections.abc import Iterable

from tcsmt.language.write.lean import bindings
from tcsmt.outside.exports.statement_smtlib import StageNames, asserted
from tcsmt.prove.certificates.statement import Statement
from tcsmt.support.escaping import comment

__all__ = ["statement_theorem"]


def statement_theorem(statement: Statement, about: Iterable[str]) -> str:
    """Return the text of a file that defines all conditions together, with the theorem that no input
    satisfies them.

    about: lines of comment.
    """
    conditions = asserted(statement)
    lines, texts = bindings([term for _, term in conditions], StageNames(statement))
    named = [f"let {name} : BitVec 1 := {text}" for (name, _), text in zip(conditions, texts, strict=True)]
    whole = " &&& ".join(name for name, _ in conditions)
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
            f"  {whole}",
            "",
            f"theorem no_input {formals} :",
            f"    conditions {' '.join(inputs)} = 0#1 := by",
            "  unfold conditions",
            "  bv_decide",
            "",
        ]
    )
