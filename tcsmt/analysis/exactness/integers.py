"""The integers that a unit sums exactly: how far it is proved, and the nearest sum that is not exact."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.certified import certify_sums
from tcsmt.analysis.exactness.sums import exact_below, most_bits
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.finding import shown
from tcsmt.prove.statements.verdict import Equivalent, engine_digest, has_certificate
from tcsmt.simulate.rows import run_words, words_of_row
from tcsmt.support.checkpoint import Checkpoint, Record
from tcsmt.support.invariants import not_none
from tcsmt.support.jobs.processes import Task
from tcsmt.support.jobs.tasks import Workers, computed
from tcsmt.support.progress import ProgressCallback, no_progress

Array = np.ndarray[Any, np.dtype[Any]]

#: What a record of a proof is in other records.
_PROVED = {"verdict": "equivalent"}
#: Rows of each size that are tried.
_ROWS = 4096


@dataclass(frozen=True)
class InexactSum:
    """Integers whose sum a unit does not give.

    values: words by name. size: |c| + Σ |a·b|. exact: the sum. result: the unit's word.
    """

    values: dict[str, int]
    size: int
    exact: int
    result: int


@dataclass(frozen=True)
class IntegerSums:
    """What is known of a unit's sums of integers.

    bits: every sum with |c| + Σ |a·b| below 2^bits is proved exact (0: of none). proof: of that. beyond: the
    smallest input found whose sum is not exact (None: none was found). open: why no more bits are proved.
    """

    unit: Model
    bits: int
    proof: Equivalent | None
    beyond: InexactSum | None
    open: str
    seconds: float

    @property
    def closed(self) -> bool:
        """Return whether one bit more is refuted."""
        return self.beyond is not None and self.beyond.size < 2 << self.bits

    def as_json(self) -> dict[str, Any]:
        """As plain data; an input that is not given is zero."""
        data: dict[str, Any] = {"bits": self.bits, "closed": self.closed, "open": self.open}
        data["seconds"] = round(self.seconds, 3)
        if self.proof is not None:
            data["proof"] = self.proof.as_json()
        if self.beyond is not None:
            example, formats = self.beyond, self.unit.input_formats
            data["beyond"] = {
                "inputs": {name: shown(formats[name], word) for name, word in example.values.items() if word},
                "size": example.size,
                "exact": example.exact,
                "result": shown(self.unit.d_format, example.result),
            }
        return data


def integer_sums(unit: Model, solving: Solving) -> IntegerSums:
    """Return the most bits that are proved, and the smallest input that was found not to be exact."""
    start, proof, reason, bits = time.monotonic(), None, "", 0
    try:
        most = most_bits(unit)
    except Unbounded as why:
        return IntegerSums(unit, 0, None, None, str(why), time.monotonic() - start)
    beyond = nearest_inexact(unit, most + 1)
    # no more bits than the input that refutes them leaves
    limit = most if beyond is None else min(most, beyond.size.bit_length() - 1)
    for bits in range(limit, 0, -1):
        chain = StepwiseProof(solving)
        try:
            exact_below(chain, unit, bits)
        except Unbounded as why:
            reason = reason or str(why)
            if chain.refuted:
                continue
            break
        proof = chain.verdict(time.monotonic() - start)
        break
    proved = bits if proof is not None else 0
    closed = beyond is not None and beyond.size < 2 << proved
    open_ = "" if closed else reason or "no input beyond was found that is not exact"
    return IntegerSums(unit, proved, proof, beyond, open_, time.monotonic() - start)


def nearest_inexact(unit: Model, bits: int, rows: int = _ROWS) -> InexactSum | None:
    """Of some integers with |c| + Σ |a·b| below 2^bits, the smallest whose sum is not exact."""
    rng = np.random.default_rng(20261123)
    best: InexactSum | None = None
    for below in range(1, bits + 1):
        a, b, c = integer_rows(unit, below, rows, rng)
        example = _inexact(unit, a, b, c)
        if example is not None and (best is None or example.size < best.size):
            best = example
        if best is not None:
            break
    return best


def integer_rows(unit: Model, bits: int, rows: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Integers a, b (rows, k) and c (rows,) with |c| + Σ |a·b| below 2^bits, as float64.

    A few products and c, which are powers of two, their neighbours and others, of both signs; zeros beside
    any other number.
    """
    a, b = (_integers(fmt, bits, (rows, unit.k), rng) for fmt in (unit.a_format, unit.b_format))
    c = _integers(unit.c_format, bits, (rows,), rng)
    few = rng.random((rows, unit.k)) < rng.choice([0.5, 2, 4, unit.k], (rows, 1)) / unit.k
    few[:, 0] |= rng.random(rows) < 0.3
    side = rng.random((rows, unit.k)) < 0.5
    a, b = np.where(few | side, a, 0.0), np.where(few | ~side, b, 0.0)
    c[rng.random(rows) < 0.3] = 0.0
    while True:
        sizes = np.abs(a * b)
        over = np.abs(c) + sizes.sum(axis=1) >= 2.0**bits
        if not over.any():
            return a, b, c + 0.0
        # the first of the terms that are left becomes zero
        first = np.argmax(sizes > 0, axis=1)
        none = sizes.max(axis=1) == 0
        at = np.flatnonzero(over & ~none)
        b[at, first[at]] = 0.0
        c[over & none] = 0.0


