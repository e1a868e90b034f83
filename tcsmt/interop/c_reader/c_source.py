"""C to BTOR2: a function of integer code, by way of LLVM IR from the machine's clang.

Nothing undefined may happen in the function: two solvers refute all its faults, which is the proof. Faults of
one function share most of their terms, so many are asked for at once; where that has no answer, each half is
asked for by itself.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tcsmt.interop.c_reader.c_order import check_order
from tcsmt.interop.c_reader.c_pointers import check_pointers
from tcsmt.interop.c_reader.c_tree import read_tree
from tcsmt.interop.c_reader.exact_widths import exact_widths
from tcsmt.interop.c_reader.llvm_execution import Execution, Fault
from tcsmt.interop.c_reader.llvm_memory import Memory, MemoryCell, MemoryPlace, Object
from tcsmt.interop.c_reader.llvm_module import Function, Int, Module, Pointer
from tcsmt.interop.c_reader.llvm_reader import read_llvm
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, any_of, const, expand, operands_first, substitute, var
from tcsmt.language.write.btor2 import Btor2
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat
from tcsmt.matrix_units.models.circuit import SCALES, Port
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Verdict
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.escaping import file_operand
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.text import counted


@dataclass
class ReadingTime:
    """A limit for the whole of a reading, and what it is at.

    file: that is read. seconds: in all. progress: is told of each part.
    """

    file: object
    seconds: float
    progress: ProgressCallback = no_progress
    _part: str = "it was not begun"
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def at(self, part: str, done: int = 0, count: int = 0) -> None:
        """Go on with a part of the reading: so many of so many are done.

        Raises :class:`.TcsmtError`, which names the part before this one, where no time is left.
        """
        self.remaining()
        self._part = f"{part} ({done} of {count} done)" if count else part
        self.progress(done, count, part)

    def remaining(self) -> float:
        """Return the seconds that are left. Raises :class:`.TcsmtError` where there are none."""
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise TcsmtError(f"{self.file}: not read in {self.seconds:g} s; it was at: {self._part}")
        return remaining


#: Seconds for several faults at once, and for one where sums and products may be anything.
_SHORT = 5.0
#: Sums and products of so many bits or more may be anything then.
_WIDE = 16
#: Inputs that an error shows.
_INPUTS = 8


def refute(faults: Sequence[Fault], options: SolvingOptions, clock: ReadingTime) -> None:
    """Raises :class:`.TcsmtError`, with file and line, where a fault can happen, or may."""
    distinct = list({fault.happens: fault for fault in faults}.values())
    waiting, refuted = [distinct] if distinct else [], 0
    while waiting:
        group = waiting.pop()
        first = f"{group[0].source}: {group[0].what}"
        clock.at(f"whether it can happen: {first}", refuted, len(distinct))
        alone = len(group) == 1
        verdict = _verdict(group, options if alone else replace(options, timeout=_SHORT), clock)
        if isinstance(verdict, Equivalent):
            refuted += len(group)
        elif isinstance(verdict, Distinguished):
            raise _happens(group, verdict.values)
        elif alone:
            reason = getattr(verdict, "reason", "")
            raise TcsmtError(f"{first}: not decided whether it can happen: {reason}")
        else:
            half = len(group) // 2
            waiting += [group[half:], group[:half]]
    clock.at(f"{counted(refuted, 'way')} of going wrong excluded", refuted, len(distinct))


def _verdict(group: Sequence[Fault], options: SolvingOptions, clock: ReadingTime) -> Verdict:
    """Return whether one of them can happen; first with more freedom than there is, which takes less to
    refute.
    """
    happens = any_of(fault.happens for fault in group)
    for goal in _freed(happens):
        verdict = _solving(replace(options, timeout=_SHORT), clock).verdict_on(goal)
        if isinstance(verdict, Equivalent):
            return verdict
    return _solving(options, clock).verdict_on(happens)


def _solving(options: SolvingOptions, clock: ReadingTime) -> Solving:
    return Solving(replace(options, timeout=min(options.timeout, clock.remaining()), confirm=True))


def _happens(group: Sequence[Fault], values: Mapping[str, int]) -> TcsmtError:
    """Return the error of the first fault that happens at an input, with the words of the input that
    matter.
    """
    for fault in group:
        inputs = [node for node in operands_first([fault.happens]) if node.op == "var"]
        inputs_at = {str(variable.data): values.get(str(variable.data), 0) for variable in inputs}
        if evaluate([fault.happens], inputs_at) == [1]:
            shown = [f"{v.data} = 0x{inputs_at[str(v.data)]:0{(v.width + 3) // 4}x}" for v in inputs]
            words = ", ".join([*shown[:_INPUTS], "..."] if len(shown) > _INPUTS else shown)
            return TcsmtError(f"{fault.source}: {fault.what}" + (f" at {words}" if words else ""))
    raise AssertionError("an input at which none of the faults happens")


def _freed(happens: Term) -> Iterator[Term]:
    """Yield the condition, sums and products free, then products alone: if impossible then, it is now."""
    nodes = [node for node in operands_first([happens]) if node.width >= _WIDE and node.op in ("add", "mul")]
    for kinds in (("add", "mul"), ("mul",)):
        free = {node: var(f"free {n}", node.width) for n, node in enumerate(nodes) if node.op in kinds}
        if free:
            yield substitute([happens], free)[0]


#: As the front end writes it: no pass of LLVM may use that something undefined does not happen. With -O1 it
#: says where variables begin and end; what is asked to trap is what LLVM defines and C does not.
_OPTIONS = (
    "-O1", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-g", "-femit-all-decls",
    "-fsanitize=shift-base,bool", "-fsanitize-trap=all", "-S", "-emit-llvm", "-o", "-",
)  # fmt: skip
#: The syntax tree alone.
_TREE = ("-fsyntax-only", "-Xclang", "-ast-dump=json")
#: Undefined constants, which are computed before anything is written, and calls of what has no declaration.
_ERRORS = (
    "integer-overflow", "shift-count-overflow", "shift-count-negative", "shift-negative-value",
    "shift-overflow", "shift-sign-overflow", "division-by-zero", "array-bounds", "address-of-packed-member",
    "implicit-function-declaration", "incompatible-pointer-types", "int-conversion", "return-stack-address",
    "incompatible-library-redeclaration",
)  # fmt: skip
_WARNINGS = ("-Wno-everything", *(f"-Werror={name}" for name in _ERRORS))
#: For the question whether a loop can go on.
_LOOP_SECONDS = 5.0
#: Bytes of what a pointer leads to that is no operand.
_OTHER = 4096


@functools.cache
def available() -> bool:
    """Return whether clang is installed."""
    return shutil.which("clang") is not None


@dataclass(frozen=True, kw_only=True)
class CFunction:
    """A function in a file of C, and what its parameters are.

    name: "": the only one that other files can call; of several, or of none, the only one whose parameters
    are the operands. ports: as :class:`.Circuit` has them; a parameter is a port, and so is the result, ``d``
    or what a parameter points to. formats: of a, b, c, d and ``scale``, of block scales. k: products.
    scales: block scales of a.
    constants: parameters that have one value. include, define: for the preprocessor.
    timeout: seconds for all of the reading. query: seconds for each question to a solver. progress: is told
    what the reading is at.
    """

    file: Path
    name: str = ""
    ports: Sequence[Port] = ()
    formats: Mapping[str, AnyFormat] = field(default_factory=dict)
    k: int | None = None
    scales: int = 0
    constants: Mapping[str, int] = field(default_factory=dict)
    include: Sequence[Path] = ()
    define: Sequence[str] = ()
    timeout: float = 300.0
    query: float = 60.0
    progress: ProgressCallback = no_progress

    @property
    def btor2(self) -> str:
        """Return what it computes: an input for each parameter, and an output.

        Raises :class:`.TcsmtError`, with file and line, for what terms cannot say, and where a function has
        no meaning in C at some input.
        """
        clock = ReadingTime(self.file, self.timeout, self.progress)
        clock.at("clang's code")
        module = read_llvm(self._compiled(_OPTIONS, clock))
        function = self._chosen(module)
        if module.uneven:
            raise TcsmtError(
                f"{module.uneven[0]}: a union whose members have different sizes: C does not say what a short"
                " one leaves of the others"
            )
        clock.at("clang's syntax tree")
        tree = read_tree(self._compiled(_TREE, clock))
        check_order(tree, function.name)
        check_pointers(tree, function.name)
        return _Reading(self, module, function, clock).btor2()

    def _compiled(self, options: Sequence[str], clock: ReadingTime) -> str:
        if not available():
            raise TcsmtError(f"{self.file}: C is read by clang, which is not installed")
        if not self.file.is_file():
            raise TcsmtError(f"{self.file}: no such file")
        folders = [f"-I{folder}" for folder in self.include]
        macros = [f"-D{macro}" for macro in self.define]
        try:
            done = subprocess.run(
                ["clang", *folders, *macros, *_WARNINGS, *options, "-x", "c", file_operand(self.file)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=clock.remaining(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TcsmtError(f"{self.file}: clang has not compiled it in {self.timeout:g} s") from None
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            raise TcsmtError(f"clang: {(errors or done.stderr.splitlines() or ['no answer'])[0].strip()}")
        return done.stdout

    def _chosen(self, module: Module) -> Function:
        if self.name:
            if self.name not in module.functions:
                raise UnknownName("function", self.name, module.functions)
            return module.functions[self.name]
        functions = module.functions.values()
        visible = [function for function in functions if not function.local] or list(functions)
        fitting = [function for function in visible if self._has_ports(function)]
        for candidates in (visible, fitting):
            if len(candidates) == 1:
                return candidates[0]
        names = ", ".join(function.name for function in visible) or "none"
        raise TcsmtError(f"{self.file}: which function? Give --function NAME; there are: {names}")

    def _has_ports(self, function: Function) -> bool:
        """Return whether its parameters are the operands and nothing else."""
        operands = (*"abcd", *(SCALES if self.scales else ()))
        names = {*operands, *(port.name for port in self.ports), *self.constants}
        return {name for name, _ in function.parameters} <= names


class _Reading:
    """A function made into a circuit."""

    def __init__(self, source: CFunction, module: Module, function: Function, clock: ReadingTime) -> None:
        self.given = source
        self.function = function
        self.clock = clock
        self.execution = Execution(module, self._possible, clock.at)
        self.inputs: list[tuple[str, list[Term]]] = []
        self.results: dict[str, tuple[Object, int]] = {}
        self.memory = Memory()

    def _possible(self, bit: Term) -> bool:
        solving = Solving(SolvingOptions(timeout=min(_LOOP_SECONDS, self.clock.remaining())))
        return solving.ask(bit).answer != "unsat"

    def btor2(self) -> str:
        arguments = [self._argument(name, kind) for name, kind in self.function.parameters]
        returned, memory = self.execution.run(self.function.name, arguments, self.memory)
        port = next((port for port in self.given.ports if port.operand == "d"), None)
        name = port.name if port is not None else "d"
        if name in self.results:
            place, size = self.results[name]
            cell = memory.load(place, 0, size)
            self.execution.faults.append(Fault(f"{name} is not written", self.function.source, ~cell.written))
            result = cell.value
        elif isinstance(returned, Term):
            result = returned
        else:
            pointers = [
                parameter for parameter, kind in self.function.parameters if isinstance(kind, Pointer)
            ]
            raise TcsmtError(
                f"{self.function.source}: {self.function.name} returns no number: give --port d=NAME with a"
                f" parameter that points to the result ({', '.join(pointers) or 'it has none'})"
            )
        if not isinstance(result, Term):
            raise TcsmtError(f"{self.function.source}: the result is an address")
        refute(self.execution.faults, SolvingOptions(timeout=self.given.query), self.clock)
        width = self.given.formats["d"].width
        if width < result.width and (port is None or port.bits is None):
            result = result[width - 1 : 0]
        return self._written(name, result)

    def _argument(self, name: str, kind: object) -> Term | MemoryPlace:
        ports = [port for port in self.given.ports if port.name == name]
        operands = {port.operand for port in self.given.ports}
        if not ports and name in (*"abcd", *(SCALES if self.given.scales else ())) and name not in operands:
            ports = [Port(name, None, name, None, name)]
        if isinstance(kind, Pointer):
            return self._pointer(name, ports)
        if not isinstance(kind, Int):
            raise TcsmtError(
                f"{self.function.source}: the parameter {name} is neither a number nor a pointer"
            )
        if name in self.given.constants:
            self.inputs.append((name, [var(name, kind.width)]))
            return const(self.given.constants[name], kind.width)
        if len(ports) == 1 and ports[0].operand != "d" and ports[0].bits is None:
            port = ports[0]
            fmt = self._format(port)
            lanes = 1 if port.lane is not None or port.operand == "c" else self._known_length(port) or 1
            width = lanes * fmt.width
            if lanes == 1 and width < kind.width:  # an integer promotion
                word = var(name, width)
                self.inputs.append((name, [word]))
                return _extended(word, fmt, kind.width)
        word = var(name, kind.width)
        self.inputs.append((name, [word]))
        return word

    def _pointer(self, name: str, ports: Sequence[Port]) -> MemoryPlace:
        size = self.function.pointees.get(name, 0)
        if not ports:
            return MemoryPlace(Object(name, _OTHER))
        port = ports[0]
        fmt = self._format(port)
        if len(ports) > 1 or port.lane is not None or (port.bits is not None and port.operand != "d"):
            raise TcsmtError(f"port {port.text!r}: {name} is a pointer: all lanes of one operand")
        if size not in (1, 2, 4, 8) or (port.operand != "d" and 8 * size < fmt.width):
            what = f"points to {size} bytes" if size else "points to something of an unknown size"
            raise TcsmtError(f"port {port.text!r}: {name} {what}, but {port.operand} is {fmt.name}")
        if port.operand == "d":
            place = Object(name, size)
            self.results[name] = place, size
            return MemoryPlace(place)
        lanes = 1 if port.operand == "c" else self._length(port)
        place = Object(name, lanes * size)
        words = [var(f"{name}[{lane}]", fmt.width) for lane in range(lanes)]
        for lane, word in enumerate(words):
            self.memory.store(place, lane * size, MemoryCell(_extended(word, fmt, 8 * size), size))
        self.inputs.append((name, words))
        return MemoryPlace(place)

    def _format(self, port: Port) -> AnyFormat:
        name = "scale" if port.operand in SCALES else port.operand
        if name not in self.given.formats:
            raise TcsmtError(f"port {port.text!r}: the unit has no block scales")
        return self.given.formats[name]

    def _known_length(self, port: Port) -> int | None:
        return self.given.scales if port.operand in SCALES else self.given.k

    def _length(self, port: Port) -> int:
        length = self._known_length(port)
        if length is None:
            raise TcsmtError(f"port {port.text!r}: how many products? Give --like UNIT, or k")
        return length

    def _written(self, name: str, result: Term) -> str:
        plain = exact_widths(*expand([result]))
        file = Btor2()
        for port, words in self.inputs:
            file.input(words, port)
        file.nodes(operands_first([plain]), {})
        file.output(plain, name)
        return "\n".join([*file.lines, ""])


def _extended(word: Term, fmt: AnyFormat, width: int) -> Term:
    """Return the word in a wider integer of C: a number for signed integers, else the bits."""
    signed = isinstance(fmt, IntegerFormat) and fmt.signed
    return word.sext(width) if signed else word.zext(width)
