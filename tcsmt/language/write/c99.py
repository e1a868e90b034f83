"""Terms as portable C99: straight-line code on unsigned words, for people and for other programs.

Every word is held in ``uint32_t``, or in ``uint64_t`` where it is wider; a wider one is refused
(:mod:`tcsmt.language.graphs.limbs` makes limbs of it). Nothing is left to the implementation: no signed
numbers, no shift by the size of a word or more. :mod:`tcsmt.language.write.c` is another thing: the plain
second opinion that proofs by enumeration need, in a vector dialect.

Trimming a result to its width is put off until it matters. A word is therefore held in one of three forms:
``LOW``, of which the bits above the width are whatever they are; ``WORD``, where they are 0; and ``NUMBER``,
where they repeat the sign bit. Every form serves where ``LOW`` is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from tcsmt.language.graphs.bounds import Bounds
from tcsmt.language.terms import Term
from tcsmt.language.write.inlining import Inlining, fresh
from tcsmt.language.write.operators import bare, infix

LOW, WORD, NUMBER = "low", "word", "number"
#: A node in one of them.
_Form = tuple[Term, str]

#: Nesting of an expression beyond which a word gets a name.
_DEPTH = 4


def _on_floats(name: str, result: str, parameters: Sequence[str], value: str) -> str:
    """Return the text of a helper that computes in floating point. value: of words x and y as numbers."""
    types = {"float": "uint32_t", "double": "uint64_t", "int32_t": "uint32_t"}
    words = ", ".join(f"{types[kind]} {x}" for kind, x in zip(parameters, "xyz", strict=False))
    lines = [
        f"static inline {types[result]} tcsmt_{name}({words}) {{",
        *(f"  {kind} {x}_number;" for kind, x in zip(parameters, "xyz", strict=False)),
        f"  {result} number;",
        f"  {types[result]} word;",
        *(f"  memcpy(&{x}_number, &{x}, sizeof {x});" for _, x in zip(parameters, "xyz", strict=False)),
        f"  number = {value};",
        "  memcpy(&word, &number, sizeof word);",
        "  return word;",
        "}",
    ]
    return "\n".join(lines)


#: Those that compute in floating point: their file includes <string.h>, and is compiled without contraction,
#: as C compilers would otherwise round a product and a sum once.
_ON_FLOATS = {
    "add_f32": _on_floats("add_f32", "float", ["float", "float"], "x_number + y_number"),
    "add_f64": _on_floats("add_f64", "double", ["double", "double"], "x_number + y_number"),
    **{
        f"fma_{name}": _on_floats(
            f"fma_{name}", kind, [kind] * 3, f"{call}(x_number, y_number, z_number)"
        ).replace("  return word;", f"  return number == number ? word : {nan};")
        for name, kind, call, nan in (
            ("f32", "float", "fmaf", "0x7fc00000u"),
            ("f64", "double", "fma", "UINT64_C(0x7ff8000000000000)"),
        )
    },
    "multiply_f32": _on_floats("multiply_f32", "float", ["float", "float"], "x_number * y_number"),
    "to_double_f64": _on_floats("to_double_f64", "double", ["float"], "(double)x_number"),
    "to_single_f32": _on_floats("to_single_f32", "float", ["double"], "(float)x_number"),
    "from_integer_f32": _on_floats("from_integer_f32", "float", ["int32_t"], "(float)x_number"),
    # C leaves the conversion of what no int32_t holds undefined: such words are made zero before
    "to_integer_f32": _on_floats("to_integer_f32", "int32_t", ["float"], "(int32_t)x_number").replace(
        "  memcpy(&x_", "  x &= 0u - (((x >> 23) & 255u) < 158u);\n  memcpy(&x_", 1
    ),
}

#: What the statements call; each is defined where it is used.
HELPERS = {
    "pick32": (
        "static inline uint32_t tcsmt_pick32(uint32_t which, uint32_t x, uint32_t y) {\n"
        "  return ((x ^ y) & (0u - which)) ^ y;\n}"
    ),
    "pick64": (
        "static inline uint64_t tcsmt_pick64(uint32_t which, uint64_t x, uint64_t y) {\n"
        "  return ((x ^ y) & (UINT64_C(0) - which)) ^ y;\n}"
    ),
    "signed32": (
        "static inline uint32_t tcsmt_signed32(uint32_t minus, uint32_t x) {\n"
        "  return (x ^ (0u - minus)) + minus;\n}"
    ),
    "signed64": (
        "static inline uint64_t tcsmt_signed64(uint32_t minus, uint64_t x) {\n"
        "  return (x ^ (UINT64_C(0) - minus)) + minus;\n}"
    ),
    "shr32": (
        "static inline uint32_t tcsmt_shr32(uint32_t x, uint32_t by) {\n"
        "  return (x >> (by & 31u)) & (0u - (by < 32u));\n}"
    ),
    "shr64": (
        "static inline uint64_t tcsmt_shr64(uint64_t x, uint64_t by) {\n"
        "  return (x >> (by & 63u)) & (UINT64_C(0) - (by < 64u));\n}"
    ),
    "shl32": (
        "static inline uint32_t tcsmt_shl32(uint32_t x, uint32_t by) {\n"
        "  return (x << (by & 31u)) & (0u - (by < 32u));\n}"
    ),
    "shl64": (
        "static inline uint64_t tcsmt_shl64(uint64_t x, uint64_t by) {\n"
        "  return (x << (by & 63u)) & (UINT64_C(0) - (by < 64u));\n}"
    ),
    "equal32": (
        "static inline uint32_t tcsmt_equal32(uint32_t x, uint32_t y) {\n"
        "  return (((x ^ y) | (0u - (x ^ y))) >> 31) ^ 1u;\n}"
    ),
    "equal64": (
        "static inline uint32_t tcsmt_equal64(uint64_t x, uint64_t y) {\n"
        "  return (uint32_t)(((x ^ y) | (UINT64_C(0) - (x ^ y))) >> 63) ^ 1u;\n}"
    ),
    "less32": (
        "static inline uint32_t tcsmt_less32(uint32_t x, uint32_t y) {\n"
        "  return ((~x & y) | ((~x | y) & (x - y))) >> 31;\n}"
    ),
    "less64": (
        "static inline uint32_t tcsmt_less64(uint64_t x, uint64_t y) {\n"
        "  return (uint32_t)(((~x & y) | ((~x | y) & (x - y))) >> 63);\n}"
    ),
    "min32": "static inline uint32_t tcsmt_min32(uint32_t x, uint32_t y) { return x < y ? x : y; }",
    "min64": "static inline uint64_t tcsmt_min64(uint64_t x, uint64_t y) { return x < y ? x : y; }",
    "max32": "static inline uint32_t tcsmt_max32(uint32_t x, uint32_t y) { return x < y ? y : x; }",
    "max64": "static inline uint64_t tcsmt_max64(uint64_t x, uint64_t y) { return x < y ? y : x; }",
    "sra32": (
        "static inline uint32_t tcsmt_sra32(uint32_t x, uint32_t by) {\n"
        "  const uint32_t flip = 0u - (x >> 31);\n"
        "  return ((x ^ flip) >> (by < 31u ? by : 31u)) ^ flip;\n}"
    ),
    "sra64": (
        "static inline uint64_t tcsmt_sra64(uint64_t x, uint64_t by) {\n"
        "  const uint64_t flip = 0u - (x >> 63);\n"
        "  return ((x ^ flip) >> (by < 63u ? by : 63u)) ^ flip;\n}"
    ),
    "wide": (
        "static inline uint64_t tcsmt_wide(uint32_t x) { /* as a signed number */\n"
        "  return ((uint64_t)x ^ 0x80000000u) - 0x80000000u;\n}"
    ),
    **_ON_FLOATS,
}


def container(width: int) -> int:
    """Return how many bits the C integer has that holds words of this width."""
    if width > 64:
        raise ValueError(f"a word of {width} bits: at most 64 are allowed")
    return 32 if width <= 32 else 64


def type_of(width: int) -> str:
    """Return the C type that holds words of this width."""
    return f"uint{container(width)}_t"


def _ones(width: int) -> int:
    return (1 << width) - 1


def literal(value: int, bits: int) -> str:
    """Return a constant of one of the two types."""
    digits = str(value) if value < 10 else f"{value:#x}"
    return f"UINT64_C({digits})" if bits == 64 else f"{digits}u"


@dataclass(frozen=True)
class _Made:
    """The way to write a form of a node: from which forms of its arguments, and in which form that results.

    write: takes the arguments' expressions, in the order of ``needs``.
    """

    needs: list[_Form]
    write: Callable[[Sequence[str]], str]
    form: str


class C99:
    """A writer of the statements for a graph, arguments before the nodes that use them."""

    def __init__(self, nodes: Sequence[Term], names: Mapping[Term, str], *, booleans: bool = True) -> None:
        """names: of the variables, which are trimmed, and of nodes that are to have a name of their own.

        booleans: compare with C's operators; else with arithmetic alone, as GCC makes no vectors of a loop in
        which it finds that a bit of an integer and a comparison go together.
        """
        self.booleans = booleans
        self._nodes = nodes
        self._names = names
        self._bounds = Bounds()
        self.helpers: set[str] = set()

    def statements(self, results: Sequence[Term]) -> tuple[list[str], list[str]]:
        """Return the statements that compute ``results``, and the expression of each, trimmed to its
        width.
        """
        made, uses = self._needed(results)
        others = fresh(set(self._names.values()))
        lines: list[str] = []

        def define(key: _Form, expression: str) -> str:
            node, _ = key
            name = self._names.get(node) or next(others)
            if node in self._names and (node, WORD) in text:  # its other form
                name = f"{name}_number"
            lines.append(f"const {type_of(node.width)} {name} = {bare(expression)};")
            return name

        text = Inlining(_DEPTH, define)
        for node in self._nodes:
            for key in ((node, form) for form in (WORD, NUMBER, LOW)):
                if key in made:
                    arguments = [_made_form(need, made) for need in made[key].needs]
                    expression = made[key].write([text[argument] for argument in arguments])
                    text.add(key, expression, arguments, named=uses[key] > 1 or node in self._names)
        return lines, [text[_made_form((root, WORD), made)] for root in results]

    def _needed(self, results: Sequence[Term]) -> tuple[dict[_Form, _Made], Counter[_Form]]:
        """Return every form of every node that is used, and how often."""
        wanted: dict[Term, set[str]] = {}
        for root in results:
            wanted.setdefault(root, set()).add(WORD)
        made: dict[_Form, _Made] = {}
        for node in reversed(self._nodes):
            forms = wanted.get(node, set())
            if node.width == container(node.width):
                forms = {WORD} if forms else set()
            for form in sorted(forms - {LOW}) or sorted(forms):
                how = self._how(node, form)
                made[node, form] = how
                for arg, need in how.needs:
                    wanted.setdefault(arg, set()).add(need)
        uses: Counter[_Form] = Counter()
        for how in made.values():
            uses.update(_made_form(used, made) for used in how.needs)
        return made, uses

    def _how(self, node: Term, form: str) -> _Made:
        form_made = _HOW[node.op](self, node, form)
        if form in (LOW, form_made.form) or node.width == container(node.width):
            return form_made
        bits, width = container(node.width), node.width

        def trimmed(parts: Sequence[str]) -> str:
            return f"({form_made.write(parts)} & {literal(_ones(width), bits)})"

        def extended(parts: Sequence[str]) -> str:
            sign = literal(1 << (width - 1), bits)
            word = form_made.write(parts) if form_made.form == WORD else trimmed(parts)
            return f"(({word} ^ {sign}) - {sign})"

        _, high = self._bounds.unsigned(node)
        if form == NUMBER and high < 1 << (width - 1):  # the sign bit is 0
            return replace(
                form_made, write=form_made.write if form_made.form == WORD else trimmed, form=NUMBER
            )
        return replace(form_made, write=trimmed if form == WORD else extended, form=form)

    def most(self, node: Term) -> int:
        """Return the largest unsigned value."""
        return self._bounds.unsigned(node)[1]

    def signed(self, node: Term) -> tuple[int, int]:
        """Return the least and the largest value in two's complement."""
        return self._bounds.signed(node)

    def whole(self, node: Term) -> bool:
        """Return whether the operation on the arguments' words, as integers, neither wraps nor is
        negative.
        """
        ends = [self._bounds.unsigned(arg) for arg in node.args]
        match node.op:
            case "add":
                return sum(high for _, high in ends) <= _ones(node.width)
            case "mul":
                return ends[0][1] * ends[1][1] <= _ones(node.width)
            case "sub":
                return ends[0][0] >= ends[1][1]
            case "shl":
                amount = ends[1][1]
                return amount < node.width and ends[0][1] << amount <= _ones(node.width)
        return False

    def signed_whole(self, node: Term) -> bool:
        """Return whether the operation on the arguments' numbers does not leave the signed numbers of the
        width.
        """
        least, most = -(1 << (node.width - 1)), (1 << (node.width - 1)) - 1
        ends = [self._bounds.signed(arg) for arg in node.args]
        match node.op:
            case "neg":
                return ends[0][0] > least
            case "add":
                return least <= sum(low for low, _ in ends) and sum(high for _, high in ends) <= most
        return False

    def cast(self, expression: str, source: int, target: int) -> str:
        """Cast to the type for words of ``target`` bits."""
        if container(source) == container(target):
            return expression
        return f"({type_of(target)}){expression}"

    def name(self, node: Term) -> str:
        """Return what a variable is called."""
        return self._names[node]

    def helper(self, name: str, bits: int | None = None) -> str:
        """Return a function of that name for words of so many bits, which is then among :attr:`helpers`."""
        called = name if bits is None else f"{name}{bits}"
        self.helpers.add(called)
        return f"tcsmt_{called}"


