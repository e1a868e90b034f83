"""A model as a C99 header: a function of one row, and one of arrays of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tcsmt.interop.exports.design import Design
from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.terms import Term
from tcsmt.language.write.c99 import C99, HELPERS, container, literal, type_of
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.simulate.kernel_source import OperandArray

#: GCC makes vectors of a loop when all of it is one function and the processor can shift vectors by vectors,
#: which the first x86-64 could not: so it compiles the loop for newer ones too, and one is chosen when the
#: program starts. (Measured: 6 times as fast.)
_CLONES = """#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
__attribute__((target_clones("avx512f", "avx2", "default"), unused))
static
#else
static inline
#endif"""
#: The word of c in the function, whose parameter is ``c``, as the operands' are.
_C = "c0"
_INLINE = """#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline"""


def c(design: Design) -> str:
    """Return the text of the header. A stage of more than 64 bits is several words, the lowest first."""
    name, guard = design.name, f"{design.name.upper()}_H"
    ((root,), *stages) = fitted([design.root, *design.stages], lambda macro: False)
    nodes = design.ordered([root])
    pieces: dict[Term, str] = {}
    for limbs, stage in zip(stages, design.stages.values(), strict=True):
        for place, limb in enumerate(limbs):
            if limb.args:
                pieces.setdefault(limb, stage if len(limbs) == 1 else f"{stage} word {place}")
    names = design.names(nodes, ["rows", "i", _C], pieces) | {design.model.trace.c: _C}
    writer = C99(nodes, names)
    statements, (result,) = writer.statements([root])
    d, of_row, of_rows, arguments = _signatures(design)
    used = {node for node in nodes if node.op == "var"}
    return "\n".join(
        [
            "/*",
            *design.comment(lambda line: f" * {line}"),
            " *",
            f" * {name}(...) is d of one row; {name}_rows(...) is for many, which lie one behind the other.",
            " * A word is in the lowest bits of the unsigned integer that holds it; other bits are ignored.",
            " */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "#include <limits.h>",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "#if UINT_MAX != 0xffffffffu",
            '#error "int must have 32 bits"',
            "#endif",
            *(_guarded(helper) for helper in sorted(writer.helpers)),
            "",
            _INLINE,
            f"{d} {name}({', '.join(of_row)}) {{",
            *(f"  {line}" for operand in design.inputs for line in _read(operand, used, names)),
            *(f"  {line}" for line in statements),
            f"  return ({d})({result});",
            "}",
            "",
            _CLONES,
            f"void {name}_rows({', '.join(['size_t rows', *of_rows, f'{d} *restrict d'])}) {{",
            "  size_t i;",
            f"  for (i = 0; i < rows; i++) d[i] = {name}({', '.join(arguments)});",
            "}",
            "#endif",
            "",
        ]
    )


def _signatures(design: Design) -> tuple[str, list[str], list[str], list[str]]:
    """Return the type of a result; parameters for a row and for rows; and what the second gives to the
    first.
    """
    of_row, of_rows, arguments = [], [], []
    for operand in design.inputs:
        kind, lanes = stored(operand.format), len(operand.terms)
        if operand.name == "c":
            of_row.append(f"{kind} {operand.name}")
            arguments.append(f"{operand.name}[i]")
        else:
            of_row.append(f"const {kind} {operand.name}[{lanes}]")
            arguments.append(f"{operand.name} + {lanes} * i")
        of_rows.append(f"const {kind} *restrict {operand.name}")
    return stored(design.model.d_format), of_row, of_rows, arguments


def _read(operand: OperandArray, used: Collection[Term], names: Mapping[Term, str]) -> Iterator[str]:
    """Yield the statements that read an operand's words."""
    for place, term in enumerate(operand.terms):
        word = operand.name if operand.name == "c" else f"{operand.name}[{place}]"
        if term not in used:
            continue
        yield declared(names[term], word, operand.format)


def declared(name: str, word: str, fmt: AnyFormat) -> str:
    """Return the statement that reads a word, and makes what is none of its bits 0."""
    if fmt.width < 8 * unsigned(fmt).itemsize:
        word = f"{word} & {literal((1 << fmt.width) - 1, container(fmt.width))}"
    return f"const {type_of(fmt.width)} {name} = {word};"


def stored(fmt: AnyFormat) -> str:
    """Return the type that holds a format's words in memory."""
    return f"uint{8 * unsigned(fmt).itemsize}_t"


def _guarded(helper: str) -> str:
    """Return a helper, which several headers may bring along."""
    guard = f"TCSMT_{helper.upper()}"
    return f"#ifndef {guard}\n#define {guard}\n{HELPERS[helper]}\n#endif"
