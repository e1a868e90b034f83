"""The proof that a unit is the specification that is written by hand, as a book of ACL2: a lemma for each
stage.

The specification (``results/theorems/acl2/specification.lisp``) adds rational numbers; a unit's book shifts
words. Between them are ``specified.lisp``, which says for all parameters that the specification's steps are
shifts of integers, and the lemmas here, which say for all words that each function of a unit's book is that
shift. How they compose is for ACL2 to check: nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path

from tcsmt.interop.exports.acl2.derivation import BookEvent, simulated
from tcsmt.interop.exports.acl2.units import StageCall, UnitBook, unit_book
from tcsmt.language.terms import Term, expand, operands_first
from tcsmt.language.write.acl2 import Acl2Writer, defined, variables_of
from tcsmt.matrix_units.arithmetic.datapath import Exponent
from tcsmt.matrix_units.arithmetic.formats import Format, Specials
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.fused import FusedDotAdd
from tcsmt.matrix_units.models.fused_parameters import FusedParameters
from tcsmt.matrix_units.models.stages import Kind, Stage
from tcsmt.support.errors import TcsmtError
from tcsmt.support.escaping import comment

#: The books that are written by hand, in their order.
_PAGES = ("specification", "specified")

#: What a format's special words are called in the specification.
_SPECIALS = {Specials.IEEE: ":ieee", Specials.NAN_ONLY: ":nan-only", Specials.NONE: ":finite"}
_ROUNDINGS = {"RTZ": ":rtz", "RNE": ":rne"}
#: The parameters that the specification has; all others must be what they are by default.
_HELD = {
    *("a_format", "b_format", "c_format", "d_format", "k", "n_fma", "fraction_bits", "zero_exponent"),
    *("rounding", "round_fraction_bits"),
}


_NO_RULE = "  :rule-classes nil\n"


@dataclass(frozen=True)
class SpecifiedNumbers:
    """The specification's parameters. zero: exponent of a zero. precision: fraction bits of the result."""

    fraction_bits: int
    carry_bits: int
    zero: int
    precision: int
    mode: str
    nan: int

    def __str__(self) -> str:
        return (
            f"F = {self.fraction_bits}, carry bits = {self.carry_bits}, exponent of zeros = {self.zero}, "
            f"fraction bits of the result = {self.precision}, {self.mode[1:].upper()}, NaN = {self.nan:#x}"
        )


def pages() -> dict[str, str]:
    """Return the texts of the books that are written by hand, by name: from the installed package, or a
    checkout.
    """
    package = Path(str(resources.files("tcsmt")))
    folders = package / "interop/exports/acl2/by_hand", package.parent / "results/theorems/acl2"
    for folder in folders:
        if folder.is_dir():
            return {name: (folder / f"{name}.lisp").read_text(encoding="utf-8") for name in _PAGES}
    inside, beside = folders
    raise TcsmtError(f"tcsmt is not fully installed: no specification in {inside} or {beside}")


def specified_numbers(model: Model) -> SpecifiedNumbers:
    """Return the specification's parameters for a model. Raises :class:`.TcsmtError` where it says another
    thing.
    """
    if not isinstance(model, FusedDotAdd):
        raise TcsmtError(f"the specification is of one fused sum, not of a model of kind {model.kind}")
    parts = model.parameters
    for one in fields(FusedParameters):
        if one.name not in _HELD and getattr(parts, one.name) != one.default:
            raise TcsmtError(f"the specification has no parameter {one.name}")
    for fmt in (parts.a_format, parts.b_format, parts.c_format, parts.d_format):
        _quoted(fmt)
    if parts.zero_exponent is None or parts.rounding.name not in _ROUNDINGS:
        raise TcsmtError("the specification needs a zero exponent, and rounds by RTZ or RNE")
    precision = parts.round_fraction_bits
    return SpecifiedNumbers(
        fraction_bits=parts.fraction_bits,
        carry_bits=parts.n_fma.bit_length(),
        zero=parts.zero_exponent,
        precision=parts.d_format.fraction_bits if precision is None else precision,
        mode=_ROUNDINGS[parts.rounding.name],
        nan=model.nan_word,
    )


def _quoted(fmt: Format) -> str:
    usual = fmt.bias == (1 << (fmt.exponent_bits - 1)) - 1 and fmt.signed
    ignored = fmt.ignored_low_bits or fmt.ignored_high_bits
    if not usual or ignored or fmt.specials not in _SPECIALS:
        raise TcsmtError(f"the specification has no format like {fmt.name}")
    return f"'({fmt.exponent_bits} {fmt.fraction_bits} {_SPECIALS[fmt.specials]})"