def _made_form(need: _Form, made: Mapping[_Form, _Made]) -> _Form:
    """Return the form in which a node is written where one is needed: every other serves."""
    if need in made:
        return need
    return next(key for other in (WORD, NUMBER, LOW) if (key := (need[0], other)) in made)


def _constant(c: C99, node: Term, form: str) -> _Made:
    bits, value = container(node.width), node.value or 0
    if form == NUMBER and value >> (node.width - 1):
        value += (1 << bits) - (1 << node.width)
    return _Made([], lambda parts: literal(value, bits), form)


def _variable(c: C99, node: Term, form: str) -> _Made:
    return _Made([], lambda parts: c.name(node), WORD)


def _inverted(c: C99, node: Term, form: str) -> _Made:
    (arg,) = node.args
    if node.width == 1:
        return _Made([(arg, WORD)], lambda parts: f"({parts[0]} ^ 1u)", WORD)
    if form == WORD:
        ones = literal(_ones(node.width), container(node.width))
        return _Made([(arg, WORD)], lambda parts: f"({parts[0]} ^ {ones})", WORD)
    return _Made([(arg, form)], lambda parts: f"(~{parts[0]})", form)


def _bitwise(c: C99, node: Term, form: str) -> _Made:
    """Make a word of words, a number of numbers."""
    return _Made([(arg, form) for arg in node.args], lambda parts: infix(node, parts), form)


