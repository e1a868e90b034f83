"""Certificates of emulations: checked from the files alone; other numbers and other inputs are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tcsmt import accuracy
from tcsmt.analysis.certified import THEOREMS
from tcsmt.analysis.emulation import certified as module
from tcsmt.analysis.emulation.budget import budget
from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.language.terms import Term
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.prove.certificates.checker import Checked, check_certificate
from tcsmt.prove.certificates.description import described
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import InternalError, Malformed
from tests.oracles.emulations import dot
from tests.support.certificates import made_once, with_model
from tests.support.sampling import one_in

pytest.importorskip("pysolvers", reason="python-sat is not installed")

DOMAIN = Domain(exponents=(0, 1), c_zero=True)
K = 4
NAMES = {"slices": "ozaki1-int8,slices=2,bits=2,split=RNE", "residues": "ozaki2-int8,moduli=2,bits=3"}
Made = tuple[Path, str]


def goals(into: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The digests of what solvers are asked."""
    ask = Solving.ask

    def asking(solving: Solving, goal: Term, timeout: float | None = None) -> Answer:
        into.add(digest_of_graph(goal))
        return ask(solving, goal, timeout)

    monkeypatch.setattr(Solving, "ask", asking)


@pytest.fixture(scope="module", params=["slices", pytest.param("residues", marks=pytest.mark.long)])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A certificate, with what solvers were asked beside it; and the emulation's name."""
    name = NAMES[request.param]

    def make(folder: Path) -> None:
        asked: set[str] = set()
        with pytest.MonkeyPatch.context() as patch:
            goals(asked, patch)
            found = accuracy.bound(
                name, "turing", k=K, domain=DOMAIN, search=0.1, options=SolvingOptions(certificate=folder)
            )
        assert found.certified is not None and found.certified.path is not None
        assert found.as_json()["certificate"] == found.certified.as_json()
        (folder / "asked.json").write_text(json.dumps(sorted(asked)))

    return made_once(tmp_path_factory.getbasetemp(), f"emulation-{request.param}", make), name


def checked(folder: Path) -> Checked:
    (one,) = check_certificate(folder, THEOREMS)
    return one


def flaw(folder: Path) -> str:
    """Return what is wrong: with the proof, or with a part that cannot be read as one of a certificate."""
    try:
        return checked(folder).flaw
    except Malformed as why:
        return str(why)


def statement(folder: Path) -> Path:
    (path,) = (folder / "statements").glob("*.json")
    return path


