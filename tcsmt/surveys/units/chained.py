"""One atlas over all vendors: units of the same formats over the same dot product, the smaller ones chained.

Units whose chains are the same graph are one class, without a proof. On each domain of the ladder
(:mod:`tcsmt.surveys.units.ladder`) inputs separate the classes first, by evaluation alone; the engine is
asked only about two classes that no known input separates. A witness becomes another input for all; a proof
joins the two classes there and on every domain that is included. So the questions are about as many as the
classes, not as their pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import lcm
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model, Operands, Trace
from tcsmt.matrix_units.models.base import Terms
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.witnesses import cost, shorten
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import covers
from tcsmt.prove.statements.finding import shown, witness_of
from tcsmt.prove.statements.shared_inputs import chain
from tcsmt.prove.statements.verdict import engine_digest
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.support.elimination import separating
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.surveys.units.atlas import types_of
from tcsmt.surveys.units.ladder import columns_in, ladder
from tcsmt.surveys.units.model_pairs import DistinctUnit, Pair, decide_cached

Array = np.ndarray[Any, np.dtype[Any]]
Values = Mapping[str, int]

#: Boundary inputs on each domain.
_ROWS = 4096


@dataclass(frozen=True)
class ChainedUnit:
    """Rows whose chains to the same K are the same graph. trace: of the chain, on the shared words."""

    rows: tuple[Row, ...]
    trace: Trace

    @property
    def name(self) -> str:
        """Its first row's name."""
        return self.rows[0].name

    @property
    def asked(self) -> DistinctUnit:
        """Return the unit that questions are about, for all of its class."""
        return DistinctUnit(self.rows[0].model, self.rows[:1])


@dataclass(frozen=True)
class ChainedGroup:
    """Classes that take and give the same words over k products; left_out: which rows are not, and why."""

    types: str
    k: int
    units: tuple[ChainedUnit, ...]
    left_out: tuple[tuple[Row, str], ...]

    @property
    def title(self) -> str:
        """Types and K."""
        return f"{self.types}, chained to K = {self.k}"

    @property
    def rows(self) -> list[Row]:
        """All rows, those that are left out last."""
        return [row for unit in self.units for row in unit.rows] + [row for row, _ in self.left_out]

    @cached_property
    def formats(self) -> Mapping[str, AnyFormat]:
        """Return the format of each input word, by name."""
        model = self.units[0].rows[0].model
        named = model.operand_formats.named
        lanes = {f"{side}{lane}": named[side] for side in "ab" for lane in range(self.k)}
        return {**lanes, "c": named["c"]}

    @cached_property
    def program(self) -> Program:
        """All classes at once, on arrays."""
        return Program([unit.trace.output for unit in self.units])

    def words(self, columns: Mapping[str, Array]) -> Array:
        """Return the result of each class (rows) on each input (columns).

        columns: words (inputs,) by name. Returns words (classes, inputs), unsigned integers.
        """
        return np.array(self.program.run(columns))

    def columns(self, inputs: Sequence[Values]) -> dict[str, Array]:
        """Inputs as arrays by name: words (inputs,), unsigned integers."""
        return {
            name: np.array([words[name] for words in inputs], dtype=storage(fmt.width))
            for name, fmt in self.formats.items()
        }


def chained_groups(rows: Iterable[Row], types: Sequence[str], k: int | None = None) -> list[ChainedGroup]:
    """Return the units of each of these formats, D.A.B.C, chained; k: None is the shortest for all of them.

    A unit with block scales is left out, and so is one that a kernel could not chain to this K.
    """
    groups = []
    for wanted in types:
        having = [row for row in rows if types_of(row.model) == wanted]
        if not having:
            raise TcsmtError(f"no unit has the types {wanted}")
        groups.append(_group(wanted, having, k or lcm(*(row.model.k for row in having))))
    return groups


