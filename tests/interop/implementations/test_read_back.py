"""An exported file, read back as a design, is its unit: every language, every graph of the catalogue."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tcsmt.interop.c_reader import c_source
from tcsmt.interop.exports.languages import exported
from tcsmt.interop.implementations import rtl
from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, expand, operands_first
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.catalogue import Row, row_named, rows
from tcsmt.matrix_units.models import Model
from tcsmt.prove.certificates.derivation import check
from tcsmt.prove.engine.engine import Decision, compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished, Equivalent, Unknown, Verdict
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tests.support.exported import OWN, decided, one_of_each_kind, own_formats
from tests.support.read_back import same_graph
from tests.support.sampling import mostly_long
from tests.support.solving_here import solve

#: The file's suffix for each language that is read.
SUFFIXES = {"systemverilog": ".sv", "c": ".h", "btor2": ".btor2"}
#: Block scales of two kinds, and several of them.
SCALED = (
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0",
    "arm/fdot.f32.e5m2.e4m3.lscale5.osm1",
)


def read_back(row: Row, language: str, folder: Path, text: str = "") -> Model:
    """The exported file, or this one, as ``tcsmt compare UNIT FILE`` reads it, without options."""
    if language == "systemverilog" and not rtl.available():
        pytest.skip("the extra `rtl` (pyosys) is not installed")
    if language == "c" and not c_source.available():
        pytest.skip("clang is not installed")
    file = folder / f"unit{SUFFIXES[language]}"
    file.write_text(text or str(exported(row, language)))
    return read_design(DesignFiles(files=[file]).like(row.model)).model


def decided_by(row: Row, model: Model, lemmas: Lemmas) -> Decision:
    everything = Domain(finite=False)
    return compare_models(("unit", row.model), ("file", model), everything, lemmas.solving, lemmas=lemmas)


def verdict(row: Row, model: Model) -> Verdict:
    return decided_by(row, model, Lemmas(Solving())).verdict


def mutated(text: str, rng: Random) -> str:
    """The file with a bit of a constant changed, an operation exchanged, or a lane read twice."""
    start = text.index("wire [") if "endmodule" in text else text.index("const uint8_t a[")
    patterns = (
        r"(?<='h)[0-9a-f]+|(?<=0x)[0-9a-f]+(?=u)",
        r" [+&|^-] |>>|<<| < | == ",
        r"(?<=\b[ab]\[)\d(?=\])",
    )
    places = [*re.compile(rng.choice(patterns)).finditer(text, start)]
    if not places:
        return text
    place = rng.choice(places)
    old = place[0]
    match old.strip():
        case "+" | "-" | "&" | "|" | "^":
            new = f" {rng.choice('+-&|^')} "
        case "<<" | ">>":
            new = ">>" if old == "<<" else "<<"
        case "<" | "==":
            new = rng.choice((" <= ", " == ", " < "))
        case _ if place.re.pattern == patterns[2]:
            new = str(1 - int(old)) if old in "01" else "0"
        case _:
            new = f"{int(old, 16) ^ 1 << rng.randrange(4 * len(old)):x}"
    return text[: place.start()] + new + text[place.end() :]


def same_words(row: Row, model: Model, count: int) -> bool:
    """On rows near the boundaries of the arithmetic."""
    inputs, d = decided(row, count)
    return np.array_equal(run_words(model, inputs), d)


@pytest.mark.parametrize("language", SUFFIXES)
@pytest.mark.parametrize("name", mostly_long(OWN, ["scaled", "fixed"]))
@pytest.mark.slow_cases("fixed-c", "scaled-c", "scaled-systemverilog")
def test_own_formats(name: str, language: str, tmp_path: Path) -> None:
    """Floating point and fixed point, with block scales and without: proved."""
    row = own_formats(name, tmp_path)
    assert isinstance(verdict(row, read_back(row, language, tmp_path)), Equivalent)


@pytest.mark.parametrize("language", SUFFIXES)
@pytest.mark.parametrize("row", [*one_of_each_kind(), *map(row_named, SCALED)], ids=lambda row: row.name)
@pytest.mark.slow_cases(
    "arm/fdot.f32.e5m2.e4m3.lscale5.osm1-c",
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0-c",
    "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0-systemverilog",
    "cdna3/v_mfma_f32_4x4x4_16b_f16-c",
    "hopper/mma.m8n8k4.f64.f64.f64.f64-c",
    "hopper/mma.m8n8k4.f64.f64.f64.f64-systemverilog",
    "volta/mma.m8n8k4.f32.f16.f16.f32-c",
    "wormhole/mvmul.f32.bf16.phase0-c",
)
def test_kinds(row: Row, language: str, tmp_path: Path) -> None:
    """BTOR2 is read as the unit's graph; the others, too, or they give the unit's words."""
    model = read_back(row, language, tmp_path)
    assert same_graph(row.model, model) or (language != "btor2" and same_words(row, model, 500))


def test_c_of_a_unit_of_integers_is_its_graph(tmp_path: Path) -> None:
    """Node by node: nothing is left to prove."""
    row = row_named("turing/mma.m8n8k16.s32.s8.s8.s32")
    model = read_back(row, "c", tmp_path)
    assert same_graph(row.model, model)
    assert isinstance(verdict(row, model), Equivalent)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["systemverilog", "c"])
def test_a_file_of_a_unit_is_the_unit(language: str, tmp_path: Path) -> None:
    """All nodes but a few are the unit's; the rest are proved."""
    row = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
    model = read_back(row, language, tmp_path)
    ours, theirs = (set(operands_first(expand([one.trace.output]))) for one in (row.model, model))
    assert len(theirs & ours) > len(ours) / 2
    assert isinstance(verdict(row, model), Equivalent)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["systemverilog", "c"])