def _integers(fmt: AnyFormat, bits: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Integers of a format, below 2^bits."""
    fmt = float_format(fmt)
    exponent = rng.integers(0, max(1, min(bits, fmt.e_max + 1)), shape)
    exponent = np.where(rng.random(shape) < 0.4, 0, exponent)
    own = np.minimum(exponent, fmt.fraction_bits)
    fraction = rng.integers(0, 1 << own)
    fraction = np.choose(
        rng.integers(0, 4, shape), [0 * fraction, np.minimum(1, fraction), (1 << own) - 1, fraction]
    )
    size = ((1 << own) + fraction) * 2.0 ** (exponent - own)
    size = np.minimum(size, float(fmt.largest_finite))
    return np.where(rng.random(shape) < 0.5, -size, size) if fmt.signed else size


def _inexact(unit: Model, a: Array, b: Array, c: Array) -> InexactSum | None:
    inputs = [
        _words(fmt, x)
        for fmt, x in zip((unit.a_format, unit.b_format, unit.c_format), (a, b, c), strict=True)
    ]
    operands: Operands[Array, Array] = Operands(inputs[0], inputs[1], inputs[2])
    results = run_words(unit, operands)
    exact, size = c + (a * b).sum(axis=1), np.abs(c) + np.abs(a * b).sum(axis=1)
    fmt = unit.d_format
    fmt = float_format(fmt)
    got = floats(fmt, results)
    wrong = np.flatnonzero((got != exact) | np.isnan(got))
    if not wrong.size:
        return None
    used = (a * b != 0).sum(axis=1) + (c != 0)
    number = int(min(wrong, key=lambda n: (size[n], used[n])))
    return _shortened(unit, dict(zip(unit.input_names, words_of_row(operands, number), strict=True)))


def _shortened(unit: Model, values: dict[str, int]) -> InexactSum:
    """Return the input without the words that it can do without."""
    best = not_none(_replayed(unit, values))
    for name in [name for name, word in values.items() if word]:
        fewer = _replayed(unit, best.values | {name: 0})
        if fewer is not None and fewer.size <= best.size:
            best = fewer
    return best


def _replayed(unit: Model, values: dict[str, int]) -> InexactSum | None:
    """Return the input in exact fractions and on the evaluator; None where the result is the exact sum."""
    formats, fmt = unit.input_formats, unit.d_format
    numbers = {name: formats[name].value(word) for name, word in values.items()}
    products = [numbers[f"a{lane}"] * numbers[f"b{lane}"] for lane in range(unit.k)]
    exact, size = numbers["c"] + sum(products), abs(numbers["c"]) + sum(map(abs, products))
    (result,) = evaluate([unit.trace.output], values)
    special = fmt.is_nan(result) or fmt.is_infinite(result)
    if not special and fmt.value(result) == exact:
        return None
    return InexactSum(values, int(size), int(exact), result)


def _words(fmt: AnyFormat, values: Array) -> Array:
    """Return the words of numbers that a format has."""
    fmt = float_format(fmt)
    distinct, places = np.unique(values, return_inverse=True)
    words = np.array([fmt.word(Fraction(float(value))) for value in distinct], dtype=unsigned(fmt))
    result: Array = words[places].reshape(values.shape)
    return result


def integer_records(
    rows: Sequence[Row], store: Checkpoint, options: SolvingOptions, progress: ProgressCallback = no_progress
) -> dict[str, Record]:
    """Return what is known of the sums of integers of each unit, by its name, as
    :meth:`.IntegerSums.as_json`.

    Records are kept in the store: the proofs of this code count in the next run, others are made again.
    """
    tasks = {row.name: _task(row, options) for row in rows}
    results = computed(
        list({task.key: task for task in tasks.values()}.values()),
        store,
        Workers(options.jobs, options.scheduler),
        lambda task, record: (
            record["code"] == task.code
            and record["closed"]
            and options.takes(sure=record["sure"])
            and ("proof" not in record or has_certificate({**record, **_PROVED}, options.certificates))
        ),
        progress,
    )
    return {
        name: results.records.get(
            task.key, {"bits": 0, "closed": False, "open": results.failed.get(task.key, "")}
        )
        for name, task in tasks.items()
    }


def _task(row: Row, options: SolvingOptions) -> Task:
    model, key = row.model, f"integers {row.model.digest}"
    code = engine_digest("analysis")
    return Task(key, key, _record, (model, row.name, options), code, {row.name: model.digest}, row.name)


def _record(unit: Model, name: str, options: SolvingOptions) -> Record:
    solving = Solving(options)
    sums = integer_sums(unit, solving)
    text = f"exact below 2^{sums.bits}" if sums.bits else "not proved"
    about: Record = {"answer": text, "sure": sums.proof is None or sums.proof.sure, **sums.as_json()}
    if solving.certificates is not None and sums.proof is not None:
        certified = certify_sums(solving.certificates, unit, name, sums.bits)
        about["certificate"] = certified.as_json()
    return about
