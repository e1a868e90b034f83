"""A circuit as a model: what a design's output is, as BTOR2 says it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, ClassVar

from tcsmt.language.read.btor2_reader import Btor2File, Btor2Line, read_btor2
from tcsmt.language.terms import Term, const, substitute, var, variables
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.models.base import Model, Terms, choice
from tcsmt.matrix_units.models.files import KINDS
from tcsmt.matrix_units.models.stages import Kind, Stage
from tcsmt.support.errors import TcsmtError, UnknownName, choose

#: The operands that are block scales.
SCALES = ("scale_a", "scale_b")


class UndrivenBits(TcsmtError):
    """A result whose graph has bits that nothing drives, or don't-cares, and nothing else that is free."""


@dataclass(frozen=True)
class Port:
    """Bits of a port, and what they are: ``OPERAND=NAME[HIGH:LOW] (SOURCE)``.

    operand: ``a``, ``b``, ``c``, ``d``, ``scale_a`` or ``scale_b``. lane: of the operand; None: all lanes,
    the first one in the lowest bits. bits: the highest and the lowest one; None: the whole port. text: as it
    was given. source: what the design itself calls these bits, or "".
    """

    operand: str
    lane: int | None
    name: str
    bits: tuple[int, int] | None
    text: str
    source: str = ""

    @classmethod
    def read(cls, text: str) -> Port:
        """Read a port from text. Raises :class:`.TcsmtError`."""
        match = re.fullmatch(r"([A-Za-z_]+)(\d*)=(.+?)(?:\[(\d+)(?::(\d+))?\])?(?: \(([^\s()]+)\))?", text)
        if match is None:
            raise TcsmtError(f"port {text!r}: expected OPERAND=NAME or OPERAND=NAME[HIGH:LOW], e.g. a=in_a")
        operand, lane, name, high, low, source = match.groups()
        operand = choose("operand", operand, (*"abcd", *SCALES))
        if lane and operand in "cd":
            raise TcsmtError(f"port {text!r}: {operand} is one word and has no lanes")
        bits = None if high is None else (int(high), int(low or high))
        return cls(operand, int(lane) if lane else None, name, bits, text, source or "")

    @property
    def path(self) -> str:
        """Return the port with what selects its bits, as it was given."""
        return self.text.partition("=")[2].removesuffix(f" ({self.source})") or self.name

    def range_in(self, width: int) -> tuple[int, int]:
        """Return the highest and the lowest bit, in a port of so many bits. Raises :class:`.TcsmtError`."""
        high, low = self.bits or (width - 1, 0)
        if high < low:
            raise TcsmtError(f"port {self.text!r}: bits are given as [HIGH:LOW]")
        if high >= width:
            raise TcsmtError(f"port {self.text!r}: {self.name} has the bits [{width - 1}:0]")
        return high, low