def _sum(c: C99, node: Term, form: str) -> _Made:
    if form == WORD and c.whole(node):
        inner = WORD
    elif form == NUMBER and c.signed_whole(node):
        inner = NUMBER
    else:
        inner = LOW
    narrow, rest = _narrow(c, node) if inner == LOW and node.op == "add" else ([], list(node.args))
    if not narrow:
        return _Made([(arg, inner) for arg in rest], lambda parts: infix(node, parts), inner)
    widened = c.helper("wide")
    count = len(narrow)

    def write(parts: Sequence[str]) -> str:
        first = f"{widened}({bare(infix(node, parts[:count]))})"
        return infix(node, [first, *parts[count:]])

    return _Made([(arg.args[0], NUMBER) for arg in narrow] + [(arg, LOW) for arg in rest], write, LOW)


def _narrow(c: C99, node: Term) -> tuple[list[Term], list[Term]]:
    """Return the sign-extended addends of a wide sum whose sum is signed, of 32 bits; and the others.

    An addend may be there several times, some of them with these and some with the others.
    """
    if container(node.width) == 32:
        return [], list(node.args)
    terms, others, low, high = list[Term](), list[Term](), 0, 0
    for arg in node.args:
        # added in 32 bits only as long as no sum of these leaves the signed numbers: else a carry is lost
        if arg.op == "sext" and container(arg.args[0].width) == 32:
            least, most = c.signed(arg.args[0])
            if low + least >= -(1 << 31) and high + most < 1 << 31:
                terms.append(arg)
                low, high = low + least, high + most
                continue
        others.append(arg)
    return (terms, others) if len(terms) > 1 else ([], list(node.args))


