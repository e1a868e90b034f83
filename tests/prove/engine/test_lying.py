"""Solvers that lie, crash or babble: no proof comes of it; without a confirmation it is said who says so."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.analysis.sweeps import findings
from tcsmt.identification.units import search
from tcsmt.identification.units.hypotheses import Hypotheses, HypothesisSet
from tcsmt.identification.units.kinds import FusedHypotheses
from tcsmt.interface.api import atlas as api_atlas
from tcsmt.interface.api import bound_table as api_findings
from tcsmt.interface.cli import main
from tcsmt.language.terms import var
from tcsmt.language.write.smtlib import script
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers import run
from tcsmt.prove.engine.solvers.answer import digest
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Equivalent, Unknown
from tcsmt.support.jobs import processes
from tcsmt.support.jobs.processes import Task
from tcsmt.surveys.units import audit
from tcsmt.surveys.units.model_pairs import DistinctUnit, Pair, decide_cached, verdicts_in, without_verdict
from tcsmt.surveys.units.neighbours import neighbours
from tests.support.lying import BEHAVIOURS, UNCONFIRMING, Liars
from tests.support.sampling import mostly_long, one_in

X, Y = var("x", 8), var("y", 8)
#: (x xor y) xor (x and y) is x or y: there is no solution, and the constructors do not see it.
TRUE_GOAL = ((X ^ Y) ^ (X & Y)).ne(X | Y)
#: A goal with a solution, x = 0x43, which an unsat denies.
FALSE_GOAL = (X + 1).eq(0x44)
#: Behaviours that are answers.
ANSWERED = [name for name, (_, reason) in BEHAVIOURS.items() if not reason]
REFUSED = [name for name in BEHAVIOURS if name not in ANSWERED]


@pytest.mark.parametrize("behaviour", mostly_long(REFUSED, REFUSED[::2]))
def test_malformed_replies_are_unknown_with_a_reason(
    behaviour: str, liars: Liars, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a process says and does otherwise is unknown, with a reason that names it."""
    monkeypatch.setattr(run, "_PATIENCE", 0.3)
    _, reason = BEHAVIOURS[behaviour]
    liars.install(bitwuzla=behaviour)
    if reason == "hangs":
        monkeypatch.setattr(run, "_HANGING", (0.0, 0.3))
    answer = solve(script(FALSE_GOAL), SolvingOptions("bitwuzla"))
    assert answer.answer == "unknown"
    assert answer.reason.startswith("bitwuzla: ")
    assert reason in answer.reason
    assert answer.values == {}


@pytest.mark.parametrize("answer", ANSWERED)
def test_well_formed_replies_are_answers(answer: str, liars: Liars) -> None:
    liars.install(bitwuzla=answer)
    found = solve(script(FALSE_GOAL), SolvingOptions("bitwuzla", timeout=30))
    assert (found.answer, found.by, found.seconds) == (answer.split(maxsplit=1)[0], "bitwuzla 9.9", 0.25)
    assert found.script == digest(script(FALSE_GOAL))


# --- what a proof is ----------------------------------------------------------------------------