def _group(types: str, having: Sequence[Row], k: int) -> ChainedGroup:
    table: dict[Any, list[tuple[Row, Trace]]] = {}
    left_out: list[tuple[Row, str]] = []
    for row in having:
        if row.model.scale_format is not None:
            left_out.append((row, f"it takes block scales in {row.model.scale_format.name}"))
            continue
        try:
            link = chain(row.name, row.model, k)
        except TcsmtError as why:
            left_out.append((row, str(why)))
            continue
        trace = link.on(_operands(row.model, k))
        table.setdefault(trace.output, []).append((row, trace))
    units = tuple(ChainedUnit(tuple(row for row, _ in members), members[0][1]) for members in table.values())
    if not units:
        raise TcsmtError(f"no unit of the types {types} can be chained to k = {k}")
    return ChainedGroup(types, k, units, tuple(left_out))


def _operands(model: Model, k: int) -> Terms:
    """Return the words of so many products, by name; the model of a link of a chain may have fewer."""
    formats = model.operand_formats.named
    lanes = [[var(f"{side}{lane}", formats[side].width) for lane in range(k)] for side in "ab"]
    return Operands(tuple(lanes[0]), tuple(lanes[1]), var("c", formats["c"].width))


@dataclass
class OnDomain:
    """The knowledge on one domain: inputs, the result word of each class on each, and proofs.

    records: what the engine said, by the two classes. joined: the class that each one is proved equal to.
    """

    domain: Domain
    inputs: list[Values] = field(default_factory=list)
    words: list[list[int]] = field(default_factory=list)
    records: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    joined: list[int] = field(default_factory=list)

    def verdict(self, first: int, second: int) -> str:
        """``differs`` (some input here shows it), ``equal`` (proved) or ``unknown``."""
        if self.joined[first] == self.joined[second]:
            return "equal"
        return "differs" if any(words[first] != words[second] for words in self.words) else "unknown"


@dataclass(frozen=True, repr=False)
class ChainedAtlas(Result):
    """Groups, and what is known of each on the domains of its ladder, in order.

    integers: what is known of the sums of integers of each class, by its name: records with ``bits`` (sums
    with |c| + Σ |a·b| below 2^bits are proved exact; 0: none) and, where one was found, ``beyond`` (a sum
    that is not exact). On integers below the smaller one of two classes' limits both give the same numbers.
    """

    groups: tuple[ChainedGroup, ...]
    known: tuple[tuple[OnDomain, ...], ...]
    integers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def bits(self, group: ChainedGroup, *classes: int) -> int:
        """Below 2^this, all of these classes are proved to sum integers exactly; 0: not proved of some."""
        names = [group.units[number].name for number in classes]
        return min(int(self.integers.get(name, {}).get("bits", 0)) for name in names)

    @property
    def unknown(self) -> bool:
        """Return whether a pair is neither equal nor different on all words."""
        return any(
            results[0].verdict(first, second) == "unknown"
            for group, results in zip(self.groups, self.known, strict=True)
            for first, second in combinations(range(len(group.units)), 2)
        )

    @property
    def exit_code(self) -> Exit:
        """0: every pair has a verdict; 3: some pair is unknown."""
        return Exit.UNKNOWN if self.unknown else Exit.ANSWERED

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.groups), 'group')}"

    def _facts(self) -> dict[str, Any]:
        """Everything: an input not given is zero; words: the result of each class on an input."""
        return {
            "prover": engine_digest(),
            "models": {row.name: row.model.digest for group in self.groups for row in group.rows},
            "groups": [
                _group_json(self, group, results)
                for group, results in zip(self.groups, self.known, strict=True)
            ],
        }


def largest_equal(
    results: Sequence[OnDomain], first: int, second: int
) -> tuple[OnDomain | None, list[OnDomain]]:
    """Return the first domain on which two classes are proved equal, and those before it that are unknown."""
    unknown: list[OnDomain] = []
    for here in results:
        verdict = here.verdict(first, second)
        if verdict == "equal":
            return here, unknown
        if verdict == "unknown":
            unknown.append(here)
    return None, unknown