@dataclass(frozen=True, kw_only=True)
class Circuit(Model):
    """A circuit: what the output of a design is, as its BTOR2 text says.

    The text is a parameter, so that the model needs neither the design nor the tool that has read it. Bits
    that nothing says are free: undriven ones, don't-cares, what registers hold at first, inputs that are
    neither operands nor constants. A result that depends on one is refused.

    btor2: the text.
    ports: which bits of which ports the operands and the result are: ``OPERAND=NAME`` or
        ``OPERAND=NAME[HIGH:LOW]``, with OPERAND one of ``a``, ``b``, ``c``, ``d``, ``scale_a`` and
        ``scale_b`` (all lanes, the first one in the lowest bits), or a lane, such as ``a0``. An operand that
        is not said is the port of its name. Behind it, in parentheses, may stand what the design calls it.
    scale_format, scale_block: format of the block scales, and lanes that share one (None and 0: none).
    constants: inputs that have one value: ``NAME=VALUE``, negative in two's complement.
    cycles: clock edges from the inputs to the result.
    cut: registers that are ports of their own: what such a register holds is an input of its name, and what
        it takes at the clock edge is an output of its name.
    hold: the inputs stay for all cycles (else they are free after the first one, so that a result of several
        inputs is refused).
    undriven: a result whose graph has bits that nothing drives, or don't-cares, is ``refused``; or they are
        ``zero``, which is the same function where it was proved that the result does not depend on them.
    """

    kind: ClassVar[str] = "circuit"
    title: ClassVar[str] = "a circuit"
    btor2: str
    ports: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    cycles: int = 0
    cut: tuple[str, ...] = ()
    hold: bool = False
    undriven: str = choice("refused", "zero")
    scale_format: Format | None = None
    scale_block: int = 0

    @property
    def scales(self) -> int:
        """Return how many block scales a has, and b."""
        return self.k // self.scale_block if self.scale_block else 0

    def validate(self) -> None:
        """Check the text, ports and constants, and that the result depends on nothing else."""
        for name in ("ports", "constants", "cut"):
            value = getattr(self, name)
            texts = isinstance(value, (tuple, list)) and all(isinstance(text, str) for text in value)
            self.check(name, texts, "a list of texts")
            object.__setattr__(self, name, tuple(value))
        self.check("cycles", 0 <= self.cycles <= _MOST_CYCLES, f"from 0 to {_MOST_CYCLES}")
        block, scaled = self.scale_block, self.scale_format is not None
        divides = 1 <= block <= self.k and self.k % block == 0 if scaled else block == 0
        self.check(
            "scale_block", divides, f"a divisor of k = {self.k}" if scaled else "0 without scale_format"
        )
        width = self._output.width
        self.check("d_format", width == self.d_format.width, f"of {width} bits, as the output is")

    def result(self, x: Terms, stages: list[Stage]) -> Term:
        """Return the design's output."""
        own = (var(name, fmt.width) for name, fmt in self.input_formats.items())
        (output,) = substitute([self._output], dict(zip(own, x.flat(), strict=True)))
        stages.append(Stage(None, Kind.RESULT, None, self.d_format, output))
        return output

    def as_json(self) -> dict[str, Any]:
        """Return the parameters as plain values, with a digest of the text."""
        return super().as_json() | {"btor2": f"sha256:{hashlib.sha256(self.btor2.encode()).hexdigest()}"}

    @cached_property
    def design(self) -> Btor2File:
        """Return what the text says. Raises :class:`.TcsmtError`."""
        return read_btor2(self.btor2, "btor2").cut(self.cut)

    @cached_property
    def _ports(self) -> list[Port]:
        """Return every port, with those that have their operand's name."""
        ports = [Port.read(text) for text in self.ports]
        names = {port.operand for port in ports}
        operands = [*"abcd", *(SCALES if self.scale_format is not None else ())]
        unknown = [port for port in ports if port.operand not in operands]
        if unknown:
            raise TcsmtError(f"port {unknown[0].text!r}: the unit has no block scales")
        return ports + [Port(name, None, name, None, name) for name in operands if name not in names]

    @cached_property
    def _output(self) -> Term:
        """Return the result, in terms of the input variables."""
        word, port, free = self._free_output
        output = self._undriven_as_said(word, free)
        bits = _undriven(free)
        allowed = {var(name, fmt.width) for name, fmt in self.input_formats.items()}
        others = [v for v in variables([output]) if v not in allowed]
        if others:
            raise self._depends(port, others, free, only_undriven=set(others) <= bits)
        return output

    def wire(self, name: str) -> Term:
        """Return a word within the design, by its name, in terms of the input variables and of what is free.

        A lemma about a design can be stated of such words. Raises :class:`.UnknownName`.
        """
        named = self.design.named
        if name not in named:
            raise UnknownName("wire", name, named)
        word, free = self.design.after(named[name], self.cycles, self._given)
        return self._undriven_as_said(word, free)

    def _undriven_as_said(self, word: Term, free: Mapping[Term, tuple[Btor2Line, int]]) -> Term:
        """Return a word with zeros for the bits that nothing drives, where ``undriven`` says so."""
        if self.undriven != "zero":
            return word
        return substitute([word], {bit: const(0, bit.width) for bit in _undriven(free)})[0]

    @property
    def with_undriven_free(self) -> Term:
        """Return the result, in terms of the input variables, undriven bits and don't-cares."""
        return self._free_output[0]

    @cached_property
    def _free_output(self) -> tuple[Term, Port, Mapping[Term, tuple[Btor2Line, int]]]:
        """Return the result with free words in it, its port, and what they are."""
        design, width = self.design, self.d_format.width
        (port, *more) = [port for port in self._ports if port.operand == "d"]
        if more:
            raise TcsmtError(f"port {more[0].text!r}: d is given twice")
        _known("output", port, design.outputs)
        high, low = port.range_in(design.width_of(port.name))
        _fits(port, high - low + 1, width, f"the result is {self.d_format.name}")
        word, free = design.after(design.outputs[port.name], self.cycles, self._given)
        return word[high:low], port, free

    def _depends(
        self,
        port: Port,
        others: list[Term],
        free: Mapping[Term, tuple[Btor2Line, int]],
        *,
        only_undriven: bool,
    ) -> TcsmtError:
        """Return the error of a result that depends on what nothing says."""
        lines: list[str] = []
        hints: dict[str, None] = {}
        for v in others[:_SHOWN]:
            if v not in free:
                lines.append(f"the bits {v.data} of an input")
                hints["every bit of an input needs an operand or a constant"] = None
                continue
            node, cycle = free[v]
            where = self.design.place(node)
            if node.op == "state":
                lines.append(f"what the register {node.name} holds at first ({where})".replace("  ", " "))
                hints[self._cycles_hint(port)] = None
                hints["--cut NAME makes a register a port"] = None
            elif not node.name:
                lines.append(f"an undriven bit or a don't-care ({where})")
            else:
                lines.append(
                    f"the input {node.name}" + (f" in cycle {cycle}" if self.cycles else "") + f" ({where})"
                )
                later = cycle and node.name in self._words
                hints["cycles is too large, or hold is needed" if later else "give it a constant"] = None
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        hint = f"; {'; '.join(hints)}" if hints else ""
        kind = UndrivenBits if only_undriven else TcsmtError
        return kind(f"{port.name} depends on {', '.join(lines)}{more}{hint}")

    def _cycles_hint(self, port: Port) -> str:
        """Return how many cycles would do."""
        for cycles in range(self.cycles + 1, self.cycles + _LOOKED):
            word, free = self.design.after(self.design.outputs[port.name], cycles, self._given)
            if all(free[v][0].op != "state" for v in variables([word]) if v in free):
                return f"cycles = {cycles} would do"
        return f"no number of cycles up to {self.cycles + _LOOKED - 1} changes that"

    def _given(self, cycle: int, node: Btor2Line) -> Term | None:
        """Return what an input is in a cycle; None: anything."""
        if node.name in self._constants:
            return self._constants[node.name]
        return self._words.get(node.name) if cycle == 0 or self.hold else None

    @property
    def port_map(self) -> dict[str, str]:
        """Return which bits of which port each operand's word and the result are, for people."""
        found: dict[str, str] = {}
        for port in self._ports:
            if port.operand == "d":
                width = self.design.width_of(port.name)
            else:
                width = self.design.inputs[port.name].width
            names, fmt = self._lanes_of(port)
            _, low = port.range_in(width)
            for place, name in enumerate(names):
                first = low + place * fmt.width
                found[name] = _bits_said(port, first + fmt.width - 1, first, width)
        return found

    @cached_property
    def _constants(self) -> dict[str, Term]:
        constants: dict[str, Term] = {}
        for name, number in read_constants(self.constants).items():
            inputs = self.design.inputs
            if name not in inputs:
                raise UnknownName("input", name, inputs)
            width = inputs[name].width
            if not -(1 << width - 1) <= number < 1 << width:
                raise TcsmtError(f"constant {name}={number}: {name} has {width} bits")
            constants[name] = const(number, width)
        return constants

    @cached_property
    def _words(self) -> dict[str, Term]:
        """Return the word of every input that has operands in it; bits that have none are free."""
        parts: dict[str, list[tuple[int, Port, Term]]] = {}
        seen: set[str] = set()
        for port in self._ports:
            if port.operand == "d":
                continue
            inputs = self.design.inputs
            _known("input", port, inputs)
            high, low = port.range_in(inputs[port.name].width)
            names, fmt = self._lanes_of(port)
            lanes_said = f"{len(names)} lanes of {fmt.name}" if len(names) > 1 else fmt.name
            _fits(port, high - low + 1, len(names) * fmt.width, f"{port.operand} is {lanes_said}")
            for place, name in enumerate(names):
                if name not in self.input_formats:
                    last = self.operand_lengths[port.operand] - 1
                    raise TcsmtError(f"port {port.text!r}: the lanes are 0 to {last}")
                if name in seen:
                    raise TcsmtError(f"port {port.text!r}: {name} is given twice")
                seen.add(name)
                parts.setdefault(port.name, []).append((low + place * fmt.width, port, var(name, fmt.width)))
        missing = [name for name in self.input_formats if name not in seen]
        if missing:
            raise TcsmtError(f"no port for {', '.join(missing[:_SHOWN])}")
        return {name: self._joined(name, pieces) for name, pieces in parts.items()}

    def _lanes_of(self, port: Port) -> tuple[list[str], AnyFormat]:
        """Return the names of the words that a port has, and their format."""
        if port.operand == "d":
            return ["d"], self.d_format
        fmt = self.operand_formats.named[port.operand]
        if port.operand == "c":
            return ["c"], fmt
        lanes = range(self.operand_lengths[port.operand]) if port.lane is None else [port.lane]
        return [f"{port.operand.replace('scale_', 's')}{lane}" for lane in lanes], fmt

    def _joined(self, name: str, pieces: list[tuple[int, Port, Term]]) -> Term:
        if name in self._constants:
            raise TcsmtError(f"{name} is given as a port and as a constant")
        width, end = self.design.inputs[name].width, 0
        parts: list[Term] = []
        for low, port, word in sorted(pieces, key=itemgetter(0)):
            if low < end:
                raise TcsmtError(f"port {port.text!r}: bits of {name} are given twice")
            parts += [_rest(name, low - 1, end)] if low > end else []
            parts.append(word)
            end = low + word.width
        parts += [_rest(name, width - 1, end)] if end < width else []
        whole = parts[0]
        for part in parts[1:]:
            whole = part.concat(whole)
        return whole


