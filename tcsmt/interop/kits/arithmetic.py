"""The arithmetic of a unit in C: a function of one row, one of a product of matrices, one of many rows.

The first one is of integers alone. The others compute 16 rows of A at a time, which compilers make vectors
of, and what belongs to single words once: in floating point where the simulator does, too, in the form that
is proved to give the model's words (:mod:`tcsmt.simulate.forms.proved_forms`), or in the fused multiply-adds
that the model is made of; else in integers. Where the form says nothing, and where the state of the
floating-point unit is unusual, the row's function computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcsmt.interop.exports.c import declared, stored
from tcsmt.interop.exports.design import Design
from tcsmt.interop.hardware.instructions import formats_of
from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.terms import FALSE, Term, substitute
from tcsmt.language.write.c99 import C99, HELPERS, in_floating_point, type_of
from tcsmt.language.write.llvm import schedule
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.forms.proved_forms import proved_block
from tcsmt.simulate.kernel_source import lanes
from tcsmt.simulate.prepared import PreparedWords, prepared

#: Rows of A that are computed side by side, and columns of B that are prepared at a time.
ROWS, COLUMNS = 16, 32
#: Statements of a row's function beyond which compilers are told not to optimise it, if it is not often
#: called: they take a minute for two chains of 16 fused multiply-adds.
_MANY = 1500


#: GCC makes better vectors of a step where the processor shifts vectors by vectors, which the first x86-64
#: could not: so it compiles steps for newer ones too, and one is chosen when the program starts.
_CLONES = "TCSMT_CLONES"


@dataclass(frozen=True)
class UnitInC:
    """The functions of a unit. name: of the product's; with_rows: whether there is one of rows, too."""

    row: Row
    name: str
    with_rows: bool = False

    @property
    def model(self) -> Model:
        """Return the unit's model."""
        return self.row.model

    @property
    def parameters(self) -> str:
        """Return the parameters of the product's function: of words of A (m, k), B (n, k), C and D (m, n)."""
        return "size_t m, size_t n, const void *a, const void *b, const void *c, void *d"

    @property
    def heads(self) -> list[str]:
        """Return the heads of the functions for other files. Of rows: a (rows, k), b (rows, k), c and d."""
        rows = f"void {self.name}_rows(size_t count, const void *a, const void *b, const void *c, void *d)"
        return [f"void {self.name}({self.parameters})", *([rows] if self.with_rows else [])]

    @cached_property
    def text(self) -> str:
        """Return the file's text."""
        design = Design.of(self.row, self.name)
        fast = _Fast.of(self.model)
        lines = [*self._of_row(design)]
        if fast is not None:
            if len(lines) > _MANY:
                lines.insert(0, "TCSMT_NOT_OPTIMISED")
            lines += fast.lines(self.with_rows)
        lines += self._of_product(fast)
        if self.with_rows:
            lines += self._of_rows(fast)
        return "\n".join([*self._heading(design, lines), ""])

    def _heading(self, design: Design, lines: Sequence[str]) -> Iterator[str]:
        used = [name for name in HELPERS if any(f"tcsmt_{name}(" in line for line in lines)]
        yield from ("/*", *design.comment(lambda line: f" * {line}"), " */")
        yield '#include "units.h"'
        for name in used:
            yield HELPERS[name]
        yield from ("", *lines)

    def _of_row(self, design: Design) -> Iterator[str]:
        """Yield the function of one row, of integers alone."""
        ((root,),) = fitted([design.root], lambda macro: False)
        nodes = design.ordered([root])
        names = design.names(nodes, ["a", "b", "c0", "m", "n"]) | {self.model.trace.c: "c0"}
        statements, (result,) = C99(nodes, names).statements([root])
        a, b, c, d = (stored(f) for f in formats_of(self.model))
        yield f"static {d} row(const {a} *a, const {b} *b, {c} c) {{"
        for operand in design.inputs:
            for place, term in enumerate(operand.terms):
                if term in set(nodes):
                    word = "c" if operand.name == "c" else f"{operand.name}[{place}]"
                    yield f"  {declared(names[term], word, operand.format)}"
        yield from (f"  {line}" for line in statements)
        yield from (f"  return ({d})({result});", "}", "")

    def _arrays(self) -> Iterator[str]:
        a, b, c, d = map(stored, formats_of(self.model))
        for kind, side in ((a, "a"), (b, "b"), (c, "c")):
            yield f"  const {kind} *const of_{side} = {side};"
        yield f"  {d} *const of_d = d;"

    def _of_rows(self, fast: _Fast | None) -> Iterator[str]:
        k = self.model.k
        yield from (f"{self.heads[1]} {{", *self._arrays(), "  size_t i;")
        if fast is not None:
            call = "in_parts(count, of_a, of_b, of_c, of_d);"
            yield from (f"  if ({fast.condition}) {{", f"    {call}", "    return;", "  }")
        yield f"  for (i = 0; i < count; i++) of_d[i] = row(of_a + {k} * i, of_b + {k} * i, of_c[i]);"
        yield "}"

    def _of_product(self, fast: _Fast | None) -> Iterator[str]:
        k = self.model.k
        yield from (f"{self.heads[0]} {{", *self._arrays(), "  size_t i, j;")
        if fast is not None:
            call = "tiles(m, n, of_a, of_b, of_c, of_d);"
            yield from (f"  if (m >= 4 && {fast.condition}) {{", f"    {call}", "    return;", "  }")
        yield "  for (i = 0; i < m; i++)"
        yield "    for (j = 0; j < n; j++)"
        yield f"      of_d[i * n + j] = row(of_a + {k} * i, of_b + {k} * j, of_c[i * n + j]);"
        yield "}"