def smallest_witness(
    group: ChainedGroup, results: Sequence[OnDomain], first: int, second: int
) -> tuple[Values, int, int] | None:
    """Return the smallest known input on which two classes differ, and both words."""
    witnesses = [
        (values, words[first], words[second])
        for here in results
        for values, words in zip(here.inputs, here.words, strict=True)
        if words[first] != words[second]
    ]
    return min(witnesses, key=lambda each: _size(group, each[0]), default=None)


def _size(group: ChainedGroup, values: Values) -> tuple[Any, ...]:
    """Return how large an input is: NaNs and infinities last, then as shortening counts."""
    special = any(
        group.formats[name].is_nan(word) or group.formats[name].is_infinite(word)
        for name, word in values.items()
    )
    return (special, *cost(group.formats, values))


def _group_json(atlas: ChainedAtlas, group: ChainedGroup, domains: Sequence[OnDomain]) -> dict[str, Any]:
    pairs = []
    for first, second in combinations(range(len(group.units)), 2):
        equal, unknown = largest_equal(domains, first, second)
        record: dict[str, Any] = {
            "classes": [first, second],
            "verdict": domains[0].verdict(first, second),
            "equal_on": str(equal.domain) if equal is not None else None,
            "unknown_on": [str(here.domain) for here in unknown],
            "integer_bits": atlas.bits(group, first, second),
        }
        witness = smallest_witness(group, domains, first, second)
        if witness is not None:
            values, *words = witness
            record["inputs"] = {n: shown(group.formats[n], word) for n, word in values.items() if word}
            results = zip((group.units[first], group.units[second]), words, strict=True)
            record["results"] = [
                {"side": unit.name, **shown(unit.rows[0].model.d_format, word)} for unit, word in results
            ]
        pairs.append(record)
    hexadecimal = group.units[0].rows[0].model.d_format.hex
    return {
        "types": group.types,
        "k": group.k,
        "classes": [[row.name for row in unit.rows] for unit in group.units],
        "left_out": {row.name: why for row, why in group.left_out},
        "integers": [atlas.integers.get(unit.name) for unit in group.units],
        "pairs": pairs,
        "domains": [
            {
                "domain": str(here.domain),
                "equal": [members for members in _classes(here) if len(members) > 1],
                "separating": [
                    {
                        "inputs": {
                            name: group.formats[name].hex(word) for name, word in values.items() if word
                        },
                        "words": [hexadecimal(word) for word in words],
                    }
                    for values, words in zip(here.inputs, here.words, strict=True)
                ],
                "proofs": [
                    {"classes": list(pair), **record}
                    for pair, record in here.records.items()
                    if record["verdict"] != "distinguished"
                ],
            }
            for here in domains
        ],
    }


def _classes(here: OnDomain) -> list[list[int]]:
    table: dict[int, list[int]] = {}
    for number, root in enumerate(here.joined):
        table.setdefault(root, []).append(number)
    return list(table.values())


# --- the run ------------------------------------------------------------------------------------


def run_chained(
    groups: Sequence[ChainedGroup],
    store: Checkpoint,
    options: SolvingOptions,
    progress: ProgressCallback = no_progress,
) -> ChainedAtlas:
    """Separate the classes of each group on each domain, and ask what no input separates.

    Verdicts are kept in the store as those of :func:`tcsmt.surveys.units.model_pairs.decide_cached`.
    """
    return ChainedAtlas(
        tuple(groups), tuple(_Sweep(group, store, options, progress).run() for group in groups)
    )


_Kind = tuple[tuple[int, int] | None, tuple[int, int] | None]


def _kind(domain: Domain) -> _Kind:
    return domain.exponents, domain.bits