KINDS[Circuit.kind] = Circuit


def read_constants(texts: Sequence[str]) -> dict[str, int]:
    """Return numbers by name, of texts such as ``mode=0x3``. Raises :class:`.TcsmtError`."""
    constants: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not re.fullmatch(r"-?(0|[1-9][0-9]{0,3999}|0x[0-9A-Fa-f]+|0o[0-7]+|0b[01]+)", value):
            raise TcsmtError(f"constant {text!r:.80}: expected NAME=VALUE, VALUE a number such as 0x3c")
        if name in constants:
            raise TcsmtError(f"constant {text!r:.80}: {name!r:.80} is given twice")
        constants[name] = int(value, 0)
    return constants


#: Of free bits, how many an error names.
_SHOWN = 3
_MOST_CYCLES = 1024
#: How many more cycles are tried, to say how many would do.
_LOOKED = 65


def _undriven(free: Mapping[Term, tuple[Btor2Line, int]]) -> set[Term]:
    """Return those free words that nothing drives."""
    return {v for v, (node, _) in free.items() if not node.name and node.op == "input"}


def _bits_said(port: Port, high: int, low: int, width: int) -> str:
    """Return bits of a port by the name that the design has for them, and by their places in its vector."""
    if port.source:
        return f"{port.source} (bits {high}:{low})"
    return port.name if (high, low) == (width - 1, 0) else f"{port.name}[{high}:{low}]"


def _rest(name: str, high: int, low: int) -> Term:
    return var(f"{name}[{high}:{low}]", high - low + 1)


def _known(kind: str, port: Port, names: Mapping[str, object]) -> None:
    if port.name not in names:
        hint = f"--port {port.operand}=NAME"
        if port.text == port.name:
            raise TcsmtError(
                f"no port for {port.operand}, and no {kind} of that name: give {hint};"
                f" {kind}s: {', '.join(names)}"
            )
        raise UnknownName(kind, port.name, names)


def _fits(port: Port, bits: int, needed: int, what: str) -> None:
    if bits != needed:
        raise TcsmtError(f"port {port.text!r}: {bits} bits, but {what}: {needed} bits")
