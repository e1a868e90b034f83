"""From a model's trace on one input to a picture: which bit lies where, and what becomes of it.

Everything drawn is read off the evaluated stages; nothing here computes what a unit computes. The
exact sum, which no unit computes, is the inputs' own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from tcsmt.analysis.search.traced_steps import trace_steps
from tcsmt.interface.pictures.drawing import (
    INTEGER_BITS,
    BitFate,
    BitGrid,
    BitRow,
    Cell,
    InputLine,
    Listing,
    Note,
    Picture,
)
from tcsmt.interface.pictures.program_steps import steps_picture
from tcsmt.language.terms import Term, operands_first, variables
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, decimal_text, float_format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model, Stage
from tcsmt.matrix_units.models.base import role_of
from tcsmt.matrix_units.models.stages import Kind, where_text
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.program import NoRule
from tcsmt.programs.steps.traced import TracedStep
from tcsmt.prove.statements.explain import (
    LONGEST_DECIMAL,
    exponent_value,
    fixed_value,
    known_words,
    number_value,
    short_text,
    steps,
)
from tcsmt.support.invariants import checked_cast

#: What no step of a program loses: words and products that are not computed.
LEFT_OUT = "left out"


def draw(name: str, model: Model, values: Mapping[str, int]) -> Picture:
    """Return the picture of a model (called ``name``) where its inputs have these words."""
    try:
        drawing = _Drawing(name, model, values)
    except NoRule:
        if not isinstance(model, ProgramModel):
            raise
        return steps_picture(name, model, values)
    return drawing.picture()


def exact_sum(model: Model, values: Mapping[str, int]) -> Fraction | None:
    """Return the inputs' exact dot product plus c; None where an input is no finite number."""
    formats = model.input_formats
    if any(_special(fmt, values[name]) for name, fmt in formats.items()):
        return None
    numbers = {name: fmt.value(values[name]) for name, fmt in formats.items()}

    def scale(side: str, lane: int) -> Fraction:
        count = sum(name.startswith(f"s{side}") for name in numbers)
        return numbers[f"s{side}{lane * count // model.k}"] if count else Fraction(1)

    products = (numbers[f"a{i}"] * scale("a", i) * numbers[f"b{i}"] * scale("b", i) for i in range(model.k))
    return sum(products, numbers["c"])