def _negated(c: C99, node: Term, form: str) -> _Made:
    inner = NUMBER if form == NUMBER and c.signed_whole(node) else LOW
    zero = literal(0, container(node.width))
    return _Made([(node.args[0], inner)], lambda parts: f"({zero} - {parts[0]})", inner)


def _shift(c: C99, node: Term, form: str) -> _Made:
    value, amount = node.args
    bits = container(node.width)
    # C leaves a shift by the type's width or more undefined: only a bound on the amount spares the helper
    small = c.most(amount) < bits
    if node.op == "ashr":
        name = c.helper("sra", bits)
        return _Made([(value, NUMBER), (amount, WORD)], lambda p: f"{name}({p[0]}, {p[1]})", NUMBER)
    left = node.op == "shl"
    gone = not left and c.most(value) < 1 << (bits - 1)  # nothing is left after bits - 1 places
    # to the right, bits above the width would come down into the word; to the left they only leave it
    inner = WORD if not left or (form == WORD and c.whole(node)) else LOW

    def write(parts: Sequence[str]) -> str:
        if small:
            return infix(node, parts)
        if gone:
            return f"({parts[0]} >> {c.helper('min', bits)}({bare(parts[1])}, {bits - 1}u))"
        return f"{c.helper('shl' if left else 'shr', bits)}({parts[0]}, {parts[1]})"

    return _Made([(value, inner), (amount, WORD)], write, inner)


