"""The words into which a recipe splits its inputs, and what is proved of errors by them, as events of ACL2.

    split-of-a      what the words of a number of the domain are, and how near their sum is to it
    of-words        for all such words, how large the errors of the results are, against the words' exact sum
    error-at-most, never-less-accurate
                    what follows for the numbers: |a·b - A·B| <= |a - A||b| + |A||b - B|

The first two are simulated on symbolic bits, in units of integers, and their clauses are refuted. How they
compose is for ACL2 to check: nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from tcsmt.analysis.bounds.proof import word_exponents, words_needed
from tcsmt.interop.exports.acl2.derivation import BookEvent, simulated
from tcsmt.interop.exports.acl2.recipes import RecipeFunctions, quoted_format
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import samples


@dataclass(frozen=True)
class RecipeWords:
    """The words of a recipe's inputs, and what is written of them.

    domain: of the inputs, which are zero or normal and have exponents in a range.
    """

    recipe: RecipeFunctions
    domain: Domain

    @property
    def algorithm(self) -> Algorithm:
        """Return the recipe on its unit."""
        return self.recipe.algorithm

    @cached_property
    def wide(self) -> str:
        """Return the format of the inputs, of c and of the result."""
        return quoted_format(self.algorithm.wide)

    @cached_property
    def narrow(self) -> str:
        """Return the format of the words."""
        return quoted_format(self.algorithm.split.format)

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Return how many words of an a, and of a b, may be other than zero."""
        return words_needed(self.algorithm, self.domain)

    @cached_property
    def free(self) -> dict[str, list[str]]:
        """Return what these words are called, by input."""
        a, b = self.recipe.inputs
        counts = dict.fromkeys(a, self.counts[0]) | dict.fromkeys(b, self.counts[1])
        return {name: self.recipe.words(name)[:count] for name, count in counts.items()}

    @property
    def inputs(self) -> dict[str, int]:
        """Return the widths of all inputs."""
        return dict.fromkeys((*self.free, "c"), self.algorithm.wide.width)

    @property
    def args(self) -> str:
        """Return all inputs."""
        return " ".join(self.inputs)

    @property
    def c(self) -> str:
        """Return c in a lemma about words."""
        return "0" if self.domain.c_zero else "c"

    @property
    def inhabitant(self) -> dict[str, int]:
        """Return words of the domain."""
        formats = self.algorithm.input_formats
        return {name: max(samples(self.domain, name, fmt), default=0) for name, fmt in formats.items()}

    # --- units of integers, as exponents of two

    def _range(self, number: int) -> tuple[int, int]:
        """Return the range of exponents of a word that is not zero."""
        split = self.algorithm.split
        low, high = word_exponents(split, self.domain)
        return (low if number else max(split.format.e_min, self.domain.low)), high

    def _unit(self, number: int) -> int:
        """Return the unit of a word, as it counts in the number."""
        split = self.algorithm.split
        return self._range(number)[0] - split.format.fraction_bits - split.scale * number

    @property
    def _unit_of_number(self) -> int:
        return self.domain.low - self.algorithm.wide.fraction_bits

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of a word of an a and a word of its b."""
        return list(product(range(self.counts[0]), range(self.counts[1])))

    @cached_property
    def _range_of_result(self) -> tuple[int, int]:
        """Return the exponents of a result that is not zero: a multiple of the terms' smallest unit."""
        units = [self._unit(i) + self._unit(j) for i, j in self._pairs]
        units += [] if self.domain.c_zero else [self._unit_of_number]
        high = max(self._range(0)[1], self.domain.high)
        most = max(2 * high + 2, self.domain.high + 1) + (self.algorithm.k + 1).bit_length()
        return max(min(units), self.algorithm.wide.e_min), min(most, self.algorithm.wide.e_max)

    # --- what is written of words

    def _number(self, word: str) -> str:
        return _scaled(word, self.wide, self.domain.low, self.domain.high)

    def _word(self, word: str, number: int) -> str:
        return _scaled(word, self.narrow, *self._range(number))

    def _product(self, x: str, y: str, i: int, j: int) -> str:
        (lx, hx), (ly, hy) = self._range(i), self._range(j)
        formats = f"{self.narrow} {self.narrow}"
        return f"(scaled-product {x} {y} {formats} {lx} {_bits(lx, hx)} {ly} {_bits(ly, hy)})"

    def _value(self, words: Sequence[str]) -> str:
        return f"(value-of-words (list {' '.join(words)}) {self.narrow} {self.algorithm.split.scale})"

    def _conditions(self, words: Sequence[str]) -> list[str]:
        """Return what is known of the words of a number."""
        split, says = self.algorithm.split, []
        for number, word in enumerate(words):
            low, high = self._range(number)
            says.append(f"(exponent-within {word} {self.narrow} {low} {high})")
        if self.domain.low >= split.format.e_min:
            significand = f"(significand-of {words[0]} {self.narrow})"
            least = 1 << split.format.fraction_bits
            says.append(f"(or (equal {significand} 0) (<= {least} {significand}))")
        if self.domain.positive:
            says.append(f"(equal (sign-of {words[0]} {self.narrow}) 0)")
        for number in range(1, len(words)):
            rounding = split.rounding if number == 1 else split.residual
            digits = split.format.precision - (not rounding.nearest)
            before, size = (f"(abs {self._word(words[n], n)})" for n in (number - 1, number))
            gap = digits + self._unit(number) - self._unit(number - 1)
            says.append(f"(<= {_power(gap, size)} {_power(-gap, before)})")
        return says

    def _sums(self, recipe: RecipeFunctions) -> str:
        """Return what a recipe makes of the words."""
        words: list[str] = []
        for lane, free in self.free.items():
            words += [*free, *["0"] * (len(recipe.words(lane)) - len(free))]
        return f"({recipe.name}.sums {' '.join(words)} {self.c})"

    def _call(self, recipe: RecipeFunctions) -> str:
        return f"({recipe.name} {self.args})"

    def _lists(self, value: Callable[[str], str]) -> tuple[str, str]:
        """Return the values of all a's, and of all b's."""
        a, b = (f"(list {' '.join(map(value, side))})" for side in self.recipe.inputs)
        return a, b

    @property
    def _of_free(self) -> tuple[str, str]:
        return self._lists(lambda lane: self._value(self.free[lane]))

    def _split_value(self, name: str, count: int) -> str:
        return self._value([self.recipe.word(number, name) for number in range(count)])

    @property
    def _of_split(self) -> tuple[str, str]:
        return self._lists(lambda lane: self._split_value(lane, len(self.free[lane])))

    @property
    def _of_inputs(self) -> tuple[str, str]:
        a, b = (f"(values-of (list {' '.join(side)}) {self.wide})" for side in self.recipe.inputs)
        return a, b

    def _error(self, result: str, sides: Sequence[str], c: str) -> str:
        """Return the error of a result. sides: the values whose products are summed."""
        exact = f"(+ (value-of {c} {self.wide}) (sum-of-products {' '.join(sides)}))"
        return f"(abs (- (value-of {result} {self.wide})\n              {exact}))"

    def _size(self, sides: Sequence[str], c: str) -> str:
        return f"(+ (abs (value-of {c} {self.wide})) (sum-of-sizes {' '.join(sides)}))"

    # --- events

    def domain_events(self) -> list[BookEvent]:
        """Return what words of the domain are."""
        events = []
        low, high, wide = self.domain.low, self.domain.high, self.algorithm.wide
        for side, bits in zip("abc", (*self.domain.bits_in(wide), wide.precision), strict=True):
            says = [f"(zero-or-normal x {self.wide} {low} {high})"]
            if bits < wide.precision:
                says.append(f"(equal (loghead {wide.precision - bits} x) 0)")
            if self.domain.positive:
                says.append(f"(equal (sign-of x {self.wide}) 0)")
            if side == "c" and self.domain.c_zero:
                says = ["(equal x 0)"]
            events.append(BookEvent(f"(defun {side}-in-domain (x)\n  (and {_lines(says)}))"))
        holds = " ".join(f"({name[0]}-in-domain {name})" for name in self.inputs)
        events.append(BookEvent(f"(defun in-domain ({self.args})\n  (and {holds}))"))
        return [*events, BookEvent(f"(defun words-p ({self.args})\n  (and {_sizes(self.inputs)}))")]

    def split(self, left: Sequence[Fraction] | None) -> list[BookEvent]:
        """Return what the words of a number are. left: the share of it that they leave at most, of an a and
        of a b; None: they are the number.
        """
        events = []
        for side, count, rest in zip("ab", self.counts, left or (None, None), strict=True):
            events += self._split(side, count, rest)
        return events

    def _split(self, side: str, count: int, rest: Fraction | None) -> list[BookEvent]:
        recipe, split = self.recipe, self.algorithm.split
        words = [recipe.word(number, "x") for number in range(split.words)]
        least = min(self._unit_of_number, *map(self._unit, range(count)))
        number = _power(self._unit_of_number - least, self._number("x"))
        parts = _sum(_power(self._unit(n) - least, self._word(words[n], n)) for n in range(count))
        value, of_words = f"(value-of x {self.wide})", self._split_value("x", count)
        if rest is None:
            near = f"(equal {number} {parts})", f"(equal {value} {of_words})"
        else:
            near = (
                _at_most(f"(abs (- {number} {parts}))", rest, f"(abs {number})"),
                f"(<= (abs (- {value} {of_words})) (* {rest} (abs {value})))",
            )
        says = [f"(exponent-within x {self.wide} {self.domain.low} {self.domain.high})"]
        says += [f"(unsigned-byte-p {split.format.width} {word})" for word in words[:count]]
        says += self._conditions(words[:count])
        says += [f"(equal {word} 0)" for word in words[count:]]
        name, uses = f"split-of-{side}", [f"split-of-{side}"]
        uses.append(_instance("x", self.wide, self.domain.low, self.domain.high))
        uses += [_instance(words[n], self.narrow, *self._range(n)) for n in range(count)]
        where = f"({side}-in-domain x)"
        return [
            self._simulated_split(name, side, [*says, near[0]]),
            _arithmetic(f"value-of-{side}", [_sizes({"x": self.algorithm.wide.width}), where], near[1], uses),
        ]

    def _simulated_split(self, name: str, side: str, says: Sequence[str]) -> BookEvent:
        claim = f"(implies ({side}-in-domain x)\n    (and {_lines(says)}))"
        return BookEvent(simulated(name, {"x": self.algorithm.wide.width}, claim), name)

    def bounded(self, left: Sequence[Fraction], share: Fraction, limit: Fraction) -> list[BookEvent]:
        """Prove that the error is at most the limit of the terms' sizes. share: the same of the words."""

        def compared(results: Sequence[str], terms: Sequence[str]) -> str:
            sizes = _sum(f"(abs {term})" for term in terms)
            return _at_most(f"(abs (- {results[0]} {_sum(terms)}))", share, sizes)

        def bound(result: str, sides: Sequence[str], c: str, share: Fraction) -> str:
            return f"(<= {self._error(result, sides, c)}\n        (* {share} {self._size(sides, c)}))"

        recipe, result = self.recipe, self._call(self.recipe)
        near = [
            f"(near-p {numbers} {words} {rest})"
            for numbers, words, rest in zip(self._of_inputs, self._of_split, left, strict=True)
        ]
        rules = ["near-p-of-more", "near-p-of-none", "values-of-more", "values-of-none", *_RATIONAL]
        uses = [f"(:instance value-of-{lane[0]} (x {lane}))" for lane in self.free]
        values = zip(("as", "bs", "xs", "ys"), (*self._of_inputs, *self._of_split), strict=True)
        numbers = {"ra": left[0], "rb": left[1], "share": share, "limit": limit}
        instance = [f"({name} {text})" for name, text in (*values, *numbers.items())]
        instance += [f"(r (value-of {result} {self.wide}))", f"(c (value-of c {self.wide}))"]
        says = f"(number-p {result} {self.wide})\n      {bound(result, self._of_inputs, 'c', limit)}"
        return [
            self._of_words([recipe], compared),
            self._values_of_words([recipe], bound(self._sums(recipe), self._of_free, self.c, share)),
            self._values_of_results([recipe], bound(result, self._of_split, "c", share)),
            _logical("near-words", self._where, f"(and {_lines(near)})", uses, [*_OPENED, *rules]),
            _logical(
                "error-at-most", self._where, f"(and {says})",
                ["near-words", "value-of-results", f"(:instance error-through-words {_lines(instance)})"],
                ["exponent-within", "length-of-more", "values-of-more", "values-of-none", *_RATIONAL],
            ),
        ]  # fmt: skip

    def prove_not_less_accurate(self, other: RecipeFunctions) -> list[BookEvent]:
        """Prove that the error is never larger than that of another recipe, which has the same words."""

        def compared(results: Sequence[str], terms: Sequence[str]) -> str:
            first, second = (f"(abs (- {result} {_sum(terms)}))" for result in results)
            return f"(<= {first} {second})"

        def nearer(results: Sequence[str], sides: Sequence[str], c: str) -> str:
            first, second = (self._error(result, sides, c) for result in results)
            return f"(<= {first}\n        {second})"

        recipes = [self.recipe, other]
        sums, results = ([write(one) for one in recipes] for write in (self._sums, self._call))
        finite = [f"(number-p {result} {self.wide})" for result in results]
        uses = ["value-of-results", *(f"(:instance value-of-{lane[0]} (x {lane}))" for lane in self.free)]
        says = f"(and {_lines([*finite, nearer(results, self._of_inputs, 'c')])})"
        rules = [*_OPENED, "exponent-within", "values-of-more", "values-of-none"]
        return [
            *(self._same_words(side, other, count) for side, count in zip("ab", self.counts, strict=True)),
            self._of_words(recipes, compared),
            self._values_of_words(recipes, nearer(sums, self._of_free, self.c)),
            self._values_of_results(recipes, nearer(results, self._of_split, "c")),
            _logical("never-less-accurate", self._where, says, uses, rules),
        ]

    def _same_words(self, side: str, other: RecipeFunctions, count: int) -> BookEvent:
        words = [(self.recipe.word(n, "x"), other.word(n, "x")) for n in range(count)]
        says = [f"(equal {second} {first})" for first, second in words]
        says += [f"(equal {other.word(n, 'x')} 0)" for n in range(count, other.algorithm.split.words)]
        return self._simulated_split(f"same-words-of-{side}", side, says)

    def _of_words(
        self,
        recipes: Sequence[RecipeFunctions],
        compared: Callable[[Sequence[str], Sequence[str]], str],
    ) -> BookEvent:
        """Prove for all words that the results are numbers, and what holds of their errors.

        compared: says it, of the results and the terms in one unit.
        """
        low, high = self._range_of_result
        results = {f"result-{n}": self._sums(recipe) for n, recipe in enumerate(recipes)}
        unit = low - self.algorithm.wide.fraction_bits
        least = min(unit, self._unit_of_number, *(self._unit(i) + self._unit(j) for i, j in self._pairs))
        terms = {}
        if not self.domain.c_zero:
            terms["term-c"] = _power(self._unit_of_number - least, self._number("c"))
        for number, lanes in enumerate(zip(*self.recipe.inputs, strict=True)):
            a, b = (self.free[lane] for lane in lanes)
            terms[f"term-{number}"] = _sum(
                _power(self._unit(i) + self._unit(j) - least, self._product(a[i], b[j], i, j))
                for i, j in self._pairs
            )
        bindings = [f"({name} {value})" for name, value in (*results.items(), *terms.items())]
        says = [f"(exponent-within {name} {self.wide} {low} {high})" for name in results]
        if not self.domain.c_zero:
            says.append(f"(exponent-within c {self.wide} {self.domain.low} {self.domain.high})")
        integers = [_power(unit - least, _scaled(name, self.wide, low, high)) for name in results]
        says.append(compared(integers, list(terms)))
        claim = f"(let* ({_lines(bindings)})\n    (and {_lines(says)}))"
        text = f"(implies (and {_lines(self._word_hyps)})\n    {claim})"
        return BookEvent(simulated("of-words", self._word_widths, text), "of-words")

    @property
    def _word_hyps(self) -> list[str]:
        hyps = [text for words in self.free.values() for text in self._conditions(words)]
        return hyps if self.domain.c_zero else [*hyps, "(c-in-domain c)"]

    @property
    def _word_widths(self) -> dict[str, int]:
        width = self.algorithm.split.format.width
        widths = {word: width for words in self.free.values() for word in words}
        return widths if self.domain.c_zero else {**widths, "c": self.algorithm.wide.width}

    def _values_of_words(self, recipes: Sequence[RecipeFunctions], says: str) -> BookEvent:
        """Return the same of values."""
        low, high = self._range_of_result
        results = [self._sums(recipe) for recipe in recipes]
        within = [f"(exponent-within {result} {self.wide} {low} {high})" for result in results]
        uses = ["of-words", *(_instance(result, self.wide, low, high) for result in results)]
        if not self.domain.c_zero:
            uses.append(_instance("c", self.wide, self.domain.low, self.domain.high))
        for a, b in zip(*self.recipe.inputs, strict=True):
            for i, j in self._pairs:
                uses.append(self._instance_of_product(self.free[a][i], self.free[b][j], i, j))
        hyps = [_sizes(self._word_widths), *self._word_hyps]
        return _arithmetic("value-of-sums", hyps, f"(and {_lines([*within, says])})", uses)

    def _instance_of_product(self, x: str, y: str, i: int, j: int) -> str:
        (lx, hx), (ly, hy) = self._range(i), self._range(j)
        return (
            f"(:instance value-of-scaled-product (x {x}) (y {y}) (fx {self.narrow}) (fy {self.narrow})\n"
            f"        (lx {lx}) (hx {hx}) (kx {_bits(lx, hx)}) (ly {ly}) (hy {hy}) (ky {_bits(ly, hy)}))"
        )

    def _values_of_results(self, recipes: Sequence[RecipeFunctions], says: str) -> BookEvent:
        """Return the same of the inputs' own words."""
        words = [
            f"({word} {self.recipe.word(number, lane)})"
            for lane, names in self.free.items()
            for number, word in enumerate(names)
        ]
        uses = [f"(:instance value-of-sums {_lines(words)})"]
        lemmas = ["split-of", "same-words-of"][: len(recipes)]
        uses += [f"(:instance {lemma}-{lane[0]} (x {lane}))" for lemma in lemmas for lane in self.free]
        low, high = self._range_of_result
        within = [f"(exponent-within {self._call(recipe)} {self.wide} {low} {high})" for recipe in recipes]
        rules = [*_OPENED, *(["c-in-domain"] if self.domain.c_zero else []), *(one.name for one in recipes)]
        return _logical("value-of-results", self._where, f"(and {_lines([*within, says])})", uses, rules)

    @property
    def _where(self) -> list[str]:
        return [f"(words-p {self.args})", f"(in-domain {self.args})"]