@pytest.mark.parametrize("seed", mostly_long(range(12), range(1)))
def test_a_changed_file_is_not_the_unit(seed: int, language: str, tmp_path: Path) -> None:
    """A difference is found; and what is proved equal has the unit's words, whatever was changed."""
    row, rng, counts = own_formats("scaled", tmp_path), Random(seed), Counter[type[Verdict]]()
    text = str(exported(row, language))
    inputs, d = decided(row, 4000)
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            model = read_back(row, language, folder, mutated(text, rng))
        except TcsmtError:  # a file without a meaning
            continue
        decision = verdict(row, model)
        counts[type(decision)] += 1
        if isinstance(decision, Equivalent):
            assert np.array_equal(run_words(model, inputs), d)
        elif isinstance(decision, Distinguished):
            one, two = evaluate([row.model.trace.output, model.trace.output], decision.values)
            assert one != two
    assert counts[Distinguished] and counts[Unknown] <= 1, counts


@pytest.mark.slow
@pytest.mark.parametrize("language", mostly_long(["systemverilog", "c"], ["systemverilog"]))
def test_a_proof_has_all_its_steps(language: str, tmp_path: Path) -> None:
    """As a certificate would have them: what is left to refute has no solution."""
    row = own_formats("scaled", tmp_path)
    model = read_back(row, language, tmp_path)
    decision = decided_by(row, model, Lemmas(Solving()))
    assert isinstance(decision.verdict, Equivalent)
    refuted: list[Term] = []
    check(decision.question.goal, decision.derived, refuted.append)
    assert refuted
    for formula in dict.fromkeys(refuted):
        assert solve(script(formula), SolvingOptions("bitwuzla", 60, 2048)).answer == "unsat"


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
@pytest.mark.parametrize("language", SUFFIXES)
def test_every_row_is_read(language: str, part: int, tmp_path: Path) -> None:
    """And gives the unit's words."""
    for row in list({row.model.digest: row for row in rows(claims=True)}.values())[part::12]:
        assert same_words(row, read_back(row, language, tmp_path), 2000), row.name


@pytest.fixture(scope="module")
def lemmas() -> Lemmas:
    """What compilers put for one another is the same in many graphs: it is asked once."""
    return Lemmas(Solving(SolvingOptions(timeout=300)))


@pytest.mark.long
@pytest.mark.parametrize("part", range(100))
@pytest.mark.parametrize("language", SUFFIXES)
def test_every_row_is_the_unit(language: str, part: int, lemmas: Lemmas, tmp_path: Path) -> None:
    """Proved. The limit is one of the clock: sixteen products of FP64 in C take nine minutes of a core."""
    for row in list({row.model.digest: row for row in rows(claims=True)}.values())[part::100]:
        model = read_back(row, language, tmp_path)
        if not same_graph(row.model, model):
            found = decided_by(row, model, lemmas).verdict
            assert isinstance(found, Equivalent), (row.name, found)


@pytest.mark.parametrize("name", mostly_long(["arm/fdot.f16.e5m2.e5m2", "arm/fmopa.f32.f16.f16"], []))
def test_words_wider_than_a_machines(name: str, tmp_path: Path) -> None:
    """C adds with carries what is one word of 73 or 105 bits in the unit; and the proof has all its steps."""
    row = row_named(name)
    model = read_back(row, "c", tmp_path)
    assert max(node.width for node in operands_first(expand([model.trace.output]))) == 64
    decision = decided_by(row, model, Lemmas(Solving(SolvingOptions(timeout=120))))
    assert isinstance(decision.verdict, Equivalent)
    refuted: list[Term] = []
    check(decision.question.goal, decision.derived, refuted.append)
    for formula in dict.fromkeys(refuted):
        assert solve(script(formula), SolvingOptions("bitwuzla", 60, 2048)).answer == "unsat"
