"""Every input of a question, one after the other: for what solvers cannot decide and computers can count.

Inputs that the graph does not tell apart are run once. The words of a product's factors, say, reach the rest
of the graph only through some words computed from them: its sign, exponent and significand. Factors for which
all of these are the same give the same result whatever else is given, so one of them stands for all. This
follows from the graph alone; no solver is asked.

c, or the last input, is the innermost loop: its lowest bits are run in vectors. Truth values that
do not depend on them sort the other inputs; each sort that is frequent has code of its own, in which they are
constants.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.run import jit
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.sums import ArraySums, LlvmSums, LlvmWords, dependents
from tcsmt.language.terms import Term, all_of, const, operands_first, substitute, var, variables
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.engine.solvers.answer import Answer, digest
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import engine_digest
from tcsmt.support import extras
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.errors import InternalError, TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress

Array = np.ndarray[Any, np.dtype[Any]]

#: Records of enumerations in a file, by the digest of the script that says what is enumerated, and the code.
LAYOUT = Layout("enumerations")
#: Rows, at most: some hours of a core.
MOST = 1 << 41
#: Bits of variables whose words are looked at together, at most.
_WIDEST = 20
#: Bits of the innermost word, where its format does not say which of them are the fraction.
_INNER = 10
#: Points that are sorted together.
_PORTION = 1 << 18
#: Rows of a sort after which it has code of its own: compiling takes as long as some 50 million rows.
_FREQUENT = 1 << 25
#: Truth values that sort points, at most; those with the most uses count.
_BITS = 64
#: Points that NumPy computes, too, of those in a portion that have the same code.
_SAMPLE = 1


@dataclass(frozen=True)
class InputClasses:
    """Variables whose words come together. words: one of each class; shape (variables, classes)."""

    variables: tuple[Term, ...]
    words: Array

    @property
    def size(self) -> int:
        """Return how many classes there are."""
        return int(self.words.shape[1])


class Enumeration:
    """All inputs of a question's domain. Raises :class:`.TcsmtError` where they are too many.

    confirm: NumPy runs them all, too (some 3 million rows a second); else a sample of them.
    """

    def __init__(self, question: Question, *, confirm: bool = False) -> None:
        if not jit.available():
            raise TcsmtError(f"running all inputs needs llvmlite: {extras.install('fast')}")
        self.question, self.confirm = question, confirm
        put, self.inner = self._innermost()
        self._put = {var(name, question.formats[name].width): term for name, term in put.items()}
        outputs = [side.trace.output for side in question.sides]
        results = substitute([part for word in outputs for part in _parts(word)], self._put)
        # what is watched: a sum of results alone is the same for all permutations of them
        # so each result is mixed with the row that it belongs to before it is summed
        watched = [word ^ _sized(self.inner, word.width) for word in results]
        self.roots = [*substitute([question.goal], self._put), *watched]
        self._domain = substitute([question.domain], self._put)[0]
        self.groups = [self._group(together) for together in self._together()]
        self.points = math.prod(group.size for group in self.groups)
        self.rows = self.points << self.inner.width
        if self.rows > MOST:
            raise TcsmtError(
                f"{self.rows:.2g} rows are left of all inputs ({self.said}): at most {MOST:.2g} are run"
            )

    @property
    def said(self) -> str:
        """Return the classes of each group and the values of the innermost word, as a product."""
        sizes = [
            f"{group.size} of {' '.join(str(variable.data) for variable in group.variables)}"
            for group in self.groups
        ]
        return " x ".join([*sizes, f"{1 << self.inner.width} of {self.inner.data}"])

    @property
    def outer(self) -> list[Term]:
        """Return the variables of points."""
        return [variable for group in self.groups for variable in group.variables]

    @cached_property
    def script(self) -> str:
        """Return the digest of the script that has no solution where nothing is found."""
        return digest(script(self.question.goal))

    def run(
        self, kept: Checkpoint | None = None, jobs: int = 1, seen: ProgressCallback = no_progress
    ) -> Answer:
        """Return ``unsat`` for no input; ``sat`` with the first one that was found.

        kept: how far it has come, to go on from there. jobs: threads.
        """
        solver, version = jit.version().split()
        # which inputs a number of points stands for is the code's choice: other code begins anew
        checks = "all by NumPy, too" if self.confirm else ""
        key = f"{self.script} {version} {engine_digest()} {checks}".rstrip()
        before = kept.records.get(key, {}) if kept is not None else {}
        done, seconds = int(before.get("points", 0)), float(before.get("seconds", 0.0))
        start = time.perf_counter()
        portions = range(done, self.points, _PORTION)
        kernels = _Kernels(self.roots, self.outer, self.inner, self.confirm)
        with ThreadPoolExecutor(jobs) as pool:
            looked = (
                pool.map(lambda at: self._look(kernels, at), portions)
                if jobs > 1
                else (self._look(kernels, at) for at in portions)
            )
            for at, witness in zip(portions, looked, strict=True):
                spent = seconds + time.perf_counter() - start
                if witness is not None:
                    pool.shutdown(cancel_futures=True)
                    return Answer("sat", solver, version, seconds=spent, values=witness, script=self.script)
                done = min(at + _PORTION, self.points)
                if kept is not None:
                    kept.keep(key, {"what": self.said, "points": done, "of": self.points, "seconds": spent})
                if 100 * done // self.points > 100 * at // self.points:
                    seen(done, self.points, f"{done << self.inner.width:.3g} rows")
        confirmed = f"NumPy {np.__version__}" if self.confirm else ""
        spent = seconds + time.perf_counter() - start
        return Answer("unsat", solver, version, seconds=spent, script=self.script, confirmed=confirmed)

    def _look(self, kernels: _Kernels, start: int) -> dict[str, int] | None:
        """Look for an input among some points."""
        points = self._points(start, min(start + _PORTION, self.points))
        bad = kernels.holding(points)
        return None if bad is None else self._found(points[:, bad])

    def _points(self, start: int, stop: int) -> Array:
        """Return the words of points; the last group's change first."""
        quotient, columns = np.arange(start, stop), []
        for group in reversed(self.groups):
            quotient, place = np.divmod(quotient, group.size)
            columns.append(group.words[:, place])
        empty = np.empty((0, stop - start), dtype=np.uint32)
        return np.ascontiguousarray(np.concatenate([empty, *reversed(columns)]))

    def _found(self, point: Array) -> dict[str, int]:
        """Return the first input of a point at which the goal holds."""
        size = 1 << self.inner.width
        columns = {
            str(variable.data): np.full(size, word) for variable, word in zip(self.outer, point, strict=True)
        }
        columns[str(self.inner.data)] = np.arange(size, dtype=np.uint32)
        (holds,) = Program(self.roots[:1]).run(columns)
        row = int(np.flatnonzero(holds)[0])
        inputs = {name: words[row : row + 1] for name, words in columns.items()}
        words = Program(list(self._put.values())).run(inputs)
        values = {str(variable.data): int(word[0]) for variable, word in zip(self._put, words, strict=True)}
        return {
            name: values.get(name, int(inputs[name][0]) if name in inputs else 0)
            for name in self.question.formats
        }

    def _innermost(self) -> tuple[dict[str, Term], Term]:
        """Return what is put for the input that is run innermost, and the word that changes there."""
        used = {str(variable.data) for variable in variables([self.question.goal])}
        names = [name for name in self.question.formats if name in used]
        if not names:
            raise ValueError("a question whose goal is a constant")
        name = "c" if "c" in names else names[-1]
        fmt = self.question.formats[name]
        bits = fmt.fraction_bits if isinstance(fmt, Format) and fmt.fraction_bits else _INNER
        bits = min(bits, fmt.width, _WIDEST)
        low = var(f"{name}[{bits - 1}:0]", bits)
        if bits == fmt.width:
            return {name: low}, low
        return {name: var(f"{name}[{fmt.width - 1}:{bits}]", fmt.width - bits).concat(low)}, low

    def _together(self) -> Iterator[tuple[Term, ...]]:
        """Yield the variables, but for the innermost: both factors of a lane, where they are narrow
        enough.
        """
        free = [variable for variable in variables(self.roots) if variable is not self.inner]
        for variable in free:
            if variable.width > _WIDEST:
                raise TcsmtError(
                    f"{variable.data} has {variable.width} bits: inputs of up to {_WIDEST} bits are run"
                )

        def lane(variable: Term) -> str:
            name = str(variable.data)
            role = role_of(name)
            return name if role.factor is None else str(role.lane)

        for _, members in itertools.groupby(
            sorted(free, key=lambda variable: (lane(variable), variable.data)), lane
        ):
            group = tuple(members)
            if sum(variable.width for variable in group) <= _WIDEST:
                yield group
            else:
                yield from ((variable,) for variable in group)

    def _group(self, together: tuple[Term, ...]) -> InputClasses:
        """Return variables with one word of each class."""
        count = 1 << sum(variable.width for variable in together)
        columns: dict[Term, Array] = {}
        bits: Array = np.arange(count, dtype=np.uint32)
        for variable in reversed(together):
            columns[variable] = bits & ((1 << variable.width) - 1)
            bits = bits >> variable.width
        inside = self._possible(columns, count)
        words = np.array([columns[variable][inside] for variable in together], dtype=np.uint32)
        if not words.shape[1]:
            raise TcsmtError(f"the domain is empty: no input is {self.question.domain_text}")
        return InputClasses(together, words[:, _first_of_each(self._seen_of(together), together, words)])

    def _possible(self, columns: Mapping[Term, Array], count: int) -> Array:
        """Return for which words of variables the domain can hold, by what it says of them and of the
        innermost word alone.
        """
        given = set(columns) | {self.inner}
        # only parts about nothing else may exclude a word: another part might hold for some other input
        parts = self._domain.args if self._domain.op == "and" else (self._domain,)
        condition = all_of(part for part in parts if set(variables([part])) <= given)
        size = 1 << self.inner.width if self.inner in variables([condition]) else 1
        if condition.value == 1 or count * size > 1 << _WIDEST:
            return np.ones(count, dtype=bool)
        inputs = {str(variable.data): np.repeat(words, size) for variable, words in columns.items()}
        inputs[str(self.inner.data)] = np.tile(np.arange(size, dtype=np.uint32), count)
        (holds,) = Program([condition]).run(inputs)
        return np.asarray(holds.reshape(count, size).any(axis=1))

    def _seen_of(self, together: tuple[Term, ...]) -> list[Term]:
        """Return what the rest of the graph sees of some variables: words of them alone that other words
        need.
        """
        nodes = operands_first(self.roots)
        inside, outside = set(together), set()
        seen: dict[Term, None] = dict.fromkeys(root for root in self.roots if root in inside)
        for node in nodes:
            if node.op == "var":
                outside.update({node} - inside)
            elif any(arg in outside for arg in node.args):
                outside.add(node)
                seen.update(dict.fromkeys(arg for arg in node.args if arg in inside))
            elif any(arg in inside for arg in node.args):
                inside.add(node)
        seen.update(dict.fromkeys(root for root in self.roots if root in inside))
        return list(seen)