def _concat(c: C99, node: Term, form: str) -> _Made:
    upper, lower = node.args
    inner = WORD if form == WORD else LOW

    def write(parts: Sequence[str]) -> str:
        high = c.cast(parts[0], upper.width, node.width)
        low = c.cast(parts[1], lower.width, node.width)
        return f"({high} << {lower.width} | {low})"

    return _Made([(upper, inner), (lower, WORD)], write, inner)


def _extract(c: C99, node: Term, form: str) -> _Made:
    (arg,) = node.args
    high, low = node.data  # type: ignore[misc,str-unpack]
    # the topmost bits of a trimmed word need no mask of their own; others have neighbours above them
    top = int(high) == arg.width - 1
    inner = WORD if top and form == WORD else LOW

    def write(parts: Sequence[str]) -> str:
        moved = f"({parts[0]} >> {low})" if low else parts[0]
        return c.cast(moved, arg.width, node.width)

    return _Made([(arg, inner)], write, inner)


def _zext(c: C99, node: Term, form: str) -> _Made:
    (arg,) = node.args
    return _Made([(arg, WORD)], lambda parts: c.cast(parts[0], arg.width, node.width), WORD)


def _sext(c: C99, node: Term, form: str) -> _Made:
    (arg,) = node.args
    if container(arg.width) == container(node.width):
        return _Made([(arg, NUMBER)], lambda parts: parts[0], NUMBER)
    if c.most(arg) < 1 << (arg.width - 1):
        return _Made([(arg, WORD)], lambda parts: c.cast(parts[0], arg.width, node.width), WORD)
    name = c.helper("wide")
    return _Made([(arg, NUMBER)], lambda parts: f"{name}({bare(parts[0])})", NUMBER)