class _Drawing:
    """The stages of one trace on one input, on their way into panels."""

    def __init__(self, name: str, model: Model, values: Mapping[str, int]) -> None:
        self.name, self.model, self.values = name, model, values
        self.known = known_words(model.trace, values)
        self.texts = {step.stage.place: step.text for step in steps(model.trace, values)}
        #: stages by the identity of their value (formats are shared between stages)
        self.stages = {id(s.value): s for s in model.trace.stages if isinstance(s.value, (Number, Fixed))}
        #: the last fused sum's title and result
        self.last: tuple[str, Term] | None = None
        #: what was lost, in order: error = result - exact
        self.losses: list[tuple[str, Fraction]] = []

    def picture(self) -> Picture:
        """Panels in the order of the stages, then the result."""
        panels = tuple(self._panels())
        inputs = tuple(self._inputs())
        zeros = len(self.model.input_formats) - len(inputs)
        return Picture(self.name, inputs, zeros, panels, tuple(self._results()))

    # --- panels ----------------------------------------------------------------------------------

    def _panels(self) -> Iterator[BitGrid | Listing]:
        stages = self.model.trace.stages
        sums = [s.value for s in stages if isinstance(s.value, Fixed) and _is_sum(s.value)]
        in_grids = {id(self._origin(addend)) for fixed in sums for addend in fixed.addends}
        listed: list[Note] = []
        for block in _blocks(stages):
            summed = [s for s in block if isinstance(s.value, Fixed) and _is_sum(s.value)]
            for stage in block:
                match stage.value:
                    case Exponent() | Fixed():
                        pass
                    case Number() as x if id(x) in in_grids or self._is_zero(x):
                        pass
                    case AnyFormat() if summed:
                        pass
                    case _:
                        listed.append(self._listed(stage))
            self.losses += self._overflowed(block)
            if summed:
                if listed:
                    yield Listing("", tuple(listed))
                listed = []
                yield from self._summed(block, summed)
                self.last = (where_text(block[-1].block), block[-1].term)
        if listed:
            yield Listing("", tuple(listed))

    def _summed(self, block: Sequence[Stage], summed: Sequence[Stage]) -> Iterator[BitGrid | Listing]:
        """A block's sums, the last of which is rounded to its result."""
        result = block[-1] if isinstance(block[-1].value, Format) else None
        origins = [self._origin(a) for s in summed if isinstance(s.value, Fixed) for a in s.value.addends]
        numbers = [x for x in origins if isinstance(x, Number)]
        special = [x for x in numbers if self.known[x.infinite] or self.known[x.nan]]
        title = where_text(block[-1].block)
        if special:
            yield Listing(title, tuple(self._special(special, result)))
            return
        if result is not None and self._decided(result):
            yield Listing(title, (Note(self._special_inputs()), self._listed(result)))
            return
        merged = _merged(summed)
        for number, total in enumerate(merged, 1):
            last = number == len(merged)
            names = [s.name for s in block[: block.index(total[0])] if isinstance(s.value, Exponent)]
            label = total[0].name if len(merged) > 1 else title
            yield self._grid(label, total, result if last else None, names[-1:])

    def _overflowed(self, block: Sequence[Stage]) -> Iterator[tuple[str, Fraction]]:
        """Yield what an integer result lost of the exact sum before it."""
        result, sums = block[-1], [stage for stage in block if stage.kind is Kind.EXACT_SUM]
        if sums and isinstance(result.value, IntegerFormat) and isinstance(sums[0].value, IntegerFormat):
            exact = sums[0].value.value(self.known[sums[0].term])
            where = where_text(result.block)
            got = result.value.value(self.known[result.term])
            yield f"{where}: overflow" if where else "overflow", got - exact

    def _listed(self, stage: Stage) -> Note:
        text = self.texts[stage.place]
        if isinstance(stage.value, AnyFormat):
            word = self.known[stage.term]
            text = f"{stage.value.hex(word)} ({_text(stage.value, word)})"
        return Note(text, stage.name, (stage.name,))

    def _decided(self, result: Stage) -> bool:
        """Return whether inputs that are no finite numbers decide a result."""
        special = isinstance(result.value, AnyFormat) and _special(result.value, self.known[result.term])
        return special and bool(self._special_inputs())

    def _special_inputs(self) -> str:
        formats = self.model.input_formats
        names = ", ".join(name for name, fmt in formats.items() if _special(fmt, self.values[name]))
        return names and f"{names}: not finite, so the rules for NaN and infinity decide"

    def _special(self, terms: Sequence[Number], result: Stage | None) -> Iterator[Note]:
        for x in terms:
            stage = self.stages.get(id(x))
            sign = "-" if self.known[x.sign] else "+"
            text = "NaN" if self.known[x.nan] else f"{sign}infinity"
            if self.known[x.nan] and not any(fmt.is_nan(self.values[v]) for v, fmt in self._input_formats(x)):
                text = "NaN: infinity times zero"
            yield Note(text, self._label(x), (stage.name,) if stage else ())
        signs = {self.known[x.sign] for x in terms}
        if any(self.known[x.nan] for x in terms):
            rule = "a NaN among the terms makes the result the unit's NaN"
        elif len(signs) > 1:
            rule = "infinities of both signs: infinity minus infinity is NaN"
        else:
            rule = "an infinity among the terms is the result, whatever the finite terms are"
        yield Note(f"{rule}; no bits are aligned")
        if result is not None:
            yield self._listed(result)

    def _grid(self, title: str, wholes: Sequence[Stage], result: Stage | None, largest: list[str]) -> BitGrid:
        fixed = [s.value for s in wholes if isinstance(s.value, Fixed)]
        addends = fixed[0].addends
        top = exponent_value(fixed[0].exponent, self.known)
        unit = top - fixed[0].fraction_bits
        carry_bits = max(0, _register(fixed[0].word) - 1 - fixed[0].fraction_bits - INTEGER_BITS)
        terms = [self._term(a, unit) for a in addends if not self._is_zero(self._origin(a))]
        aligned = sum((row.value(BitFate.KEPT, BitFate.CHANGED) for row in terms), Fraction())
        exact = sum((self._value(self._origin(a)) for a in addends), Fraction())
        values = [fixed_value(x, self.known) for x in fixed]
        prefix = f"{title}: " if title else ""
        if addends:
            self.losses += [
                (f"{prefix}alignment", aligned - exact),
                (f"{prefix}carry bits", values[0] - aligned),
            ]
            notes = [
                self._largest_note(top, unit, addends, tuple(largest)),
                *self._zero_notes(addends),
                Note(_cut_text(terms, unit, aligned - exact)),
                Note(_sum_text(values[0], aligned, top, carry_bits)),
            ]
        else:
            notes = [Note(f"largest exponent 2^{top}, last bit 2^{unit}")]
        rows = [_sum_row("sum", values[0], top, unit, wholes[0].name)]
        for stage, before, after in zip(wholes[1:], values, values[1:], strict=False):
            self.losses.append((f"{prefix}{stage.label}", after - before))
            rows.append(_sum_row(stage.label, after, top, unit, stage.name))
        if result is not None:
            row, note = self._rounding(values[-1], unit, result, prefix)
            notes.append(note)
            rows += [row] if values[-1] else []
        return BitGrid(title, top, unit, carry_bits, tuple(terms), tuple(rows), tuple(notes))

    def _term(self, addend: Fixed, unit: int) -> BitRow:
        """An aligned term: the bits that alignment kept as they were, changed, and cut."""
        x = self._origin(addend)
        value = self._value(x)
        if isinstance(x, Number):
            lowest, width = exponent_value(x.exponent, self.known) - x.fraction_bits, x.significand.width
        else:
            lowest = exponent_value(x.exponent, self.known) - x.fraction_bits
            width = max(1, _leading(value) - lowest + 1)
        word = int(abs(value) / Fraction(2) ** lowest)
        size = int(abs(fixed_value(addend, self.known)) / Fraction(2) ** unit)
        cells = []
        for weight in range(max(lowest + width, unit + size.bit_length()) - 1, min(lowest, unit) - 1, -1):
            inside = lowest <= weight < lowest + width
            exact = word >> (weight - lowest) & 1 if inside else 0
            bit = size >> (weight - unit) & 1 if weight >= unit else 0
            if inside and weight < unit:
                cells.append(Cell(weight, exact, BitFate.CUT))
            elif inside or bit:
                cells.append(Cell(weight, bit, BitFate.KEPT if bit == exact else BitFate.CHANGED))
        names = (self.stages[id(p)].name for p in (x, addend) if id(p) in self.stages)
        stages = tuple(dict.fromkeys(names))
        return BitRow(self._label(x), stages, value < 0, tuple(cells), self._text(x))

    # --- terms -----------------------------------------------------------------------------------

    def _origin(self, x: Fixed) -> Number | Fixed:
        """Return what was aligned, through every alignment; a term that was not aligned is its own origin."""
        source = x.source
        while isinstance(source, Fixed) and source.source is not None:
            source = source.source
        return x if source is None else source

    def _value(self, x: Number | Fixed) -> Fraction:
        return number_value(x, self.known) if isinstance(x, Number) else fixed_value(x, self.known)

    def _is_zero(self, x: Number | Fixed) -> bool:
        return not self.known[x.significand if isinstance(x, Number) else x.word]

    def _text(self, x: Number | Fixed) -> str:
        """A term's value, with its own exponent where that is short."""
        text = self.texts[self.stages[id(x)].place] if id(x) in self.stages else ""
        short = 0 < len(text) <= LONGEST_DECIMAL and isinstance(x, Number)
        return text if short else short_text(self._value(x))

    def _label(self, x: Number | Fixed) -> str:
        """``a3·b3`` for a product, the input's name for an input, else the stage's; "" for a constant."""
        names = [name for name, _ in self._input_formats(x)]
        factors = [name for name in names if not role_of(name).scale]
        if len(factors) <= 2:
            return "·".join(factors)
        if id(x) in self.stages:
            return self.stages[id(x)].label
        below = operands_first([x.significand if isinstance(x, Number) else x.word])
        carried = self.last is not None and self.last[1] in below
        return f"c ← {self.last[0]}" if carried and self.last is not None else "partial sum"

    def _input_formats(self, x: Number | Fixed) -> list[tuple[str, AnyFormat]]:
        """Return the input variables on which a term's digits depend."""
        formats = self.model.input_formats
        roots = [x.sign, x.exponent.term, x.significand] if isinstance(x, Number) else [x.word]
        return [(str(v.data), formats[str(v.data)]) for v in variables(roots)]

    # --- rounding --------------------------------------------------------------------------------

    def _rounding(self, value: Fraction, unit: int, result: Stage, prefix: str) -> tuple[BitRow, Note]:
        """Return the result's significand and what the final rounding drops of the sum."""
        fmt = checked_cast(result.value, Format)
        word = self.known[result.term]
        stages = (result.name,)
        if _special(fmt, word) and abs(value) < fmt.largest_finite:
            text = "not rounded: a NaN or an infinity among the terms decides"
            return BitRow("rounded", stages, value < 0, (), fmt.describe(word)), Note(text, stages=stages)
        if _special(fmt, word):
            text = f"final rounding: beyond the largest finite {fmt.name} number: overflow to infinity"
            return BitRow("rounded", stages, value < 0, (), fmt.describe(word)), Note(text, stages=stages)
        got = abs(fmt.value(word))
        self.losses.append((f"{prefix}final rounding", fmt.value(word) - value))
        if not value:
            return BitRow("rounded", stages, False, ()), Note(f"result {fmt.describe(word)}", stages=stages)
        leading = _leading(value)
        fraction_bits, rule = self._final(fmt)
        last = max(leading, fmt.e_min) - fraction_bits
        if got / Fraction(2) ** last % 1:
            last = max(leading, fmt.e_min) - fmt.fraction_bits
        step = Fraction(2) ** last
        dropped = abs(value) % step
        up = got > abs(value)
        high = max(leading, _leading(got) if got else last)
        places = range(high, max(last, unit) - 1, -1)
        cells = [Cell(w, int(got / step) >> (w - last) & 1, BitFate.ROUNDED) for w in places]
        lost = int(dropped / Fraction(2) ** unit)
        cells += [Cell(w, lost >> (w - unit) & 1, BitFate.DROPPED) for w in range(last - 1, unit - 1, -1)]
        text = (
            f"final rounding to {fmt.name}{rule}: {max(0, leading - last + 1)} bits kept, down to 2^{last}"
            + (", as the result is subnormal" if leading < fmt.e_min else "")
        )
        if got == 0:
            text += "; flushed to zero" if dropped != abs(value) else "; nothing is left"
        elif dropped:
            text += (
                f"; {short_text(dropped)} dropped, magnitude {'raised by one unit' if up else 'not raised'}"
            )
        else:
            text += "; nothing dropped"
        shown = BitRow("rounded", stages, value < 0, tuple(cells), short_text(fmt.value(word)))
        return shown, Note(text, stages=stages)

    def _final(self, fmt: Format) -> tuple[int, str]:
        """At which fraction bit the model rounds to the format, and by which rule."""
        if fmt is not self.model.d_format:
            return fmt.fraction_bits, ""
        bits = getattr(self.model.parameters, "round_fraction_bits", None)
        rule = getattr(self.model.parameters, "rounding", None)
        text = f" ({rule.name}, {rule.title})" if isinstance(rule, Rounding) else ""
        return fmt.fraction_bits if bits is None else bits, text

    # --- notes -----------------------------------------------------------------------------------

    def _largest_note(self, top: int, unit: int, addends: Sequence[Fixed], stages: tuple[str, ...]) -> Note:
        origins = [x for x in map(self._origin, addends) if not self._is_zero(x)]
        owners = [self._label(x) for x in origins if exponent_value(x.exponent, self.known) == top]
        names = ", ".join([*owners[:4], *(["..."] if len(owners) > 4 else [])]) or "a zero term"
        text = (
            f"largest exponent 2^{top} (of {names}); the grid ends {top - unit} places below it, at 2^{unit}"
        )
        return Note(text, stages=stages)

    def _zero_notes(self, addends: Sequence[Fixed]) -> Iterator[Note]:
        labels = [self._label(x) for x in map(self._origin, addends) if self._is_zero(x)]
        labels = [label for label in labels if label]
        if not labels:
            return
        text = f"{_names(labels)} {'is' if len(labels) == 1 else 'are'} zero"
        floor = getattr(self.model.parameters, "zero_exponent", None)
        if isinstance(floor, int):
            text += f" (in the maximum with exponent {floor})"
        yield Note(text)

    # --- inputs and results ----------------------------------------------------------------------

    def _inputs(self) -> Iterator[InputLine]:
        for name, fmt in self.model.input_formats.items():
            word = self.values[name]
            if _special(fmt, word) or fmt.value(word):
                yield InputLine(name, fmt.hex(word), _text(fmt, word))

    def _results(self) -> Iterator[Note]:
        fmt, word = self.model.d_format, self.known[self.model.trace.stages[-1].term]
        yield Note(f"{fmt.hex(word)}: {fmt.fields_text(word)}", "result")
        yield Note(_text(fmt, word), "value")
        if self.model.further_inputs:  # what the result should be, c + Σ a·b does not say
            return
        exact = exact_sum(self.model, self.values)
        if exact is None:
            yield Note(self._special_inputs(), "special")
            return
        yield Note(_value_text(fmt, exact), "exact sum")
        if _special(fmt, word):
            return
        error = fmt.value(word) - exact
        if not error:
            yield Note("none: the result is the exact sum", "error")
            return
        losses = self._all_losses(error)
        if isinstance(fmt, IntegerFormat):
            texts = [f"{what} {decimal_text(loss)}" for what, loss in losses]
            yield Note(decimal_text(error), "error")
            yield Note("; ".join(texts), "lost by")
            return
        fmt = float_format(fmt)
        ulp = max(_leading(max(abs(exact), abs(fmt.value(word)))), fmt.e_min) - fmt.fraction_bits
        yield Note(f"{short_text(error)} = {_ulps(error, ulp)} (1 ulp = 2^{ulp})", "error")
        yield Note("; ".join(f"{what} {_ulps(loss, ulp)}" for what, loss in losses), "lost by")

    def _all_losses(self, error: Fraction) -> list[tuple[str, Fraction]]:
        """Return what was lost where, of the result; together they are the error."""
        losses, name = self.losses, "steps without a grid"
        if isinstance(self.model, (Algorithm, ProgramModel)):
            with suppress(NoRule):  # an input of which the vector says nothing
                steps = [step for step in trace_steps(self.model, self.values) if step.kind != "split"]
                if all(step.lost is not None for step in steps):
                    losses, name = [part for step in steps for part in self._lost_by(step)], LEFT_OUT
        rest = error - sum((loss for _, loss in losses), Fraction())
        return [(what, loss) for what, loss in [*losses, (name, rest)] if loss]

    def _lost_by(self, step: TracedStep) -> Iterator[tuple[str, Fraction]]:
        """Yield what a program's step loses of the result; of an instruction, what is drawn of it first."""
        inside = [
            (what, loss * step.weight) for what, loss in self.losses if what.startswith(f"{step.name}: ")
        ]
        yield from inside
        yield step.name, -step.share - sum((loss for _, loss in inside), Fraction())


