"""Which configurations of a Triton kernel give the same bits: ``tcsmt.triton.configs``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tcsmt.interface.api.kernel_read import row_of
from tcsmt.interface.api.kernel_witness import Configuration, ConfigWitness, SameBits
from tcsmt.interop.triton.capture import KernelFunction, NotLaunched, capture, file_of, name_of
from tcsmt.interop.triton.launches import KernelLaunch
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted

#: Characters of a line that shows a program.
_WIDTH = 110


@dataclass(frozen=True)
class ConfigPair:
    """Two classes of configurations, by their numbers. witness: None where nothing is known; why: then."""

    classes: tuple[int, int]
    witness: ConfigWitness | None
    why: str = ""


@dataclass(frozen=True, repr=False)
class KernelConfigs(Result):
    """The configurations of a kernel in classes of equal bits: see ``classes`` and ``equal``, or print it.

    elements: of the result, by their numbers, which the classes are about. programs: of each class, one text
    for each program in it. pairs: of classes. failed: configurations that Triton does
    not compile for this GPU, and why. refused: those without a program here, and why.
    """

    function: str
    kernel: str
    target: str
    result: str
    k: int
    elements: tuple[int, ...]
    classes: tuple[tuple[str, ...], ...]
    programs: tuple[tuple[tuple[str, ...], ...], ...]
    pairs: tuple[ConfigPair, ...]
    failed: Mapping[str, str]
    refused: Mapping[str, str]

    @property
    def equal(self) -> bool | None:
        """True: all configurations are proved to give the same bits; False: two differ; None: unknown."""
        if any(pair.witness for pair in self.pairs):
            return False
        return None if self.pairs or self.refused else True

    @property
    def exit_code(self) -> Exit:
        """0: all give the same bits (proved); 1: two differ; 3: unknown."""
        return Exit.of(self.equal)

    @property
    def _title(self) -> str:
        return f"{self.kernel} on {self.target}: {counted(len(self.classes), 'class', 'classes')}"

    def _facts(self) -> dict[str, Any]:
        return {
            "function": self.function, "kernel": self.kernel, "target": self.target, "k": self.k,
            "result": self.result, "elements": list(self.elements), "equal": self.equal,
            "classes": [
                {"configurations": list(names), "programs": [list(lines) for lines in programs]}
                for names, programs in zip(self.classes, self.programs, strict=True)
            ],
            "pairs": [
                {"classes": list(pair.classes)}
                | ({"unknown": pair.why} if pair.witness is None else _witness_json(pair.witness))
                for pair in self.pairs
            ],
            "failed": dict(self.failed), "refused": dict(self.refused),
        }  # fmt: skip

    def _lines(self) -> Iterator[str]:
        elements = ", ".join(map(str, self.elements))
        count = counted(sum(map(len, self.classes)) + len(self.failed) + len(self.refused), "configuration")
        yield f"{self.kernel} for {self.target}: {count}; K = {self.k}, elements {elements} of {self.result}"
        for number, (names, programs) in enumerate(zip(self.classes, self.programs, strict=True), 1):
            yield f"class {number}: {counted(len(names), 'configuration')}"
            yield from (f"  {name}" for name in names)
            several = "" if len(programs) == 1 else f"  {len(programs)} programs, proved equal:"
            yield from [several] * bool(several)
            for lines in programs:
                shown = f"    {lines[0].removeprefix('# ')}: {lines[-1]}"
                yield shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 2]} …"
        for pair in self.pairs:
            x, y = (n + 1 for n in pair.classes)
            if pair.witness is None:
                yield f"classes {x} and {y}: unknown: {pair.why}"
            else:
                left, right = (f"{word:#x}" for word in pair.witness.results)
                yield f"classes {x} and {y} differ: both compiled kernels were run on a row of A and a column"
                yield f"  of B, and give {left} and {right} for element {pair.witness.element}"
        for name, why in self.refused.items():
            yield f"not read: {name}: {why}"
        for name, why in self.failed.items():
            yield f"does not compile: {name}: {why}"
        if self.equal:
            yield "all configurations give the same bits for these elements: proved"


def _witness_json(witness: ConfigWitness) -> dict[str, Any]:
    inputs = {name: [f"{word:#x}" for word in words] for name, words in witness.inputs.items()}
    results = [f"{word:#x}" for word in witness.results]
    return {"witness": {"element": witness.element, "inputs": inputs, "results": results}}


@ieee_floats
def configs(
    function: KernelFunction,
    target: str,
    settings: Mapping[str, Sequence[Any]] | None = None,
    domain: Domain | None = None,
    *,
    launch: int | None = None,
    elements: Sequence[int] = (),
    options: SolvingOptions = SolvingOptions(timeout=60.0, confirm=True),
    progress: ProgressCallback = no_progress,
) -> KernelConfigs:
    """Return which configurations of a Triton kernel give the same bits for every input of a domain.

    The function runs once for each configuration of its autotuned kernel and each choice of settings; no GPU
    is needed. An element's program is read from each compiled kernel. Configurations with one program are
    equal; of others, random rows are tried, then a solver is asked. A witness is put through both compiled
    kernels, which must store what their programs say. What is proved is about the elements that are read.

    Args:
        function: A function without arguments that launches a kernel on CPU tensors, or FILE.py:FUNCTION.
        target: The GPU or architecture of NVIDIA's to compile for.
        settings: Values of a constant of the kernel, of num_warps or num_stages, or of the function's own
            parameter, by its name; all combinations are configurations.
        domain: Of the inputs; None: all words.
        launch: Which launch of the function, from 0. [default: the only one]
        elements: Numbers of elements of the result. [default: the first and the last one]
        options: Of solvers; a proof is confirmed where they leave it open.
        progress: Called with how many configurations are read.

    Raises :class:`tcsmt.TcsmtError` for what the function raises, and where no configuration can be read.
    """
    launches, failed, refused = _captured(function, target, settings or {}, launch)
    kernels = {one.kernel for one in launches.values()}
    if len(kernels) != 1:
        told = "; ".join(f"{name}: {why}" for name, why in (failed | refused).items())
        raise TcsmtError(
            f"one kernel is expected, but there are {len(kernels)}: {', '.join(sorted(kernels)) or told}"
        )
    chosen = tuple(elements) or _first_and_last(next(iter(launches.values())))
    classes: list[list[Configuration]] = []
    pairs: list[ConfigPair] = []
    question = SameBits(domain or Domain(finite=False), options)
    for number, (name, captured) in enumerate(launches.items()):
        progress(number, len(launches), "configurations")
        try:
            reads, blocks = zip(*captured.read(chosen), strict=True)
            rows = tuple(row_of(read, file_of(function)) for read in reads)
        except TcsmtError as error:
            refused[name] = str(error)
            continue
        one, against = Configuration(name, captured, reads, blocks, rows), []
        for place, members in enumerate(classes):
            answer = question.answer(members[0], one)
            if answer is None:
                members.append(one)
                break
            witness, why = answer
            against.append(ConfigPair((place, len(classes)), witness, why))
        else:
            classes.append([one])
            pairs += against
    if not classes:
        raise TcsmtError(
            f"no configuration can be read; {'; '.join(f'{n}: {why}' for n, why in refused.items())}"
        )
    first = classes[0][0].reads[0]
    return KernelConfigs(
        name_of(function), first.kernel, first.target, first.result, first.text.along["A"].count, chosen,
        tuple(tuple(one.name for one in members) for members in classes),
        tuple(tuple(dict.fromkeys(_text(one) for one in members)) for members in classes),
        tuple(pairs), failed, refused,
    )  # fmt: skip


def _captured(
    function: KernelFunction, target: str, settings: Mapping[str, Sequence[Any]], number: int | None
) -> tuple[dict[str, KernelLaunch], dict[str, str], dict[str, str]]:
    """Return each configuration's launch by its name; why others do not compile, or are not launched here."""
    found: list[tuple[Mapping[str, Any], KernelLaunch | NotLaunched]] = []
    for values in product(*settings.values()):
        given = dict(zip(settings, values, strict=True))
        chosen, count = 0, 1
        while chosen < count:
            try:
                captured = capture(function, target, chosen=chosen, settings=given)
                count, launch = captured.configurations, captured.launch(number)
                found.append((given | dict(launch.constants), launch))
            except NotLaunched as error:
                count = error.configurations
                found.append(({**error.config, **given}, error))
            chosen += 1
    keys = dict.fromkeys(key for constants, _ in found for key in constants)
    varying = [key for key in keys if len({repr(constants.get(key)) for constants, _ in found}) > 1]
    launches: dict[str, KernelLaunch] = {}
    failed, refused = dict[str, str](), dict[str, str]()
    for constants, what in found:
        name = " ".join(f"{key}={constants[key]}" for key in varying if key in constants) or "the only one"
        if isinstance(what, KernelLaunch):
            launches[name] = what
        else:
            (refused if what.compiled else failed)[name] = str(what)
    return launches, failed, refused


def _first_and_last(launch: KernelLaunch) -> tuple[int, ...]:
    ((read, _),) = launch.read()
    (result,) = (one for one in launch.arguments if one.is_pointer and one.pointer == read.result)
    return tuple(sorted({read.element, result.extent // result.size - 1}))


def _text(one: Configuration) -> tuple[str, ...]:
    text = one.reads[0].text
    return (*(f"# {short}: {unit}" for short, unit in text.units.items()), *text.lines)


def assert_same_bits(
    function: KernelFunction, target: str, settings: Mapping[str, Sequence[Any]] | None = None, **more: Any
) -> None:
    """Raise AssertionError unless all configurations of a Triton kernel are proved to give the same bits.

    The arguments are those of :func:`configs`; the message has the classes, and on what they differ.
    """
    __tracebackhide__ = True  # pytest shows the test's own line, and the message
    found = configs(function, target, settings, **more)
    if not found.equal:
        raise AssertionError(str(found))