@dataclass(frozen=True)
class SpecificationBook:
    """The book that proves the theorem ``specified``: a unit is the specification with some numbers.

    name: of its file and of its refutations' folder. units: the books that it needs, those that are written
    by hand first. events: in order.
    """

    name: str
    title: str
    units: tuple[UnitBook, ...]
    events: tuple[BookEvent, ...]
    theorem: str = "specified"

    @property
    def text(self) -> str:
        """Return what the file holds."""
        books = [f'(include-book "../units/{unit.name}")' for unit in self.units]
        events = [event.in_book(self.name) for event in self.events]
        head = [
            f"; {comment(self.title)}",
            "; Written by tcsmt from the model's parameters.",
            "",
            '(in-package "ACL2")',
        ]
        return "\n".join([*head, *books, "", "\n\n".join(events), ""])

    @property
    def lemmas(self) -> list[BookEvent]:
        """Return the theorems with clauses."""
        return [event for event in self.events if event.lemma]


def specification_book(model: Model, numbers: SpecifiedNumbers | None = None) -> SpecificationBook:
    """Return the book that proves that a model's unit is what the specification says.

    numbers: the specification's parameters; None: those of the model. With others the theorem is false, or
    its proof is not found: ACL2 refuses it. Raises :class:`.TcsmtError` for a model of another shape than the
    specification's.
    """
    name = model.digest
    unit = unit_book(model, name)
    by_hand = [UnitBook(page, file="", function="", text=text) for page, text in pages().items()]
    events = _events(model, unit, numbers or specified_numbers(model))
    title = f"The unit {name} is what is specified"
    return SpecificationBook(f"specified-{name}", title, (*by_hand, unit), tuple(events))


def _events(model: Model, book: UnitBook, numbers: SpecifiedNumbers) -> list[BookEvent]:
    parts = model.parameters
    assert isinstance(parts, FusedParameters)
    blocks: dict[int | None, list[StageCall]] = {}
    for call in book.calls:
        if call.stage is not None:
            assert call.stage.block is None or isinstance(call.stage.block, int)
            blocks.setdefault(call.stage.block, []).append(call)
    inputs, calls = variables_of(model.input_names), {call.label: call for call in book.calls}
    events: list[BookEvent] = []
    c_format = parts.c_format
    made = []
    for number, place in enumerate(sorted(blocks, key=lambda place: place or 0)):
        block = _Block(f"block-{number}", parts, c_format, numbers, inputs, calls, blocks[place])
        events += block.events()
        made.append(block)
        c_format = parts.d_format
    return [*events, *_composed(model, book, numbers, made)]