@pytest.mark.parametrize("second", ["unsat", "sat", "hangs after unsat", *one_in(2, chain(*UNCONFIRMING))])
def test_only_another_unsat_confirms(second: str, liars: Liars, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first solver's lie, each behaviour of the others makes what it is."""
    liars.install(bitwuzla="unsat", z3=second, cvc5="nothing")
    if BEHAVIOURS[second][1] == "hangs":
        monkeypatch.setattr(run, "_HANGING", (0.0, 0.5))
    solving = Solving(SolvingOptions("bitwuzla", confirm=True))
    found = solving.proof("", FALSE_GOAL, solving.ask(FALSE_GOAL), 0.0)
    if second == "unsat":
        assert isinstance(found, Equivalent)
        assert (found.by_whom, found.sure) == ("bitwuzla 9.9, confirmed by z3 9.9", True)
        assert found.scripts == (digest(script(FALSE_GOAL)),)
        return
    assert isinstance(found, Unknown)
    if second == "sat":
        assert found.reason == "solvers disagree: bitwuzla 9.9 answers unsat, z3 9.9 sat"
        return
    assert found.reason.startswith("bitwuzla 9.9 answers unsat; not confirmed: z3: ")
    assert BEHAVIOURS[second][1] in found.reason
    assert found.reason.endswith("; cvc5: wrote nothing")


def test_the_third_solver_may_confirm(liars: Liars) -> None:
    liars.install(bitwuzla="unsat", z3="garbage", cvc5="unsat")
    solving = Solving(SolvingOptions(confirm=True))
    found = solving.proof("", TRUE_GOAL, solving.ask(TRUE_GOAL), 0.0)
    assert isinstance(found, Equivalent)
    assert found.confirmed == "cvc5 9.9"


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_solver_confirms_itself(solver: str, liars: Liars) -> None:
    """Whichever is first, however it is spelt: another program has to agree."""
    liars.install(**dict.fromkeys(SOLVERS, "nothing"))
    liars.install(**{solver: "unsat"})
    for name in (solver.upper(), "portfolio"):
        solving = Solving(SolvingOptions(name, confirm=True))
        found = solving.proof("", TRUE_GOAL, solving.ask(TRUE_GOAL), 0.0)
        assert isinstance(found, Unknown)
        assert found.reason.startswith(f"{solver} 9.9 answers unsat; not confirmed: ")
        assert f"{solver}: " not in found.reason


def test_answers_prove_their_own_script_alone() -> None:
    solving = Solving()
    answer = solving.ask(TRUE_GOAL)
    with pytest.raises(ValueError, match="an answer to another script"):
        solving.proof("", FALSE_GOAL, answer, 0.0)


def test_goals_decided_without_a_solver_need_no_confirmation(liars: Liars) -> None:
    liars.install(**dict.fromkeys(SOLVERS, "nothing"))
    solving, goal = Solving(SolvingOptions(confirm=True)), X.ult(X)
    assert goal.value == 0
    found = solving.proof("", goal, solving.ask(goal), 0.0)
    assert isinstance(found, Equivalent)
    assert (found.scripts, found.sure) == ((), True)


@pytest.mark.slow
@pytest.mark.usefixtures("unsearched")
def test_values_that_do_not_replay_are_no_witness(liars: Liars) -> None:
    """A model of all zeros, at which the units do not differ."""
    liars.install(bitwuzla="sat")
    unit = row_named("volta").model
    other = unit.replace(carry_bits=2)
    question = difference("", ("one", unit), ("other", other), lanes=())
    for found in (
        decide(question, Solving()).verdict,
        decide(question, Solving(SolvingOptions(confirm=True))).verdict,
    ):
        assert isinstance(found, Unknown)
        assert "bitwuzla 9.9" in found.reason and "not replay" in found.reason


# --- every command that proves ------------------------------------------------------------------

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def _findings(folder: Path, patch: pytest.MonkeyPatch) -> list[object]:
    """One proof about algorithms and one bound, of the whole list."""
    both = "ootomo-halfhalf worse than markidis", "bound of single-f16"
    where = ("volta", 1, Domain(exponents=(-14, 14), bits=(11, 11), c_zero=True))

    def entries(effort: findings.Effort) -> Iterator[Task]:
        about = findings.About("", {})
        yield effort.task(both[0], about, findings.asked, "ootomo-halfhalf", "markidis", *where)
        yield effort.task(both[1], about, findings.bounded, "single-f16", *where)

    patch.setattr(api_findings, "entries", entries)
    return ["accuracy", "findings", "--output", folder / "findings.json", "--search", 0.1]


def _identify(folder: Path, patch: pytest.MonkeyPatch) -> list[object]:
    """Where two hypotheses are left, which only a solver can say to be the same."""

    def two(self: search.Identification, kinds: Sequence[Hypotheses]) -> None:
        kind = next(kind for kind in kinds if isinstance(kind, FusedHypotheses))
        one, other = (kind.row(VOLTAS_MODEL.replace(zero_exponent=e)) for e in (-131, -126))
        self.exchanges = []
        self._left(HypothesisSet(((kind, np.array([one, other])),)))

    patch.setattr(search.Identification, "_first", two)
    patch.setattr(search.Identification, "_beside", lambda self: False)
    patch.setattr(search.Identification, "_confirmed", lambda self: None)
    patch.setattr(search.Identification, "_splitting", lambda self, left: None)
    patch.setattr(FusedHypotheses, "canonical", lambda self, table: table)
    return ["identify", "--box", VOLTA]


def _alike(folder: Path) -> tuple[Path, Path]:
    """Two models that are the same function, though not the same graph."""
    one, other = folder / "small.toml", folder / "other.toml"
    one.write_text(f'base = "{VOLTA}"\nk = 1\nn_fma = 1\n')
    other.write_text(f'base = "{VOLTA}"\nk = 1\nn_fma = 1\nzero_exponent = -126\n')
    return one, other


def _atlas(folder: Path, patch: pytest.MonkeyPatch) -> list[object]:
    patch.setattr(api_atlas, "rows", lambda: [read_model(path) for path in _alike(folder)])
    return ["atlas", "--claims", "--store", folder / "a.json"]


def _audit(folder: Path, patch: pytest.MonkeyPatch) -> list[object]:
    """A neighbour that no vector tells apart, and one that the only vector does."""
    wanted = {"zero_exponent = -126", "products = normalised"}
    patch.setattr(audit, "neighbours", lambda model: (n for n in neighbours(model) if n.name in wanted))
    patch.setattr(audit, "rows", list)
    model, vectors = _alike(folder)[0], folder / "vectors.csv"
    vectors.write_text("a0,b0,c\n0xc410,0x3ff0,0x3a7fe000\n")  # products of almost 8
    return ["audit", vectors, "--unit", model, "--store", folder / "a.json"]


VOLTAS_MODEL = row_named(VOLTA).model
Arguments = list[object] | Callable[[Path, pytest.MonkeyPatch], list[object]]
#: What proves something, where solvers say so.
COMMANDS: dict[str, Arguments] = {
    "find": ["find", "--property", "carry-bits", "--arch", "volta"],
    "compare": lambda folder, patch: ["compare", *_alike(folder)],
    "claims": ["claims", "hopper-fp8-six-carry-bits"],
    "identify": _identify,
    "accuracy compare": [
        "accuracy", "compare", "ootomo-halfhalf", "markidis", "--unit", "volta", "--k", 1, "--search", 0.1,
        "--exponents", "-14:14", "--bits", 11, 11, "--c-zero",
    ],
    "accuracy find": [
        "accuracy", "find", "monotone", "single-f16", "--unit", "volta", "--c-zero", "--bits", 4, 4,
        "--exponents", "0:0", "--search", 0.1,
    ],
    "accuracy bound": [
        "accuracy", "bound", "single-f16", "--unit", "volta", "--exponents", "0:0", "--bits", 11, 11,
        "--positive", "--c-zero", "--search", 0.1,
    ],
    "accuracy findings": _findings,
    "accuracy split": ["accuracy", "split", "--format", "bf16", "--prove"],
    "accuracy reduced": lambda folder, patch: [
        "accuracy", "reduced", "--widths", 2, "--unit", "volta", "--inputs", 0, "--question", "one-by-one",
        "--output", folder / "reduced.json",
    ],
    "atlas": _atlas,
    "audit": _audit,
}  # fmt: skip


def _here(jobs: int, tasks: Sequence[Task]) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Tasks run in this process: others have the environment of whoever started them."""
    for task in tasks:
        yield task, task.run()


def ran(name: str, folder: Path, patch: pytest.MonkeyPatch, *more: str) -> tuple[int, str]:
    """Exit code and standard output of a command."""
    patch.setattr(processes, "answers_of", _here)
    given = COMMANDS[name]
    arguments = [str(a) for a in (given(folder, patch) if callable(given) else given)]
    result = CliRunner().invoke(main, [*arguments, *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


#: What is said of proofs, and of what is none.
CLAIMED = re.compile(
    r"EQUIVALENT|NEVER WORSE|(?<!NOT )MONOTONE|NEVER A WRONG|\bproved\b|\bproves\b|\bequal\b|\bnever worse\b"
    r"|\bare enough\b|\bidentified\b|\bconfirmed by\b|\bbounded\b|found, proved|= equal"
)
DENIED = re.compile(
    r"not proved|neither proved equal|not confirmed|whether 3 carry bits are enough|fewest that are enough"
    r"|Ootomo-Yokota never worse than Markidis"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    mostly_long(COMMANDS, ["find", "accuracy bound"]),
)
def test_no_command_proves_what_is_not_confirmed(
    name: str, liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3, no word of a proof, and who said what; alone, the first solver is named as such."""
    z3, cvc5 = UNCONFIRMING[list(COMMANDS).index(name) % len(UNCONFIRMING)]
    liars.install(bitwuzla="unsat", z3=z3, cvc5=cvc5)
    code, text = ran(name, tmp_path, monkeypatch, "--confirm")
    assert code == 3, text
    assert not CLAIMED.search(DENIED.sub("", text)), text
    assert "bitwuzla 9.9 answers unsat; not confirmed: z3: " in " ".join(text.split())
    second = tmp_path / "again"
    second.mkdir()
    alone = [] if name in NOT_BY_DEFAULT else ["--no-confirm"]
    code, text = ran(name, second, monkeypatch, *alone)
    assert code == 0, text
    assert CLAIMED.search(text)
    assert "bitwuzla 9.9 alone" in text


#: Commands that confirm only if they are asked to.
NOT_BY_DEFAULT = [name for name in COMMANDS if name not in ("compare", "atlas", "audit")]


@pytest.mark.long
@pytest.mark.parametrize("pair", UNCONFIRMING)
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_whatever_the_others_do(
    name: str, pair: tuple[str, str], liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liars.install(bitwuzla="unsat", z3=pair[0], cvc5=pair[1])
    code, text = ran(name, tmp_path, monkeypatch, "--confirm")
    assert code == 3, text
    assert not CLAIMED.search(DENIED.sub("", text)), text


@pytest.mark.parametrize("name", ["find", "compare", "accuracy compare", "atlas"])
def test_disagreeing_solvers_are_reported(
    name: str, liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liars.install(bitwuzla="unsat", z3="sat")
    code, text = ran(name, tmp_path, monkeypatch, "--confirm")
    assert code == 3, text
    assert "solvers disagree: bitwuzla 9.9 answers unsat, z3 9.9 sat" in text
    assert not CLAIMED.search(DENIED.sub("", text)), text


@pytest.mark.parametrize(
    "name",
    mostly_long(
        sorted(set(COMMANDS) - {"accuracy bound", "accuracy findings", "accuracy split"}),
        ["find", "compare", "accuracy compare"],
    ),
)
@pytest.mark.slow_cases("compare")
def test_no_command_shows_an_input_that_is_none(
    name: str, liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values at which nothing differs, that lie outside of the domain, or do nothing wrong."""
    liars.install(bitwuzla="sat at 2^-30")
    code, text = ran(name, tmp_path, monkeypatch)
    assert code == 3, text
    assert not CLAIMED.search(DENIED.sub("", text)), text
    assert not re.search(r"DISTINGUISHED|WORSE|NOT MONOTONE|NOT SO|not so:|->", text), text


# --- what an earlier run has kept ---------------------------------------------------------------


def planted(name: str, liars: Liars, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Run a command with solvers that all say unsat: what is kept then says that it was confirmed."""
    liars.install(**dict.fromkeys(SOLVERS, "unsat"))
    code, text = ran(name, folder, patch, "--confirm")
    assert code == 0, text
    assert "confirmed by " in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "compare",
        *(
            pytest.param(n, marks=pytest.mark.long)
            for n in ("audit", "atlas", "accuracy findings", "accuracy reduced")
        ),
    ],
)
def test_kept_lies_are_not_proofs(
    name: str, liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked again with a confirmation; else, or where the user says so, it counts, and is said to be kept."""
    base = tmp_path / "kept"
    base.mkdir()
    planted(name, liars, base, monkeypatch)
    liars.install(**dict.fromkeys(SOLVERS, "nothing"))  # whatever is proved now was kept
    alone = [] if name in NOT_BY_DEFAULT else ["--no-confirm"]
    for options in (alone, ["--confirm", "--kept"]):
        code, text = ran(name, base, monkeypatch, *options)
        assert code == 0, text
        assert "earlier run" in text
    for number, options in enumerate(([*alone, "--again"], ["--confirm"])):
        folder = shutil.copytree(base, tmp_path / f"copy {number}")
        code, text = ran(name, folder, monkeypatch, *options)
        assert code == 3, text
        assert not CLAIMED.search(DENIED.sub("", text)), text


def test_kept_witnesses_count_only_if_they_replay(
    liars: Liars, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that says that equal units differ."""
    liars.install(bitwuzla="unsat")
    monkeypatch.setattr(processes, "answers_of", _here)
    units = [DistinctUnit(row.model, (row,)) for row in map(read_model, _alike(tmp_path))]
    pair = Pair(units[0], units[1], Domain())
    record = without_verdict(pair, "")
    words = {name: {"word": "0x0", "value": "0"} for name in units[0].model.input_formats}
    results = [{"word": "0x0"}, {"word": "0x1"}]
    for planted_one in (
        {"verdict": "distinguished", "inputs": words, "results": results},
        {"verdict": "distinguished", "inputs": words, "results": [{"word": "0x0"}] * 2},
        {"verdict": "distinguished", "inputs": {}, "results": results},
        {"verdict": "distinguished"},
        {"verdict": "sure"},
        {},
    ):
        with verdicts_in(tmp_path / "a.json") as store:
            store.keep(pair.key, {**record, "verdict": "?", "asked": pair.key, **planted_one})
            found = decide_cached([pair], store, SolvingOptions(timeout=20, confirm=False))
        assert found[pair.key]["verdict"] == "equivalent"
        assert "earlier" not in found[pair.key]