def _blocks(stages: Sequence[Stage]) -> Iterator[list[Stage]]:
    """Yield the stages up to each rounded result."""
    block: list[Stage] = []
    for stage in stages:
        block.append(stage)
        if isinstance(stage.value, Format) or stage.kind is Kind.RESULT:
            yield block
            block = []
    if block:
        yield block


def _is_sum(x: Fixed) -> bool:
    return bool(x.addends) or x.source is None


def _merged(summed: Sequence[Stage]) -> list[list[Stage]]:
    """Each sum, and what is made of it before it is rounded."""
    merged: list[list[Stage]] = []
    for stage in summed:
        if merged and _addends(stage) and _addends(stage) is _addends(merged[-1][0]):
            merged[-1].append(stage)
        else:
            merged.append([stage])
    return merged


def _addends(stage: Stage) -> tuple[Fixed, ...]:
    return stage.value.addends if isinstance(stage.value, Fixed) else ()


def _sum_row(label: str, value: Fraction, top: int, unit: int, name: str) -> BitRow:
    magnitude = int(abs(value) / Fraction(2) ** unit)
    leading = magnitude.bit_length() - 1 + unit

    def fate(weight: int) -> BitFate:
        if weight == leading:
            return BitFate.LEADING
        return BitFate.CARRY if weight > top + INTEGER_BITS - 1 else BitFate.SUM

    high = max(leading, top + INTEGER_BITS - 1)
    cells = [Cell(w, magnitude >> (w - unit) & 1, fate(w)) for w in range(high, unit - 1, -1)]
    return BitRow(label, (name,), value < 0, tuple(cells), short_text(value))