@dataclass(frozen=True)
class _Fast:
    """A step of a unit on prepared words, with c; chained over the unit's lanes.

    lanes: the unit's, in the order of the steps. floats: whether it computes in floating point.
    """

    model: Model
    step: Model
    lanes: Sequence[int]
    words: Sequence[PreparedWords]
    result: Term
    guard: Term
    floats: bool

    @property
    def condition(self) -> str:
        """Return where the step may be taken, as C."""
        return "tcsmt_usual_floats()" if self.floats else "1"

    @classmethod
    def of(cls, model: Model) -> _Fast | None:
        """Return the step of a model; None where lanes are prepared in different ways, or words are long."""
        block = proved_block(model)
        step: Model = model if block is None else block.model
        if block is not None:
            order = block.lanes
            roots = [block.form.result, block.form.guard]
        else:
            order = tuple(range(model.k))
            roots = [model.trace.output, FALSE]
        (result,), (guard,) = fitted(roots, in_floating_point)
        floats = any(node.op == "macro" for node in schedule([result, guard], {}))
        own = prepared({"a": step.trace.a, "b": step.trace.b}, [result, guard])
        if own is None or any(lane[0].width > 64 for words in own for lane in words.terms):
            return None
        inputs = {
            term: free
            for words in own
            for terms, variables in zip(words.terms, words.inputs, strict=True)
            for term, free in zip(terms, variables, strict=True)
        }
        result, guard = substitute([result, guard], inputs)
        return cls(model, step, order, own, result, guard, floats)

    def lines(self, with_rows: bool) -> Iterator[str]:
        """Yield the functions: what prepares a word, a step of 16 rows, the product, and rows if asked."""
        for words in self.words:
            yield from self._preparing(words)
        yield from self._step()
        yield from self._tiles()
        if with_rows:
            yield from self._rows()

    def _preparing(self, own: PreparedWords) -> Iterator[str]:
        word, fmt = own.words[0], self.step.a_format if own.name == "a" else self.step.b_format
        terms = [term[0] for term in own.terms]
        writer = C99(schedule(terms, {}), {word: "word"})
        statements, results = writer.statements(terms)
        outputs = ", ".join(f"uint{bits}_t *to{i}" for i, bits in enumerate(own.bits))
        yield f"static inline void prepare_{own.name}({stored(fmt)} given, {outputs}) {{"
        yield f"  {declared('word', 'given', fmt)}"
        yield from (f"  {line}" for line in statements)
        for i, (bits, result) in enumerate(zip(own.bits, results, strict=True)):
            yield f"  *to{i} = (uint{bits}_t)({result});"
        yield from ("}", "")

    def _step(self) -> Iterator[str]:
        c, d = stored(self.step.c_format), stored(self.step.d_format)
        names = {
            term: f"{own.name}{i}_{lane}"
            for own in self.words
            for i, variables in enumerate(own.inputs)
            for lane, term in enumerate(variables)
        }
        place = {term: lane for own in self.words for v in own.inputs for lane, term in enumerate(v)}
        nodes = schedule([self.result, self.guard], place | lanes(self.step))
        writer = C99(nodes, names | {self.step.trace.c: "c0"}, booleans=False)
        statements, (result, guard) = writer.statements([self.result, self.guard])
        parameters = ", ".join(f"const uint{bits}_t *restrict {x}" for x, bits in self._arrays)
        others = f"const {c} *restrict c, {d} *restrict d, uint32_t *restrict failed"
        # of B, lanes lie next to each other, and all rows have the same ones; or B has rows as A has
        yield "TCSMT_INLINE"
        yield f"void any_step({parameters}, {others}, const int lane, const int row) {{"
        yield from ("  int i;", "  (void)failed;", f"  for (i = 0; i < {ROWS}; i++) {{")
        used = set(nodes)
        for own in self.words:
            for number, variables in enumerate(own.inputs):
                for lane, term in enumerate(variables):
                    if term in used:
                        at = f"{lane * ROWS} + i" if own.name == "a" else f"{lane} * lane + i * row"
                        yield f"    const {type_of(term.width)} {names[term]} = {own.name}{number}[{at}];"
        yield f"    {declared('c0', 'c[i]', self.step.c_format)}"
        yield from (f"    {line}" for line in statements)
        failed = [] if self.guard is FALSE else [f"    failed[i] |= {guard};"]
        yield from (f"    d[i] = ({d})({result});", *failed, "  }", "}", "")
        names_of = ", ".join([*(x for x, _ in self._arrays), "c", "d", "failed"])
        for name, places in (("step", "1, 0"), ("step_of_rows", f"{ROWS}, 1")):
            yield _CLONES
            yield f"void {name}({parameters}, {others}) {{"
            yield from (f"  any_step({names_of}, {places});", "}", "")

    @property
    def _arrays(self) -> Iterable[tuple[str, int]]:
        """Return the prepared arrays, and the bits of their elements."""
        return [(f"{own.name}{i}", bits) for own in self.words for i, bits in enumerate(own.bits)]

    def _rows(self) -> Iterator[str]:
        """Yield the function of rows, 16 at a time."""
        k, each = self.model.k, self.step.k
        a, b, c, d = map(stored, formats_of(self.model))
        yield f"static void in_parts(size_t count, const {a} *a, const {b} *b, const {c} *c, {d} *d) {{"
        yield f"  static const uint8_t lanes[{k}] = {{{', '.join(map(str, self.lanes))}}};"
        for x, bits in self._arrays:
            yield f"  uint{bits}_t {x}[{k * ROWS}];"
        to_a, to_b = (
            ", ".join(f"{x} + l * {ROWS} + i" for x, _ in self._arrays if x[0] == side) for side in "ab"
        )
        moved = ", ".join(f"{x} + s * {each * ROWS}" for x, _ in self._arrays)
        yield f"""  size_t first, i, l, s;
  for (first = 0; first < count; first += {ROWS}) {{
    const size_t rows = count - first < {ROWS} ? count - first : {ROWS};
    {c} addend[{ROWS}];
    {d} sum[{ROWS}];
    uint32_t failed[{ROWS}] = {{0}};
    for (i = 0; i < {ROWS}; i++) {{ /* rows beyond the last are the first one again */
      const size_t at = first + (i < rows ? i : 0);
      addend[i] = c[at];
      for (l = 0; l < {k}; l++) {{
        prepare_a(a[at * {k} + lanes[l]], {to_a});
        prepare_b(b[at * {k} + lanes[l]], {to_b});
      }}
    }}
    for (s = 0; s < {len(self.lanes) // each}; s++) {{
      if (s) for (i = 0; i < {ROWS}; i++) addend[i] = ({c})sum[i];
      step_of_rows({moved}, addend, sum, failed);
    }}
    for (i = 0; i < rows; i++)
      d[first + i] = failed[i] ? row(a + (first + i) * {k}, b + (first + i) * {k}, c[first + i]) : sum[i];
  }}
}}
"""

    def _tiles(self) -> Iterator[str]:
        """Yield the product: columns of B are prepared at a time, then 16 rows of A."""
        model, k, each = self.model, self.model.k, self.step.k
        a, b, c, d = map(stored, formats_of(model))
        yield f"static void tiles(size_t m, size_t n, const {a} *a, const {b} *b, const {c} *c, {d} *d) {{"
        yield f"  static const uint8_t lanes[{k}] = {{{', '.join(map(str, self.lanes))}}};"
        for x, bits in self._arrays:
            yield f"  uint{bits}_t {x}[{k * (ROWS if x[0] == 'a' else COLUMNS)}];"
        in_a, in_b = ([x for x, _ in self._arrays if x[0] == side] for side in "ab")
        to_a = ", ".join(f"{x} + l * {ROWS} + i" for x in in_a)
        to_b = ", ".join(f"{x} + j * {k} + l" for x in in_b)
        moved = [f"{x} + s * {each * ROWS}" for x in in_a] + [f"{x} + j * {k} + s * {each}" for x in in_b]
        steps = len(self.lanes) // each
        yield f"""  size_t first, column, i, j, l, s;
  for (column = 0; column < n; column += {COLUMNS}) {{
    const size_t columns = n - column < {COLUMNS} ? n - column : {COLUMNS};
    for (j = 0; j < columns; j++)
      for (l = 0; l < {k}; l++) prepare_b(b[(column + j) * {k} + lanes[l]], {to_b});
    for (first = 0; first < m; first += {ROWS}) {{
      const size_t rows = m - first < {ROWS} ? m - first : {ROWS};
      for (i = 0; i < {ROWS}; i++) /* rows beyond the last are the first one again */
        for (l = 0; l < {k}; l++) prepare_a(a[(first + (i < rows ? i : 0)) * {k} + lanes[l]], {to_a});
      for (j = 0; j < columns; j++) {{
        {c} addend[{ROWS}];
        {d} sum[{ROWS}];
        uint32_t failed[{ROWS}] = {{0}};
        for (i = 0; i < {ROWS}; i++) addend[i] = c[(first + (i < rows ? i : 0)) * n + column + j];
        for (s = 0; s < {steps}; s++) {{"""
        if steps > 1:
            yield f"          if (s) for (i = 0; i < {ROWS}; i++) addend[i] = sum[i];"
        yield f"""          step({", ".join(moved)}, addend, sum, failed);
        }}
        for (i = 0; i < rows; i++) {{
          const size_t at = (first + i) * n + column + j;
          d[at] = failed[i] ? row(a + (first + i) * {k}, b + (column + j) * {k}, c[at]) : sum[i];
        }}
      }}
    }}
  }}
}}
"""
