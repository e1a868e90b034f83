"""An element's terms as the text of a program: chains of instructions, and the steps around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from tcsmt.interop.compiled.scalar_forms import SCALAR_FORMS
from tcsmt.interop.compiled.terms import Constant, DotProduct, MemoryWord, NumberStep, TermGraph
from tcsmt.matrix_units.catalogue import Row
from tcsmt.support.errors import TcsmtError

#: Which offset of a buffer, and what is done to the word there: a term with a hole in place of the word.
_Template: TypeAlias = "tuple[Any, ...] | str"
_HOLE = "word"


@dataclass(frozen=True)
class Progression:
    """Words of A or of B along K: the first one's offset in its buffer, the distance of two, and how many."""

    buffer: str
    first: int
    stride: int
    count: int


@dataclass(frozen=True)
class ProgramText:
    """A program as lines, and what its file needs besides.

    formats: of A, B, c and the result. units: short names. inputs: formats of other inputs (c, too) by
    their names, and their offsets. along: the words of A and of B. freedoms: names, and how many alternatives
    each has (0: an approximation, of which the nearest number can be taken). freedom_lines: of instructions.
    """

    lines: tuple[str, ...]
    formats: Mapping[str, str]
    units: Mapping[str, str]
    inputs: Mapping[str, tuple[str, int]]
    along: Mapping[str, Progression]
    freedoms: Mapping[str, int]
    freedom_lines: Mapping[str, int]

    @property
    def choices(self) -> dict[str, str]:
        """Return a choice for each freedom."""
        return {name: "0" if count else "nearest" for name, count in self.freedoms.items()}


@dataclass
class _Operand:
    """An operand of an instruction: its steps, and the offsets of its words (None: +0, which fills up)."""

    template: _Template
    offsets: list[int | None]


@dataclass
class _Instruction:
    number: int
    unit: str
    names: tuple[str, str]
    ks: list[int]
    padded: bool