def _cut_text(terms: Sequence[BitRow], unit: int, loss: Fraction) -> str:
    changed = [row.label for row in terms if any(c.fate is BitFate.CHANGED for c in row.cells)]
    cut = [row.label for row in terms if row.value(BitFate.CUT)]
    if changed:
        return f"alignment rounds {_names(changed)}: the sum changes by {short_text(loss)}"
    if not cut:
        return f"alignment: no term has bits below 2^{unit}; nothing is cut"
    lose = "loses" if len(cut) == 1 else "lose"
    return f"alignment: {_names(cut)} {lose} the bits below 2^{unit}: the sum changes by {short_text(loss)}"


def _names(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) < 5 else f"{len(labels)} terms"


def _sum_text(value: Fraction, aligned: Fraction, top: int, carry_bits: int) -> str:
    if value != aligned:
        wrapped = f"{carry_bits} carry bits and wraps to {short_text(value)}"
        return f"sum: {short_text(aligned)} does not fit {wrapped}"
    if not value:
        return "sum: zero"
    leading = _leading(value)
    used = max(0, leading - (top + INTEGER_BITS - 1))
    shift = leading - top
    way = f"normalisation shift {abs(shift)} to the {'right' if shift > 0 else 'left'}"
    text = f"sum: {used} of {carry_bits} carry bits used; leading bit 2^{leading}"
    return f"{text}: {way}" if shift else f"{text}: already normalised"