def _ite(c: C99, node: Term, form: str) -> _Made:
    """Choose without a branch: a wrong guess about the condition costs more than both values."""
    condition, then, otherwise = node.args
    if then.op == "neg" and then.args[0] is otherwise and (form != NUMBER or c.signed_whole(then)):
        inner = NUMBER if form == NUMBER else LOW
        name = c.helper("signed", container(node.width))
        return _Made([(condition, WORD), (otherwise, inner)], lambda p: f"{name}({p[0]}, {p[1]})", inner)
    name = c.helper("pick", container(node.width))
    return _Made(
        [(condition, WORD), (then, form), (otherwise, form)],
        lambda parts: f"{name}({', '.join(map(bare, parts))})",
        form,
    )


def _compared(c: C99, node: Term, form: str) -> _Made:
    if not c.booleans:
        name = c.helper("equal" if node.op == "eq" else "less", container(node.args[0].width))
        needs = [(arg, WORD) for arg in node.args]
        return _Made(needs, lambda parts: f"{name}({', '.join(map(bare, parts))})", WORD)
    return _Made([(arg, WORD) for arg in node.args], lambda parts: f"(uint32_t){infix(node, parts)}", WORD)


def _signed_less(c: C99, node: Term, form: str) -> _Made:
    """Compare with flipped sign bits: two's complement is then ordered as unsigned words are."""
    width = node.args[0].width
    sign = literal(1 << (width - 1), container(width))
    needs = [(arg, WORD) for arg in node.args]
    if not c.booleans:
        name = c.helper("less", container(width))
        return _Made(needs, lambda parts: f"{name}({parts[0]} ^ {sign}, {parts[1]} ^ {sign})", WORD)
    return _Made(needs, lambda parts: f"(uint32_t)(({parts[0]} ^ {sign}) < ({parts[1]} ^ {sign}))", WORD)


def _largest(c: C99, node: Term, form: str) -> _Made:
    name = c.helper("max", container(node.width))
    return _Made(
        [(arg, WORD) for arg in node.args],
        lambda parts: reduce(lambda best, other: f"{name}({best}, {other})", parts),
        WORD,
    )


def in_floating_point(name: str) -> bool:
    """Return whether a macro of that name is written as an operation of C's ``float`` and ``double``."""
    return name.replace(".", "_") in _ON_FLOATS


def _macro(c: C99, node: Term, form: str) -> _Made:
    name = c.helper(str(node.data).replace(".", "_"))
    return _Made(
        [(arg, WORD) for arg in node.args], lambda parts: f"{name}({', '.join(map(bare, parts))})", WORD
    )


_HOW: dict[str, Callable[[C99, Term, str], _Made]] = {
    "const": _constant,
    "var": _variable,
    "not": _inverted,
    "and": _bitwise,
    "or": _bitwise,
    "xor": _bitwise,
    "neg": _negated,
    "add": _sum,
    "sub": _sum,
    "mul": _sum,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _shift,
    "concat": _concat,
    "extract": _extract,
    "zext": _zext,
    "sext": _sext,
    "ite": _ite,
    "macro": _macro,
    "eq": _compared,
    "ult": _compared,
    "slt": _signed_less,
    "umax": _largest,
}