#: Sums at points.
_Code = Callable[[Array], Array]


def _nothing(points: Array) -> Array:
    """Return the code of points at which the goal is 0 whatever the innermost word is."""
    return np.zeros((0, points.shape[1]), dtype=np.uint32)


class _Kernels:
    """Code for points: for the most frequent sorts of them, code of its own."""

    def __init__(self, roots: Sequence[Term], outer: Sequence[Term], inner: Term, confirm: bool) -> None:
        self.roots, self.outer, self.inner, self.confirm = list(roots), list(outer), inner, confirm
        self.second = ArraySums(roots, outer, inner)
        self.lock = threading.Lock()
        self.seen: Counter[int] = Counter()
        self.own: dict[int, _Code] = {}
        self.bits = self._sorting()

    @cached_property
    def general(self) -> LlvmSums:
        """Return the sums for any point."""
        return LlvmSums(self.roots, self.outer, self.inner)

    @cached_property
    def key(self) -> LlvmWords:
        """Return a point's sort: its truth values, the first one in the lowest bit."""
        sort = self.bits[0]
        for bit in self.bits[1:]:
            sort = bit.concat(sort)
        return LlvmWords(sort, self.outer)

    def holding(self, points: Array) -> int | None:
        """Return the first point, in some order, with a row at which the goal holds. Raises InternalError."""
        run = [(places, code(points[:, places])) for places, code in self._sorted(points)]
        if not run:
            return None
        # one point of each sort at least: code of its own is compared before its zeros are believed
        again = slice(None) if self.confirm else slice(0, _SAMPLE)
        sample = np.concatenate([places[again] for places, _ in run])
        sums = np.concatenate([sums[:, again] for _, sums in run], axis=1)
        if (self.second(points[:, sample]) != sums).any():
            raise InternalError("LLVM and NumPy do not give the same sums")
        for places, sums in run:
            rows = np.flatnonzero(sums[0])
            if len(rows):
                return int(places[rows[0]])
        return None

    def _sorted(self, points: Array) -> Iterator[tuple[Array, _Code]]:
        """Yield points by the code that runs them, without those of which it is known that the goal is 0."""
        if not self.bits:
            yield np.arange(points.shape[1]), self.general
            return
        with self.lock:
            keys = self.key(points)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] ^ np.uint64(1)))
        rest = []
        for places in np.split(order, starts[1:]):
            code = self._code(int(keys[places[0]]), len(places) << self.inner.width)
            if code is None:
                rest.append(places)
            elif code is not _nothing:
                yield places, code
        if rest:
            with self.lock:
                general = self.general
            yield np.concatenate(rest), general

    def _code(self, key: int, rows: int) -> _Code | None:
        """Return a sort's own code, if it is frequent."""
        with self.lock:
            self.seen[key] += rows
            if key not in self.own and self.seen[key] > _FREQUENT:
                constants = {bit: const(key >> place & 1, 1) for place, bit in enumerate(self.bits)}
                roots = substitute(self.roots, constants)
                nothing = roots[0].value == 0  # all of them lie outside of the domain, say
                self.own[key] = _nothing if nothing else LlvmSums(roots, self.outer, self.inner)
            return self.own.get(key)

    def _sorting(self) -> list[Term]:
        """Return truth values of points alone that words of rows are made with, the most used ones."""
        nodes = operands_first(self.roots)
        within = dependents(nodes, self.inner)
        uses = Counter(
            arg
            for node in nodes
            if node in within
            for arg in node.args
            if arg.width == 1 and arg.value is None and arg not in within
        )
        of_the_goal = [arg for arg in self.roots[0].args if arg in uses]
        return list(dict.fromkeys([*of_the_goal, *(bit for bit, _ in uses.most_common())]))[:_BITS]


def _parts(word: Term) -> list[Term]:
    """Return a word in parts of up to 32 bits."""
    return [word[min(low + 32, word.width) - 1 : low] for low in range(0, word.width, 32)]


def _sized(word: Term, width: int) -> Term:
    """Return a word with zeros before it, or its lowest bits."""
    return word[width - 1 : 0] if width < word.width else word.zext(width)


def _first_of_each(seen: Sequence[Term], together: Sequence[Term], words: Array) -> Array:
    """Return the places of the first words of each class: those for which all that is seen is the same."""
    if not seen:
        return np.zeros(1, dtype=np.intp)
    limbs = [limb for word in fitted(seen, lambda macro: False) for limb in word]
    values = Program(limbs).run(
        {str(word.data): column for word, column in zip(together, words, strict=True)}
    )
    table = np.array([value.astype(np.uint64) for value in values])
    _, first = np.unique(table, axis=1, return_index=True)
    return np.sort(first)