def _register(word: Term) -> int:
    """Bits of the accumulator: a narrow one's word is extended from its own width."""
    return word.args[0].width if word.op == "sext" else word.width


def _special(fmt: AnyFormat, word: int) -> bool:
    return fmt.is_nan(word) or fmt.is_infinite(word)


def _leading(value: Fraction) -> int:
    """Return the exponent of the leading bit of a dyadic value."""
    return abs(value.numerator).bit_length() - value.denominator.bit_length()


def _text(fmt: AnyFormat, word: int) -> str:
    """A word's value, exact and in decimal."""
    if _special(fmt, word) or not fmt.value(word):
        return fmt.describe(word)
    return _value_text(fmt, fmt.value(word))


def _value_text(fmt: AnyFormat, value: Fraction) -> str:
    """A value as numbers of the format are read: in digits, or a significand and an exponent."""
    return decimal_text(value) if isinstance(fmt, IntegerFormat) else _with_decimal(value)


def _with_decimal(value: Fraction) -> str:
    exact = short_text(value)
    try:
        decimal = f"{float(value):.9g}"
    except OverflowError:
        return exact
    return exact if "^" not in exact and "x" not in exact else f"{exact} = {decimal}"


def _ulps(value: Fraction, ulp: int) -> str:
    return f"{float(value / Fraction(2) ** ulp):+.4g} ulp"