@dataclass
class _Block:
    """A fused sum of the unit: its functions, and what they are in the specification."""

    name: str
    parts: FusedParameters
    c_format: Format
    numbers: SpecifiedNumbers
    inputs: Mapping[str, str]
    calls: Mapping[str, StageCall]
    stages: Sequence[StageCall]
    written: list[BookEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.largest, self.sum = self._one(Kind.LARGEST_EXPONENT), self._one(Kind.SUM)
        self.result, self.aligned_c = self._one(Kind.RESULT), self._one(Kind.ALIGNED_C)
        self.aligned = self._lanes(Kind.ALIGNED_PRODUCT)
        top = _stage(self.largest).value
        assert isinstance(top, Exponent)
        self.offset, self.top = -top.low, top.high
        self.a, self.b, self.c = (
            _quoted(one) for one in (self.parts.a_format, self.parts.b_format, self.c_format)
        )
        self.d = _quoted(self.parts.d_format)
        lanes = len(self.aligned)
        self.as_, self.bs = [[f"{side}{lane}" for lane in range(lanes)] for side in "ab"]
        self.exponents = [self.calls[label] for label in self.largest.args]
        order = [call.args[:2] for call in self.aligned]
        if [call.args for call in self.exponents[:-1]] != order or len(self.exponents[-1].args) != 1:
            raise TcsmtError("the exponents of the book's unit are not those of its lanes, and of c")

    def _lanes(self, kind: Kind) -> list[StageCall]:
        found = [call for call in self.stages if _stage(call).kind is kind]
        return sorted(found, key=lambda call: _lane(_stage(call)))

    def _one(self, kind: Kind) -> StageCall:
        found = self._lanes(kind)
        if len(found) != 1:
            raise TcsmtError(f"the unit's book has {len(found)} stages of the kind {kind.value}, not one")
        return found[0]

    # --- what is written of the specification

    @property
    def words(self) -> dict[str, int]:
        """Return the block's inputs, with the widths of their words."""
        a, b = self.parts.a_format.width, self.parts.b_format.width
        sides = dict.fromkeys(self.as_, a) | dict.fromkeys(self.bs, b)
        return sides | {"c": self.c_format.width}

    @property
    def args(self) -> str:
        return " ".join([*self.as_, *self.bs, "c"])

    def _product(self) -> str:
        return f"(product-of a b {self.a} {self.b} {self.numbers.zero})"

    def _number(self) -> str:
        return f"(number-of c {self.c} {self.numbers.zero})"

    def _special(self) -> str:
        lists = f"(list {' '.join(self.as_)}) (list {' '.join(self.bs)})"
        return f"(special-of {lists} c {self.a} {self.b} {self.c} {self.d} {self.numbers.nan})"

    def _fused(self) -> str:
        n = self.numbers
        lists = f"(list {' '.join(self.as_)}) (list {' '.join(self.bs)})"
        values = f"{n.fraction_bits} {n.carry_bits} {n.zero} {n.precision} {n.mode} {n.nan}"
        return f"(fused-sum {lists} c {self.a} {self.b} {self.c} {self.d} {values})"

    # --- events

    def events(self) -> list[BookEvent]:
        """Return the theorem that the block is a fused sum, and what it rests on."""
        for call in dict.fromkeys(self.exponents, None):
            self._exponent(call)
        for call in self.aligned:
            self._aligned_product(call)
        self._aligned_c()
        self._sum()
        self._result()
        self._largest()
        self._block()
        return self.written

    def _simulated(self, name: str, widths: Mapping[str, int], says: str) -> None:
        self.written.append(BookEvent(simulated(name, widths, says), name))

    def _rule(
        self, name: str, hyps: Sequence[str], says: str, uses: Sequence[str], rules: Sequence[str] = (),
        classes: str = "",
    ) -> None:  # fmt: skip
        """Write a theorem by logic, linear arithmetic, constants and some rules; itself a rule."""
        self.written.append(BookEvent(
            f"(defthm {name}\n  (implies (and {' '.join(hyps)})\n    {says})\n{classes}"
            f'  :hints (("Goal" :do-not-induct t :in-theory (union-theories (theory \'computed)\n'
            f"    '({' '.join(rules)}))\n    :use ({' '.join(uses)}))))"
        ))  # fmt: skip

    def _met(self, name: str) -> bool:
        return any(name == event.lemma for event in self.written)

    def _exponent(self, call: StageCall) -> None:
        """Prove that the exponent of a term, with which it enters the maximum, is counted from a base."""
        function, width, zero = call.function, call.width, self.numbers.zero
        lemma = f"{self.name}-{function}"
        if self._met(lemma):
            return
        if len(call.args) == 2:
            widths = {"a": self.parts.a_format.width, "b": self.parts.b_format.width}
            is_zero = f"(or (zero-p a {self.a}) (zero-p b {self.b}))"
            exponent = f"(+ (exponent-of a {self.a}) (exponent-of b {self.b}))"
            numbers = [f"(number-p a {self.a})", f"(number-p b {self.b})"]
            term, rule = self._product(), "exponent-of-product"
        else:
            widths = {"c": self.c_format.width}
            is_zero, exponent = f"(zero-p c {self.c})", f"(exponent-of c {self.c})"
            numbers = [f"(number-p c {self.c})"]
            term, rule = self._number(), "exponent-of-number"
        written = f"({function} {' '.join(widths)})"
        self._simulated(
            lemma,
            widths,
            f"(let ((x (if {is_zero} {zero} {exponent})))\n    (and (unsigned-byte-p {width} {written})\n"
            f"      (implies (and {' '.join(numbers)})\n        (and (integerp x) (<= {-self.offset} x) "
            f"(<= x {self.top}) (equal {written} (+ {self.offset} x))))))",
        )
        sizes = _sizes(widths)
        self._rule(f"{lemma}-word", sizes, f"(unsigned-byte-p {width} {written})", [lemma])
        value = f"(car {term})"
        self._rule(
            f"{lemma}-rule",
            [*sizes, *numbers],
            f"(and (equal {written} (+ {self.offset} {value})) (integerp {value})\n"
            f"      (not (< {value} {-self.offset})) (not (< {self.top} {value})))",
            [lemma],
            [rule],
        )

    def _aligned_product(self, call: StageCall) -> None:
        a, b, product_label, top_label = call.args
        product = self.calls[product_label]
        if top_label != self.largest.label or product.args != (a, b):
            raise TcsmtError("an aligned product of the unit's book is not made of its lane and the maximum")
        lemma = f"{self.name}-{call.function}"
        if self._met(f"{lemma}-apart"):
            return
        widths = {"a": self.parts.a_format.width, "b": self.parts.b_format.width}
        significands = f"(* (significand-of a {self.a}) (significand-of b {self.b}))"
        multiplied = f"{self.name}-{product.function}"
        written = f"({product.function} a b)"
        self._simulated(
            multiplied,
            widths,
            f"(and (unsigned-byte-p {product.width} {written}) (equal {written} {significands}))",
        )
        exponent = f"(exponent-of a {self.a}) (exponent-of b {self.b})"
        sign = f"(not (equal (equal (sign-of a {self.a}) 1) (equal (sign-of b {self.b}) 1)))"
        point = self.parts.a_format.fraction_bits + self.parts.b_format.fraction_bits
        formals = dict(zip(call.args, ("a", "b", "p", "l"), strict=True))
        sizes = widths | {"p": product.width, "l": self.largest.width}
        self._aligned(call, formals, sizes, "p", sign, point, exponent)
        self._aligned_rule(
            call, widths, [f"(number-p a {self.a})", f"(number-p b {self.b})"],
            lambda top: f"({call.function} a b {written} {top})", self._product(),
            [multiplied, f"(:instance {lemma} (p {written}) (l (+ {self.offset} l)))",
             f"(:instance aligned-product-of (af {self.a}) (bf {self.b}) (zero {self.numbers.zero}) "
             f"(f {self.numbers.fraction_bits}) (w {self.largest.width}))"],
        )  # fmt: skip

    def _aligned_c(self) -> None:
        call = self.aligned_c
        widths = {"c": self.c_format.width}
        exponent = f"(exponent-of c {self.c})"
        sign, magnitude = f"(equal (sign-of c {self.c}) 1)", f"(significand-of c {self.c})"
        point = self.c_format.fraction_bits
        formals = dict(zip(call.args, ("c", "l"), strict=True))
        self._aligned(call, formals, widths | {"l": self.largest.width}, magnitude, sign, point, exponent)
        self._aligned_rule(
            call, widths, [f"(number-p c {self.c})"],
            lambda top: f"({call.function} c {top})", self._number(),
            [f"(:instance {self.name}-{call.function} (l (+ {self.offset} l)))",
             f"(:instance aligned-number-of (cf {self.c}) (zero {self.numbers.zero}) "
             f"(f {self.numbers.fraction_bits}) (w {self.largest.width}))"],
        )  # fmt: skip

    def _aligned(
        self, call: StageCall, formals: Mapping[str, str], widths: dict[str, int], magnitude: str, sign: str,
        point: int, exponent: str,
    ) -> None:  # fmt: skip
        """Prove that an aligned term is its magnitude shifted left by a number, right by its distance from
        the top.

        formals: the variable for each argument. The distance has few bits, and the shift no sums but those of
        signs: apart, the refutations for FP16 are a twentieth of what they are together.
        """
        lemma, width = f"{self.name}-{call.function}", self.largest.width
        distance, shifted = f"distance-of-{lemma}", f"shift-of-{lemma}"
        words = [word for word in widths if word != "l"]
        part = _one_of(call, [n for n in self._own(call, formals) if _term(self.largest) in n.args])
        self._written_apart(call, formals, part, {distance: [*words, "l"], shifted: [*words, "d"]})
        far, value = f"({distance} {' '.join([*words, 'l'])})", f"(+ {self.offset} {exponent})"
        written = f"({call.function} {' '.join(formals.values())})"
        apart = f"({shifted} {' '.join([*words, far])})"
        self._simulated(f"{lemma}-apart", widths, f"(equal {written} {apart})")
        self._simulated(
            f"{lemma}-distance",
            widths,
            f"(and (unsigned-byte-p {width} {far}) (equal {far} (loghead {width} (- l {value})))\n"
            f"      (<= 0 {value}))",
        )
        self._simulated(
            f"{lemma}-shifted",
            {word: widths[word] for word in words} | {"d": width},
            self._shifted(call, f"({shifted} {' '.join([*words, 'd'])})", magnitude, sign, point, "d"),
        )
        both = self._shifted(call, written, magnitude, sign, point, f"(loghead {width} (- l {value}))")
        self._rule(
            lemma,
            _sizes(widths),
            f"(and {both} (<= 0 {value}))",
            [f"{lemma}-apart", f"{lemma}-distance", f"(:instance {lemma}-shifted (d {far}))"],
            classes=_NO_RULE,
        )

    def _shifted(
        self, call: StageCall, written: str, magnitude: str, sign: str, point: int, distance: str
    ) -> str:
        """Prove that the word is the signed magnitude, shifted left by a number and right by a distance."""
        shift = self.numbers.fraction_bits - point
        return (
            f"(let ((v (shifted-of {magnitude} {sign} {shift} {distance})))\n"
            f"    (and (equal {written} (loghead {call.width} v)) (signed-byte-p {call.width} v)))"
        )

    def _known(self, formals: Mapping[str, str]) -> dict[Term, str]:
        """Return the variables of stages that are arguments of a stage."""
        return {_term(self.calls[arg]): word for arg, word in formals.items() if arg in self.calls}

    def _own(self, call: StageCall, formals: Mapping[str, str]) -> list[Term]:
        """Return the nodes of a stage, without those of its arguments."""
        return operands_first([_term(call)], self._known(formals))

    def _written_apart(
        self, call: StageCall, formals: Mapping[str, str], part: Term, functions: Mapping[str, Sequence[str]]
    ) -> None:
        """Write a stage as two functions, given with their words: a part, and of that part, the last word,
        the stage.
        """
        (inner, inner_words), (outer, outer_words) = functions.items()
        known = self._known(formals)
        write = Acl2Writer({name: formals.get(word, word) for name, word in self.inputs.items()})
        for name, words, root, names in (
            (inner, inner_words, part, known),
            (outer, outer_words, _term(call), known | {part: outer_words[-1]}),
        ):
            bindings, (value,) = write.bindings([root], names)
            self.written.append(BookEvent(defined(name, words, bindings, value)))

    def _aligned_rule(
        self, call: StageCall, widths: Mapping[str, int], numbers: Sequence[str],
        written: Callable[[str], str], term: str, uses: Sequence[str],
    ) -> None:  # fmt: skip
        value = f"(aligned-of {term} l {self.numbers.fraction_bits})"
        self._rule(
            f"{self.name}-{call.function}-rule",
            [*_sizes(widths), *numbers, "(integerp l)", f"(not (< l (car {term})))",
             f"(not (< l {-self.offset}))", f"(not (< {self.top} l))"],
            f"(and (equal {written(f'(+ {self.offset} l)')} (loghead {call.width} {value}))\n"
            f"      (signed-byte-p {call.width} {value}) (signed-byte-p {self._widest} {value})\n"
            f"      (integerp {value}))",
            uses,
            ["word-by-bounds", "number-by-bounds", "from-the-base", "integer-sum", "natp", "posp"],
        )  # fmt: skip

    @property
    def _widest(self) -> int:
        """Return a width in which each aligned term is a signed number."""
        return max(call.width for call in [*self.aligned, self.aligned_c])

    def _sum(self) -> None:
        """Prove that the sum of aligned terms is theirs as integers, without a carry lost."""
        call = self.sum
        terms = [*self.aligned, self.aligned_c]
        if call.args != tuple(term.label for term in terms):
            raise TcsmtError("the sum of the unit's book is not that of its aligned terms")
        lemma = f"{self.name}-{call.function}"
        widths = {f"x{place}": term.width for place, term in enumerate(terms)}
        signed = " ".join(f"(logext {width} {x})" for x, width in widths.items())
        written = f"({call.function} {' '.join(widths)})"
        self._simulated(lemma, widths, f"(equal {written} (loghead {call.width} (+ {signed})))")
        words = {x: f"(loghead {width} {x})" for x, width in widths.items()}
        instance = " ".join(f"({x} {word})" for x, word in words.items())
        self._rule(
            f"{lemma}-rule",
            [f"(signed-byte-p {width} {x})" for x, width in widths.items()],
            f"(equal ({call.function} {' '.join(words.values())})\n"
            f"      (loghead {call.width} (+ {' '.join(widths)})))",
            [f"(:instance {lemma} {instance})"],
            ["number-of-word", "word-of-number", "natp", "posp"],
        )
        self._rule(
            f"{lemma}-range",
            [f"(signed-byte-p {self._widest} {x})" for x in widths],
            f"(signed-byte-p {call.width} (+ {' '.join(widths)}))",
            [],
            ["number-by-bounds", "integer-sum"],
        )

    def _result(self) -> None:
        """Prove the word, of special words and of a sum of numbers."""
        call, n = self.result, self.numbers
        met = [self._formal(arg) for arg in call.args[:-2]]  # without special words, c is met alone
        if call.args[-2:] != (self.largest.label, self.sum.label) or not self.words.keys() >= set(met):
            raise TcsmtError(
                "the result of the unit's book is not made of its words, the maximum and the sum"
            )
        args, special, name = " ".join(met), self._special(), self.name
        widths = self.words | {"l": self.largest.width, "s": self.sum.width}
        written = f"({call.function} {args} l s)"
        top = self.top + self.offset
        longest = self.sum.width + n.precision
        bits = next(w for w in range(1, 16) if (1 << w) - 2 > longest)
        unit = f"(- (- l {self.offset}) {n.fraction_bits})"
        rounding = f"{self.d} {n.precision} {n.mode}"
        rounded = f"(rounded-by-right-shift (logext {self.sum.width} s) {unit} {rounding} {bits})"
        self._simulated(f"{name}-word", widths, f"(unsigned-byte-p {call.width} {written})")
        self._simulated(f"{name}-special", widths, f"(implies {special} (equal {written} {special}))")
        inner, outer = f"rounding-of-{name}", f"choice-of-{name}"
        formals = dict(zip(call.args, (*met, "l", "s"), strict=True))
        part = self._of_the_sum(formals)
        self._written_apart(call, formals, part, {inner: ["l", "s"], outer: [*met, "r"]})
        number, of_number = f"({inner} l s)", f"(not {special})"
        self._simulated(f"{name}-apart", widths, f"(equal {written} ({outer} {args} {number}))")
        self._simulated(
            f"{name}-rounding",
            {"l": self.largest.width, "s": self.sum.width},
            f"(and (unsigned-byte-p {part.width} {number})\n"
            f"      (implies (<= l {top}) (equal {number} {rounded})))",
        )
        self._simulated(
            f"{name}-choice",
            self.words | {"r": part.width},
            f"(implies {of_number} (equal ({outer} {args} r) r))",
        )
        self._rule(
            f"{name}-rounded",
            [*_sizes(widths), of_number, f"(<= l {top})"],
            f"(equal {written} {rounded})",
            [f"{name}-apart", f"{name}-rounding", f"(:instance {name}-choice (r {number}))"],
            classes=_NO_RULE,
        )
        self._simulated(
            f"{name}-numbers", self.words, f"(implies (not {special}) (and {' '.join(self._finite())}))"
        )
        self._rule(
            f"{name}-rounded-rule",
            # That no word is special comes first: it says which words the others are that the result has not.
            [f"(not {special})", *_sizes(self.words), "(integerp l)", f"(not (< l {-self.offset}))",
             f"(not (< {self.top} l))", f"(signed-byte-p {self.sum.width} s)"],
            f"(equal ({call.function} {args} (+ {self.offset} l) (loghead {self.sum.width} s))\n"
            f"      (rounded-of s (- l {n.fraction_bits}) {rounding}))",
            [f"(:instance {name}-rounded (l (+ {self.offset} l)) (s (loghead {self.sum.width} s)))",
             f"(:instance rounded-within (m {1 << (self.sum.width - 1)}) (q (- l {n.fraction_bits})) "
             f"(fmt {self.d}) (p {n.precision}) (mode {n.mode}) (w {bits}))",
             f"(:instance word-of-number (n {self.sum.width}) (x s))",
             f"(:instance word-by-bounds (n {self.largest.width}) (x (+ {self.offset} l)))",
             f"(:instance number-by-bounds (n {self.sum.width}) (x s))"],
            ["number-of-word", "constants-together", "commutativity-of-+", "commutativity-of-*",
             "integer-sum", "natp", "posp"],
        )  # fmt: skip

    def _of_the_sum(self, formals: Mapping[str, str]) -> Term:
        """Return the part of the result that is of the sum and the maximum alone: a word, where none is
        special.
        """
        alone = {node: word in ("l", "s") for node, word in self._known(formals).items()}
        parts: dict[Term, None] = {}
        for node in self._own(self.result, formals):
            alone[node] = node.op != "var" and all(alone[arg] for arg in node.args)
            if not alone[node]:
                parts |= {arg: None for arg in node.args if alone[arg] and arg.value is None}
        return _one_of(self.result, list(parts))

    def _largest(self) -> None:
        """Prove the largest exponent: as specified, counted from the base, not less than any term's."""
        name, width = self.name, self.largest.width
        lines = self._lines([*self.exponents, self.largest])
        self._define(f"{name}-largest", lines, self.largest.label)
        products = [
            f"(product-of {a} {b} {self.a} {self.b} {self.numbers.zero})"
            for a, b in zip(self.as_, self.bs, strict=True)
        ]
        terms = f"(cons {self._number()} (list {' '.join(products)}))"
        self._define(f"{name}-top", [], f"(largest-of {terms})")
        called, top = f"({name}-largest {self.args})", f"({name}-top {self.args})"
        functions = [f"{name}-largest", self.largest.function]
        words = _sizes(self.words)
        kinds = dict.fromkeys(f"{name}-{call.function}" for call in self.exponents)
        self._rule(
            f"{name}-largest-word", words, f"(unsigned-byte-p {width} {called})", [],
            [*functions, "max-is-a-word", *(f"{kind}-word" for kind in kinds)],
        )  # fmt: skip
        bounds = " ".join(f"(not (< {top} (car {term})))" for term in [self._number(), *products])
        self._rule(
            f"{name}-largest-rule", [*words, *self._finite()],
            f"(and (equal {called} (+ {self.offset} {top})) (integerp {top})\n"
            f"      (not (< {top} {-self.offset})) (not (< {self.top} {top}))\n      {bounds})",
            [], [*functions, f"{name}-top", "rules-of-maxima", *(f"{kind}-rule" for kind in kinds)],
        )  # fmt: skip
        self._rule(f"{name}-folded", [], f"(equal (largest-of {terms}) {top})", [], [f"{name}-top"])

    def _finite(self) -> list[str]:
        sides = [f"(number-p {a} {self.a})" for a in self.as_] + [f"(number-p {b} {self.b})" for b in self.bs]
        return [*sides, f"(number-p c {self.c})"]

    def _block(self) -> None:
        """Write the block as a function of its own words, and prove that it is a fused sum."""
        name, words, special, fused = self.name, _sizes(self.words), self._special(), self._fused()
        written = f"({name} {self.args})"
        others = [call for call in self.stages if call is not self.largest]
        self._define(
            name,
            [(self.largest.label, f"({name}-largest {self.args})"), *self._lines(others)],
            self.result.label,
        )
        total = self._inside(self.sum.label)
        inside = f"(l ({name}-largest {self.args})) (s {total})"
        self._rule(
            f"{name}-sum-word", words, f"(unsigned-byte-p {self.sum.width} {total})", [],
            [self.sum.function, "word-of-number"], _NO_RULE,
        )  # fmt: skip
        sizes = [f"{name}-sum-word", f"{name}-largest-word"]
        self._rule(
            f"{name}-is-a-word", words, f"(unsigned-byte-p {self.result.width} {written})",
            [*sizes, f"(:instance {name}-word {inside})"], [name], _NO_RULE,
        )  # fmt: skip
        n = self.numbers
        instance = (
            f"(as (list {' '.join(self.as_)})) (bs (list {' '.join(self.bs)})) (af {self.a}) (bf {self.b}) "
            f"(cf {self.c}) (df {self.d}) (f {n.fraction_bits}) (carry {n.carry_bits}) (zero {n.zero}) "
            f"(p {n.precision}) (mode {n.mode}) (nan {n.nan})"
        )
        self._rule(
            f"{name}-of-special", [*words, special], f"(equal {written} {fused})",
            [*sizes, f"(:instance {name}-special {inside})", f"(:instance special-sum {instance})"],
            [name], _NO_RULE,
        )  # fmt: skip
        calls = dict.fromkeys(
            [*(call.function for call in self.aligned), self.aligned_c.function, self.sum.function]
        )
        self._rule(
            f"{name}-of-numbers", [*words, f"(not {special})"], f"(equal {written} {fused})",
            [f"{name}-numbers", f"(:instance sum-of-numbers {instance})"],
            [name, *(f"{name}-{function}-rule" for function in calls), f"{name}-largest-rule",
             f"{name}-folded", f"{name}-{self.sum.function}-range", f"{name}-rounded-rule",
             "rules-of-sums"], _NO_RULE,
        )  # fmt: skip
        self._rule(
            f"{name}-is-specified",
            words,
            f"(and (equal {written} {fused}) (unsigned-byte-p {self.result.width} {fused}))",
            [f"{name}-of-special", f"{name}-of-numbers", f"{name}-is-a-word"],
        )

    def _define(self, name: str, lines: Sequence[tuple[str, str]], value: str) -> None:
        self.written.append(BookEvent(defined(name, [*self.words], lines, value)))

    def _lines(self, calls: Sequence[StageCall]) -> list[tuple[str, str]]:
        """Return calls of the block, as bindings."""
        return [(call.label, f"({call.function} {' '.join(map(self._formal, call.args))})") for call in calls]

    def _formal(self, arg: str) -> str:
        actual = [*(call.args[0] for call in self.aligned), *(call.args[1] for call in self.aligned)]
        names = dict(zip([*actual, self.aligned_c.args[0]], self.words, strict=True))
        return names.get(arg, arg)

    def _inside(self, label: str) -> str:
        """Return the value of one of the block's stages, written out."""
        text = self._formal(label)
        if label == self.largest.label:
            return f"({self.name}-largest {self.args})"
        if label in self.calls and text == label:
            call = self.calls[label]
            return f"({call.function} {' '.join(map(self._inside, call.args))})"
        return text


def _composed(
    model: Model, book: UnitBook, numbers: SpecifiedNumbers, blocks: Sequence[_Block]
) -> list[BookEvent]:
    """Prove that the unit is its blocks, one after the other, and so what is specified."""
    inputs = variables_of(model.input_names)
    value = inputs["c"]
    lists: list[list[str]] = [[], []]
    for block in blocks:
        as_, bs = ([call.args[side] for call in block.aligned] for side in (0, 1))
        value = f"({block.name} {' '.join([*as_, *bs, value])})"
        for side, words in zip(lists, (as_, bs), strict=True):
            side.append(f"(list {' '.join(words)})")
    names = [block.name for block in blocks]
    functions = [book.function, *names, *(f"{name}-largest" for name in names)]
    unit = f"({book.function} {' '.join(inputs.values())})"
    widths = {inputs[name]: fmt.width for name, fmt in model.input_formats.items()}
    first, n = blocks[0], numbers
    specified = (
        f"(fused-sums (list {' '.join(lists[0])})\n      (list {' '.join(lists[1])})\n      {inputs['c']} "
        f"{first.a} {first.b} {first.c} {first.d}\n      "
        f"{n.fraction_bits} {n.carry_bits} {n.zero} {n.precision} {n.mode} {n.nan})"
    )
    computed = "(union-theories (theory 'computed)"
    hyps = " ".join(_sizes(widths))
    return [
        BookEvent(
            f"(defthm unit-is-its-blocks\n  (equal {unit}\n    {value})\n  :rule-classes nil\n"
            f'  :hints (("Goal" :in-theory {computed}\n    \'({" ".join(functions)})))))'
        ),
        BookEvent(
            f"(defthm specified\n  (implies (and {hyps})\n    (equal {unit}\n      {specified}))\n"
            f'  :rule-classes nil\n  :hints (("Goal" :do-not-induct t :use unit-is-its-blocks\n'
            f"    :in-theory {computed}\n"
            f"    '(fused-sums-of-more fused-sums-of-none car-cons cdr-cons "
            f"{' '.join(f'{name}-is-specified' for name in names)})))))"
        ),
    ]


def _stage(call: StageCall) -> Stage:
    assert call.stage is not None
    return call.stage


def _term(call: StageCall) -> Term:
    (term,) = expand([_stage(call).term])
    return term


def _one_of(call: StageCall, parts: Sequence[Term]) -> Term:
    if len(parts) != 1:
        raise TcsmtError(f"{call.label}: {len(parts)} parts are found where its proof is cut, not one")
    return parts[0]


def _lane(stage: Stage) -> int:
    return stage.lane if isinstance(stage.lane, int) else 0


def _sizes(widths: Mapping[str, int]) -> list[str]:
    return [f"(unsigned-byte-p {width} {word})" for word, width in widths.items()]