@pytest.mark.slow
def test_the_checker_comes_to_the_goals_that_solvers_were_asked(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: set[str] = set()
    check = LemmaFiles.check

    def checking(files: LemmaFiles, formula: Term) -> str:
        came.add(digest_of_graph(formula))
        return check(files, formula)

    monkeypatch.setattr(LemmaFiles, "check", checking)
    assert not checked(made[0]).flaw
    assert sorted(came) == json.loads((made[0] / "asked.json").read_text())
    assert len(came) >= 5
    (shown,) = described(made[0], THEOREMS)
    assert shown.stated.inputs == "binary64 words"


@pytest.mark.slow
def test_the_bound_holds_where_fractions_say_what_the_error_is(made: Made) -> None:
    """Random numbers of the domain, by an emulation in fractions that shares no code with ours."""
    folder, name = made
    about = json.loads(statement(folder).read_text())["statement"]
    limit, of_largest = Fraction(about["limit"]), Fraction(about["limit of largest"])
    assert limit == sum(map(Fraction, about["losses"].values()))
    emulation, _ = emulation_named(name, "turing")
    rng, worst = Random(16), Fraction(0)

    def number() -> Fraction:
        bits = rng.choice((rng.getrandbits(52), (1 << 52) - 1, 0))
        return Fraction((1 << 52) + bits, 1 << 52) * 2 ** rng.randint(*DOMAIN.exponents or (0, 0))

    for _ in range(16):
        a, b = ([rng.choice((0, 1, -1)) * number() for _ in range(K)] for _ in "ab")
        error = abs(dot(emulation, a, b, Fraction(0)) - sum(x * y for x, y in zip(a, b, strict=True)))
        size = sum(abs(x * y) for x, y in zip(a, b, strict=True))
        assert error <= limit * size
        assert error <= of_largest * K * max(map(abs, a)) * max(map(abs, b))
        worst = max(worst, error / size) if size else worst
    assert limit / 64 < worst


def less(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda a: a.update({name: str(Fraction(a[name]) * Fraction(1023, 1024))})


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "limit": less("limit"),
    "limit of the other kind": less("limit of largest"),
    "a limit that is larger": lambda a: a.update(limit="1000"),
    "a limit that is not a number": lambda a: a.update(limit=None),
    "losses": lambda a: a.update(losses=dict.fromkeys(a["losses"], "0")),
    "no losses": lambda a: a.pop("losses"),
    "k": lambda a: a.update(k=1),
    "no k": lambda a: a.update(k=0),
    "k that is too large": lambda a: a.update(k=1 << 20),
    "exponents": lambda a: a["domain"].update(exponents=[0, 30]),
    "exponents that are not normal": lambda a: a["domain"].update(exponents=[-1074, 0]),
    "c": lambda a: a["domain"].update(c_zero=False),
    "another emulation": lambda a: a.update(algorithm="ozaki1-int8"),
    "an algorithm that is no emulation": lambda a: a.update(algorithm="markidis"),
    "a file": lambda a: a.update(algorithm="mine.toml"),
    "an algorithm that is not a name": lambda a: a.update(algorithm=5),
    "no unit": lambda a: a.pop("unit"),
    "a unit elsewhere": lambda a: a.update(unit="../../secret.toml"),
}


@pytest.mark.parametrize("what", one_in(6, CHANGES))
@pytest.mark.slow_cases("slices-limit")
def test_statements_that_say_more_are_refused(what: str, made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    path = statement(folder)
    record = json.loads(path.read_text())
    CHANGES[what](record["statement"])
    path.write_text(json.dumps(record))
    assert flaw(folder)


def test_a_unit_that_saturates_early_is_refused(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    (model,) = (folder / "models").glob("*.toml")
    text = model.read_text()
    changed = text.replace('"s32"', '"s8"')
    assert changed != text
    with_model(model, changed)
    assert flaw(folder)


@pytest.mark.long
def test_each_lemma_is_needed(made: Made, tmp_path: Path) -> None:
    for name in checked(made[0]).lemmas:
        folder = tmp_path / name
        shutil.copytree(made[0], folder)
        (folder / "lemmas" / f"{name}.lrat.xz").unlink()
        assert "is missing" in flaw(folder)


@pytest.mark.slow
def test_bounds_that_lemmas_do_not_prove_are_not_written(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lemmas come to another bound than the solvers, nothing is written."""
    folder, name = made

    def other(*given: Any) -> Any:
        spent = budget(*given)
        spent.shares["the cut"] = spent.shares.get("the cut", Fraction(0)) + 1
        return spent

    monkeypatch.setattr(module, "budget", other)
    before = sorted(folder.rglob("*"))
    with pytest.raises(InternalError, match="the lemmas prove"):
        accuracy.bound(
            name, "turing", k=K, domain=DOMAIN, search=0.1, options=SolvingOptions(certificate=folder)
        )
    assert sorted(folder.rglob("*")) == before


# --- integers


@pytest.fixture(scope="module")
def integers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that integers up to 3 are multiplied exactly, eight at a time."""
    folder = tmp_path_factory.mktemp("integers")
    found = accuracy.exact(
        "turing",
        algorithm="ozaki1-int8,slices=1,bits=2",
        integers=3,
        k=8,
        search=False,
        options=SolvingOptions(certificate=folder),
    )
    assert found.certified is not None and found.certified.path is not None
    return folder


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, False), ({"k": 4, "integers": 1}, False), ({"algorithm": ""}, False), ({"integers": 4}, True),
        ({"integers": 0}, True), ({"k": 1 << 17}, True), ({"algorithm": "mine.toml"}, True),
        ({"algorithm": "ozaki1-int8,slices=1,bits=3"}, True),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.slow_cases("{'k': 4, 'integers': 1}-False", "{}-False")
def test_integers(change: Mapping[str, Any], refused: bool, integers: Path, tmp_path: Path) -> None:
    """The unit alone sums them, too, by its polynomial, without any lemma."""
    folder = tmp_path / "copy"
    shutil.copytree(integers, folder)
    path = statement(folder)
    record = json.loads(path.read_text())
    record["statement"] |= change
    path.write_text(json.dumps(record))
    assert bool(flaw(folder)) == refused


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        'base = "ozaki1-int8"\nslices = 2\nbits = 2\nproducts = [[0, 0], [1, 0]]\n',
        'base = "ozaki2-int8"\nmoduli = 2\nbits = 3\n',
    ],
)
def test_a_certificate_has_all_of_a_file(text: str, tmp_path: Path) -> None:
    """Its statement names no file, and is checked without it."""
    file = tmp_path / "few.toml"
    file.write_text(text)
    found = accuracy.bound(
        str(file),
        "turing",
        k=K,
        domain=DOMAIN,
        search=0.1,
        options=SolvingOptions(certificate=tmp_path / "proofs"),
    )
    assert found.proved is not None
    assert found.certified is not None
    file.unlink()
    assert not checked(tmp_path / "proofs").flaw
    record = json.loads(statement(tmp_path / "proofs").read_text())["statement"]
    assert record["algorithm"].startswith(text[8:19]) and ".toml" not in record["algorithm"]