#: That values are rational numbers.
_RATIONAL = ("rational-value", "rational-value-of-words")
#: What says of the inputs one by one that they are words of the domain.
_OPENED = ("words-p", "in-domain")


def _bits(low: int, high: int) -> int:
    return (high - low).bit_length()


def _scaled(word: str, fmt: str, low: int, high: int) -> str:
    return f"(scaled {word} {fmt} {low} {_bits(low, high)})"


def _instance(word: str, fmt: str, low: int, high: int) -> str:
    """Return the claim that a scaled word is its value."""
    return (
        f"(:instance value-of-scaled (w {word}) (fmt {fmt}) (low {low}) (high {high}) (k {_bits(low, high)}))"
    )


def _times(number: int, text: str) -> str:
    return text if number == 1 else f"(* {number} {text})"


def _power(exponent: int, text: str) -> str:
    """Return the text times a power of two; a negative one is on the other side."""
    return _times(1 << max(exponent, 0), text)


def _at_most(part: str, share: Fraction, whole: str) -> str:
    return f"(<= {_times(share.denominator, part)} {_times(share.numerator, whole)})"


def _sum(terms: Iterable[str]) -> str:
    texts = list(terms)
    return texts[0] if len(texts) == 1 else f"(+ {' '.join(texts)})"


def _sizes(widths: Mapping[str, int]) -> str:
    return " ".join(f"(unsigned-byte-p {width} {word})" for word, width in widths.items())


def _lines(texts: Iterable[str]) -> str:
    return "\n      ".join(texts)


def _arithmetic(name: str, hyps: Sequence[str], says: str, uses: Sequence[str]) -> BookEvent:
    """Return a theorem about values by linear arithmetic."""
    return _hinted(name, hyps, says, uses, "(theory 'arithmetic-of-values)")


def _logical(
    name: str, hyps: Sequence[str], says: str, uses: Sequence[str], rules: Sequence[str]
) -> BookEvent:
    """Return a theorem by logic, what constants compute, and some rules."""
    return _hinted(name, hyps, says, uses, f"(union-theories (theory 'computed) '({' '.join(rules)}))")


def _hinted(name: str, hyps: Sequence[str], says: str, uses: Sequence[str], theory: str) -> BookEvent:
    return BookEvent(
        f"(defthm {name}\n  (implies (and {_lines(hyps)})\n    {says})\n  :rule-classes nil\n"
        f'  :hints (("Goal" :do-not-induct t :in-theory {theory}\n    :use ({_lines(uses)}))))'
    )