@dataclass
class _Sweep:
    """hard: pairs of classes that stayed unknown, with the exponents and bits of the domain.

    With the same exponents and bits they are not asked again: other domains differ in less, and most of them
    cost another time limit for nothing. They stay unknown there.
    """

    group: ChainedGroup
    store: Checkpoint
    options: SolvingOptions
    progress: ProgressCallback
    hard: set[tuple[tuple[int, int], _Kind]] = field(default_factory=set)

    def run(self) -> tuple[OnDomain, ...]:
        trace = self.group.units[0].trace
        results: list[OnDomain] = []
        domains = ladder(self.group.formats, trace)
        for number, domain in enumerate(domains, 1):
            self.progress(number, len(domains), f"{self.group.title}: {domain}")
            results.append(self._on(domain, results))
        self._add_short_inputs(results)
        return tuple(results)

    def _on(self, domain: Domain, before: Sequence[OnDomain]) -> OnDomain:
        group = self.group
        here = OnDomain(domain, joined=list(range(len(group.units))))
        for wider in before:
            if covers(wider.domain, domain, group.formats):
                for number, root in enumerate(wider.joined):
                    self._join(here, number, root)
        rng = np.random.default_rng(20250101)
        columns = columns_in(domain, group.formats, group.units[0].trace, _ROWS, rng)
        self._take(here, columns)
        while pairs := list(self._open(here)):
            asked = {pair: self._pair(pair, domain) for pair in pairs}
            records = decide_cached(list(asked.values()), self.store, self.options, self._said(domain))
            witnesses = []
            for pair, question in asked.items():
                record = records[question.key]
                here.records[pair] = record
                if record["verdict"] == "equivalent":
                    self._join(here, *pair)
                elif record["verdict"] == "distinguished":
                    witnesses.append(witness_of(record))
                else:
                    self.hard.add((pair, _kind(domain)))
            if witnesses:
                self._take(here, group.columns(witnesses))
        return here

    def _said(self, domain: Domain) -> ProgressCallback:
        return lambda done, count, what: self.progress(done, count, f"{self.group.types}, {domain}: {what}")

    def _pair(self, pair: tuple[int, int], domain: Domain) -> Pair:
        left, right = (self.group.units[number].asked for number in pair)
        return Pair(left, right, domain, self.group.k)

    @staticmethod
    def _join(here: OnDomain, first: int, second: int) -> None:
        old, new = sorted((here.joined[first], here.joined[second]), reverse=True)
        here.joined = [new if root == old else root for root in here.joined]

    def _take(self, here: OnDomain, columns: Mapping[str, Array]) -> None:
        """Take as few of these inputs as separate what all of them separate and none before did."""
        if not len(columns["c"]):
            return
        words = self.group.words(columns)
        known = np.array(here.words, np.uint64).reshape(-1, len(words)).T
        used = np.asarray(sum((column != 0).astype(np.int64) for column in columns.values()))
        fewest = np.argsort(used, kind="stable")
        for number in fewest[[*separating(words[:, fewest], known)]]:
            here.inputs.append({name: int(column[number]) for name, column in columns.items()})
            here.words.append(words[:, number].tolist())

    def _open(self, here: OnDomain) -> Iterator[tuple[int, int]]:
        """Pairs to ask: in each set that no input separates, its first class with all others."""
        roots = sorted(set(here.joined))
        sets: dict[tuple[int, ...], list[int]] = {}
        for root in roots:
            sets.setdefault(tuple(words[root] for words in here.words), []).append(root)
        for members in sets.values():
            first, *others = members
            for other in others:
                if ((first, other), _kind(here.domain)) not in self.hard:
                    yield first, other

    def _add_short_inputs(self, results: Sequence[OnDomain]) -> None:
        """A short input for each pair that differs: one that another pair has, or one made from its own."""
        group = self.group
        everywhere = results[0]
        short: list[tuple[Values, list[int]]] = []
        for first, second in combinations(range(len(group.units)), 2):
            if any(words[first] != words[second] for _, words in short):
                continue
            witness = smallest_witness(group, results, first, second)
            if witness is None:
                continue
            left, right = (group.units[number].trace.output for number in (first, second))
            values = shorten(left.ne(right), group.formats, witness[0])
            words = [int(column[0]) for column in group.words(group.columns([values]))]
            short.append((values, words))
            everywhere.inputs.append(values)
            everywhere.words.append(words)