@dataclass
class Writer:
    """A text that is being written. rows: the row of a unit's name. buffers: names of pointers."""

    terms: TermGraph
    rows: Callable[[str], Row]
    buffers: Mapping[int, str]
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    formats: dict[int, str] = field(default_factory=dict)
    inputs: dict[str, tuple[str, int]] = field(default_factory=dict)
    operands: dict[tuple[str, _Template, str], str] = field(default_factory=dict)
    operand_formats: dict[str, str] = field(default_factory=dict)
    short: dict[str, str] = field(default_factory=dict)
    freedoms: dict[str, int] = field(default_factory=dict)
    freedom_lines: dict[str, int] = field(default_factory=dict)
    along: dict[str, Progression] = field(default_factory=dict)
    places: dict[str, dict[int, int]] = field(default_factory=dict)

    def write(self, root: int) -> ProgramText:
        """Return the text of a term. Raises :class:`.TcsmtError` for what no program says."""
        order = self.terms.reachable(root)
        products = {n: term for n in order if isinstance(term := self.terms[n], DotProduct)}
        zeros = {n for n, term in products.items() if not any(map(self._is_read, (*term.a, *term.b)))}
        operands = {
            n: (self._operand(term.a), self._operand(term.b))
            for n, term in products.items()
            if n not in zeros
        }
        outside = self._outside(root)
        self.places = self._places(operands, outside)
        inside = {
            n
            for term in products.values()
            for number in (*term.a, *term.b)
            for n in self.terms.reachable(number)
        }
        self.instructions = {n: self._instruction(n, products[n], *pair) for n, pair in operands.items()}
        self.uses = Counter(
            taken for n in order if n not in inside or n in products for taken in self._taken(n)
        )
        for number in outside:
            self._step(number, root)
        if not self.lines or not self.lines[-1].startswith("d = "):
            raise TcsmtError("the element is not computed: it is stored as it was loaded")
        if self.along.keys() != {"A", "B"}:
            raise TcsmtError("no instruction takes words of A and of B")
        return ProgramText(
            tuple(self.lines),
            {
                "A": self.operand_formats["A"], "B": self.operand_formats["B"],
                "c": self.inputs.get("c", ("f32", 0))[0], "d": self.formats[root],
            },
            {short: self.rows(unit).name for unit, short in self.short.items()},
            self.inputs,
            self.along, self.freedoms, self.freedom_lines,
        )  # fmt: skip

    def _taken(self, number: int) -> Sequence[int]:
        term = self.terms[number]
        return (term.c,) if isinstance(term, DotProduct) else tuple(self.terms.takes(number))

    def _outside(self, root: int) -> list[int]:
        """Return the terms that are steps of the element, operands left out, in order."""
        found, rest = set[int](), [root]
        while rest:
            number = rest.pop()
            if number not in found:
                found.add(number)
                rest += self._taken(number)
        return sorted(found)

    # operands: words of A and B, and what is done to each of them

    def _template(self, number: int) -> tuple[_Template, tuple[int, int] | None]:
        """Return what is done to a word, and where it is: its buffer and offset."""
        term = self.terms[number]
        match term:
            case MemoryWord(buffer, offset, _):
                return _HOLE, (buffer, offset)
            case Constant(size, bits):
                return (f"0x{bits:0{2 * size}x}",), None
            case NumberStep(form, takes, _, _):
                pairs = [self._template(taken) for taken in takes]
                places = {place for _, place in pairs if place is not None}
                if len(places) > 1:
                    raise TcsmtError("an operand of a matrix instruction is computed from several words")
                return (form, *(part for part, _ in pairs)), next(iter(places), None)
        raise TcsmtError("an operand of a matrix instruction is the result of another one")

    def _is_read(self, number: int) -> bool:
        """Return whether an operand's word is not the +0 that fills an instruction up."""
        term = self.terms[number]
        return not isinstance(term, Constant) or bool(term.bits)

    def _operand(self, words: Sequence[int]) -> tuple[str, _Operand]:
        """Return the buffer of an operand's words, with their offsets."""
        found: list[tuple[_Template, tuple[int, int] | None]] = []
        for number in words:
            term = self.terms[number]
            found.append(
                ("", None) if isinstance(term, Constant) and not term.bits else self._template(number)
            )
        templates = {template for template, _ in found if template}
        places = {place[0] for _, place in found if place is not None}
        if not templates:
            raise TcsmtError("a matrix instruction multiplies words by nothing but zeros")
        if len(templates) > 1 or len(places) != 1:
            raise TcsmtError("the words of an operand of a matrix instruction are not computed alike")
        if any(template and place is None for template, place in found):
            raise TcsmtError("a matrix instruction multiplies constants")
        (template,), (buffer,) = templates, places
        return self.buffers[buffer], _Operand(template, [place and place[1] for _, place in found])

    def _places(
        self,
        operands: Mapping[int, tuple[tuple[str, _Operand], tuple[str, _Operand]]],
        outside: Sequence[int],
    ) -> dict[str, dict[int, int]]:
        """Return the k of each offset of A, and of B: they must be at equal distances."""
        found: dict[str, dict[int, int]] = {}
        for side, name in enumerate("AB"):
            buffers = {pair[side][0] for pair in operands.values()}
            if buffers - {name}:
                raise TcsmtError(
                    f"the {('left', 'right')[side]} operand of a matrix instruction is read from "
                    f"{', '.join(sorted(buffers))}: call this pointer {name}"
                )
            taken = {at for pair in operands.values() for at in pair[side][1].offsets if at is not None}
            words = [term for n in outside if isinstance(term := self.terms[n], MemoryWord)]
            alone = {word.offset for word in words if self.buffers[word.buffer] == name}
            offsets = sorted(taken | alone)
            steps = {y - x for x, y in pairwise(offsets)}
            if len(steps) > 1:
                raise TcsmtError(f"the words of {name} are not at equal distances: {sorted(steps)} bytes")
            if offsets:
                self.along[name] = Progression(name, offsets[0], next(iter(steps), 0), len(offsets))
            found[name] = {offset: k for k, offset in enumerate(offsets)}
        return found

    def _instruction(
        self, number: int, term: DotProduct, left: tuple[str, _Operand], right: tuple[str, _Operand],
    ) -> _Instruction:  # fmt: skip
        """Return an instruction with the k of its products. Raises :class:`.TcsmtError` where they differ."""
        model = self.rows(term.unit).model
        names, ks = [], []
        for (side, operand), fmt in ((left, model.a_format.name), (right, model.b_format.name)):
            names.append(self._operand_name(side, operand.template, fmt))
            ks.append([None if at is None else self.places[side][at] for at in operand.offsets])
        if ks[0] != ks[1]:
            both = [pair for pair in zip(*ks, strict=True) if pair[0] != pair[1]]
            if any(None in pair for pair in both):
                raise TcsmtError(
                    "a matrix instruction multiplies words by zeros that only fill one operand up"
                )
            raise TcsmtError(
                f"a matrix instruction multiplies word {both[0][0]} of A by word {both[0][1]} of B"
            )
        real = [k for k in ks[0] if k is not None]
        if ks[0][: len(real)] != real:
            raise TcsmtError("zeros that fill a matrix instruction up do not follow its products")
        return _Instruction(number, term.unit, (names[0], names[1]), real, len(real) < len(ks[0]))

    def _operand_name(self, side: str, template: _Template, fmt: str) -> str:
        """Return the name of an operand, whose steps are written when it is first met."""
        if template == _HOLE:
            known = self.operand_formats.setdefault(side, fmt)
            if known != fmt:
                raise TcsmtError(f"words of {side} are read as {known} and as {fmt}")
            return side
        if (side, template, fmt) not in self.operands:
            text, given = self._operand_text(side, template, fmt)
            if (given, fmt) == ("f32", "tf32"):
                # a unit leaves out what tf32 has no bits for; NaNs of a step have one word: so this is RTZ
                text = f"convert({text}, tf32, RTZ)"
            elif given != fmt:
                raise TcsmtError(f"the operand is of {given}, and the unit takes {fmt}")
            self._named(side, template, text, fmt)
        return self.operands[side, template, fmt]

    def _operand_text(self, side: str, template: _Template, fmt: str) -> tuple[str, str]:
        """Return a step on each word of an operand, and the format of its result."""
        if isinstance(template, str):
            return side, self.operand_formats.setdefault(side, fmt)
        form, *parts = template
        if form == "widened":
            narrow = {"f16": "e5m2", "f32": "bf16"}.get(fmt)
            if parts != [_HOLE] or narrow is None:
                raise TcsmtError(f"words that are put together with zeros are not read as {fmt}")
            if self.operand_formats.setdefault(side, narrow) != narrow:
                raise TcsmtError(f"words of {side} are read in two formats")
            return f"convert({side}, {fmt})", fmt
        if form not in SCALAR_FORMS or SCALAR_FORMS[form].approximate:
            raise TcsmtError(f"{form}: not a step of an operand")
        scalar = SCALAR_FORMS[form]
        texts = []
        for part, wanted in zip(parts, scalar.takes, strict=True):
            if part == _HOLE:
                if self.operand_formats.setdefault(side, wanted) != wanted:
                    raise TcsmtError(f"words of {side} are read in two formats")
                texts.append(side)
            elif len(part) == 1:
                texts.append(f"{part[0]}:{wanted}")
            else:
                text, given = self._operand_text(side, part, wanted)
                texts.append(self._as(self._named(side, part, text, given), given, wanted))
        return scalar.step.format(*texts), scalar.gives

    def _named(self, side: str, template: _Template, text: str, fmt: str) -> str:
        """Return the name of an operand's step, which is written when it is first met."""
        if (side, template, fmt) not in self.operands:
            name = f"{'x' if side == 'A' else 'y'}{sum(one == side for one, *_ in self.operands)}"
            self.lines.append(f"{name} = {text}")
            self.operands[side, template, fmt] = name
        return self.operands[side, template, fmt]

    # steps of the element

    def _as(self, text: str, given: str, wanted: str) -> str:
        """Return a value in the format in which it is taken: tf32 words are binary32 words."""
        if given == wanted:
            return text
        if {given, wanted} == {"f32", "tf32"}:
            return f"convert({text}, {wanted})"
        raise TcsmtError(f"a number of {given} is taken as one of {wanted}")

    def _value(self, number: int, wanted: str) -> str:
        """Return the text of a value that a step takes, in the format in which it is taken."""
        term = self.terms[number]
        match term:
            case Constant(size, bits):
                return f"0x{bits:0{2 * size}x}:{wanted}"
            case MemoryWord(buffer, offset, _):
                name = self.buffers[buffer]
                if name in ("A", "B"):
                    if self.operand_formats.setdefault(name, wanted) != wanted:
                        raise TcsmtError(f"words of {name} are read in two formats")
                    return f"{name}[{self.places[name][offset]}]"
                if self.inputs.setdefault(name, (wanted, offset)) != (wanted, offset):
                    raise TcsmtError(f"the element takes several words of {name}")
                return name
        return self._as(self.names[number], self.formats[number], wanted)

    def _step(self, number: int, root: int) -> None:
        term = self.terms[number]
        match term:
            case Constant() | MemoryWord():
                return
            case DotProduct():
                text = self._chain(number, term)
                if text is None:
                    return
                self.formats[number] = self.rows(term.unit).model.d_format.name
            case NumberStep():
                text = self._operation(number, term)
            case _:
                raise TcsmtError("a step of one byte")
        name = "d" if number == root else f"v{len(self.names)}"
        self.names[number] = name
        self.lines.append(f"{name} = {text}")

    def _operation(self, number: int, term: NumberStep) -> str:
        if term.form.startswith("compare"):
            self.formats[number] = "truth"
            return term.form.format(*(self._value(taken, "f32") for taken in term.takes))
        if term.form.startswith("select"):
            self.formats[number] = "f32"
            wanted = ("truth", "f32", "f32")
            return term.form.format(*(self._value(x, w) for x, w in zip(term.takes, wanted, strict=True)))
        if term.form not in SCALAR_FORMS:
            raise TcsmtError(
                "a number is put together from another one and zeros outside of a matrix instruction"
            )
        form = SCALAR_FORMS[term.form]
        self.formats[number] = form.gives
        values = [self._value(taken, fmt) for taken, fmt in zip(term.takes, form.takes, strict=True)]
        plain = form.step.format(*values)
        if form.approximate:
            self.freedoms.setdefault(form.approximate, 0)
            self.freedom_lines.setdefault(form.approximate, term.line)
        if not form.joins or term.form == "mul.f32":
            return plain
        joined = self._joined(term, values)
        if not joined:
            return plain
        before = sum(one.startswith("contraction") for one in self.freedoms)
        name = f"contraction-{before + 1}" if before else "contraction"
        self.freedoms[name], self.freedom_lines[name] = 1 + len(joined), term.line
        return f'any_of("{name}", {", ".join((plain, *joined))})'

    def _joined(self, term: NumberStep, values: Sequence[str]) -> list[str]:
        """Return what ptxas may make of an addition: a multiply-add with a multiplication that it takes.

        PTX ISA, ``mul``, ``add``, ``sub``: without a rounding modifier they may be fused.
        """
        found = []
        minus = "-" if term.form == "sub.f32" else ""
        for place, other in ((0, 1), (1, 0)):
            factor = self.terms[term.takes[place]]
            if isinstance(factor, NumberStep) and factor.form == "mul.f32":
                x, y = (self._value(taken, "f32") for taken in factor.takes)
                z = f"{minus}{values[1]}" if other == 1 else values[0]
                # x·y - z, and z - x·y = (-x)·y + z
                first = f"{minus}{x}" if place == 1 else x
                found.append(f"multiply_add({first}, {y}, {z}, f32)")
        return found

    def _chain(self, number: int, term: DotProduct) -> str | None:
        """Return a chain of instructions, for its last one; None where the next one goes on."""
        if self._goes_on(number):
            return None
        chained = [number]
        while self._continues(chained[-1]):
            chained.append(self.terms[chained[-1]].c)  # type: ignore[union-attr]
        chained.reverse()
        first = self.terms[chained[0]]
        assert isinstance(first, DotProduct)
        model = self.rows(term.unit).model
        c, start = self.terms[first.c], model.c_format.name
        value = "+0" if isinstance(c, Constant) and not c.bits else self._value(first.c, start)
        short = self.short.setdefault(term.unit, f"U{len(self.short) or ''}")
        if number not in self.instructions:
            return f"chain({short}, padding, {value})"
        runs: list[list[int]] = []
        closed = True
        for one in (self.instructions[n] for n in chained):
            if closed:
                runs.append([])
            runs[-1] += one.ks
            closed = one.padded
        left, right = self.instructions[number].names
        count = self.along["A"].count
        text = "; ".join(f"{left}·{right} over {indices_text(run, count, model.k)}" for run in runs)
        return f"chain({short}, {text}, {value})"

    def _continues(self, number: int) -> bool:
        """Return whether an instruction goes on with the sum of one before it, in one chain."""
        term = self.terms[number]
        assert isinstance(term, DotProduct)
        before = self.terms[term.c]
        if not isinstance(before, DotProduct) or before.unit != term.unit or self.uses[term.c] != 1:
            return False
        if not {number, term.c} <= self.instructions.keys():
            return False
        return self.instructions[number].names == self.instructions[term.c].names

    def _goes_on(self, number: int) -> bool:
        if self.uses[number] != 1:
            return False
        return any(
            one.number != number and self.terms[one.number].c == number and self._continues(one.number)  # type: ignore[union-attr]
            for one in self.instructions.values()
        )


def indices_text(ks: Sequence[int], count: int, block: int) -> str:
    """Return indices of K as the language writes them."""
    first, length = min(ks), len(ks)
    whole = "K" if (first, length) == (0, count) else f"K[{first}:{first + length}]"
    if list(ks) == list(range(first, first + length)):
        return whole
    places = np.asarray(ks) - first
    size = block
    while size <= min(length, 8 * block):
        order = places[:size]
        if length % size == 0 and sorted(order.tolist()) == list(range(size)):
            expected = (size * np.arange(length // size)[:, None] + order).ravel()
            if (expected == places).all():
                return f"permuted({whole}, {' '.join(map(str, order.tolist()))})"
        size *= 2
    return f"K[{' '.join(map(str, ks))}]"
