"""The proof that nothing undefined can happen in a function of C: two solvers refute all its faults.

Faults of one function share most of their terms, so many are asked for at once; where that has no answer,
each half is asked for by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tcsmt.interop.c_reader.llvm_execution import Fault
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, any_of, operands_first, substitute, var
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Verdict
from tcsmt.support.errors import TcsmtError
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
