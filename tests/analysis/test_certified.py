"""Certificates of bounds and comparisons: they are checked again, and a changed number is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt import accuracy
from tcsmt.analysis.bounds.lemma_chain import LemmaChain
from tcsmt.analysis.bounds.split_analysis import SPLITS, name_of
from tcsmt.analysis.bounds.split_constants import SplitConstants, kept_goal, prove_split_constants
from tcsmt.analysis.certified import THEOREMS, certify_flaw, certify_split
from tcsmt.analysis.search.compare import AlgorithmPair, judge, proved_never_worse
from tcsmt.analysis.search.result_flaws import FLAWS
from tcsmt.analysis.search.search import random_rows
from tcsmt.language.graphs.digest import digest_of_graph
from tcsmt.language.terms import Term
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.prove.certificates.checker import Checked, check_certificate
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.engine import certify
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.refutations import NotRefuted
from tcsmt.prove.engine.solvers.answer import Answer
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Malformed
from tests.support.certificates import made_once, with_model
from tests.support.sampling import mostly_long, one_in

pytest.importorskip("pysolvers", reason="python-sat is not installed")

SMALL = Domain(exponents=(0, 0), bits=(2, 2), c_zero=True, positive=True)
Made = tuple[Path, str]
#: Algorithm and K: by a budget without lemmas, by the words of a split, by a budget with lemmas.
BOUNDS = {"ieee": ("fp32-fma", 4), "words": ("single-bf16", 2), "fused": ("single-bf16", 4)}


class Goals:
    """The digests of the goals that solvers are asked, and of the formulas whose lemmas are checked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: set[str] = set()
        self.checked: set[str] = set()
        ask, check = Solving.ask, LemmaFiles.check

        def asking(solving: Solving, goal: Term, timeout: float | None = None) -> Answer:
            self.asked.add(digest_of_graph(goal))
            return ask(solving, goal, timeout)

        def checking(files: LemmaFiles, formula: Term) -> str:
            self.checked.add(digest_of_graph(formula))
            return check(files, formula)

        monkeypatch.setattr(Solving, "ask", asking)
        monkeypatch.setattr(LemmaFiles, "check", checking)


@pytest.fixture(scope="module", params=mostly_long(["ieee", "words", "fused"], ["ieee"]))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A certificate of a bound, and the algorithm's name; beside it, what solvers were asked."""
    name, k = BOUNDS[request.param]

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            goals = Goals(patch)
            found = accuracy.bound(
                name, "hopper", k=k, domain=SMALL, search=0.2, options=SolvingOptions(certificate=folder)
            )
        assert found.proved is not None
        about = {"goals": sorted(goals.asked), "k": k, "shares": bool(found.found.shares)}
        (folder / "asked.json").write_text(json.dumps(about))

    return made_once(tmp_path_factory.getbasetemp(), f"bound-{request.param}", make), name


def checked(folder: Path) -> Checked:
    (one,) = check_certificate(folder, THEOREMS)
    return one


def flaw(folder: Path) -> str:
    """Return what is wrong: with the proof, or with a part that cannot be read as one of a certificate."""
    try:
        return checked(folder).flaw
    except Malformed as why:
        return str(why)


def test_a_bound_is_checked_again(made: Made) -> None:
    folder, name = made
    one = checked(folder)
    assert not one.flaw
    assert bool(one.lemmas) == (name != "fp32-fma")
    (path,) = (folder / "statements").glob("*.json")
    assert json.loads(path.read_text())["lemmas"] == list(one.lemmas)


def test_the_bound_is_the_one_that_is_proved(tmp_path: Path) -> None:
    found = accuracy.bound(
        "fp32-fma", "hopper", k=3, domain=SMALL, search=0.2, options=SolvingOptions(certificate=tmp_path)
    )
    assert found.certified is not None
    assert found.certified.path is not None
    assert found.found.proved is not None
    about = json.loads(found.certified.path.read_text())["statement"]
    assert Fraction(about["limit"]) == found.found.proved / 2**24
    assert sum(map(Fraction, about["losses"].values())) == Fraction(about["limit"])


def smaller(text: str) -> str:
    return str(Fraction(text) * Fraction(1023, 1024))


def first_size_smaller(about: dict[str, Any]) -> None:
    sizes = about["constants"][0]["sizes"]
    sizes[0] = smaller(sizes[0])


def first_exponent_smaller(about: dict[str, Any]) -> None:
    exponents = about["constants"][1]["exponents"]
    exponents[0] = smaller(exponents[0])


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "limit": lambda a: a.update(limit=smaller(a["limit"])),
    "limit that is larger": lambda a: a.update(limit=str(Fraction(a["limit"]) * 2)),
    "k": lambda a: a.update(k=8),
    "algorithm": lambda a: a.update(algorithm="markidis"),
    "domain": lambda a: a["domain"].update(exponents=[0, 1]),
    "bits": lambda a: a["domain"].update(bits=[3, 3]),
    "sign": lambda a: a["domain"].update(positive=False),
    "size of a word": first_size_smaller,
    "exponent of a word": first_exponent_smaller,
    "constants of one side alone": lambda a: a["constants"].pop(),
    "a loss": lambda a: a["losses"].update(dict.fromkeys(a["losses"], "1/3")),
    "no losses": lambda a: a.pop("losses"),
    "no constants": lambda a: a.pop("constants"),
    "constants that are no numbers": lambda a: a["constants"][0].update(left="half"),
    "a size below 0": lambda a: a["constants"][0]["sizes"].__setitem__(0, "-1"),
    "a limit below 0": lambda a: a.update(limit="-1"),
    "a limit that is no number": lambda a: a.update(limit="1/0"),
    "c of any exponent": lambda a: a["domain"].update(c_free=True),
    "no exponents": lambda a: a["domain"].update(exponents=None),
    "an algorithm that is no name": lambda a: a.update(algorithm=5),
    "no unit": lambda a: a.pop("unit"),
    "a unit elsewhere": lambda a: a.update(unit="../../secret.toml"),
    "another kind": lambda a: a.update(about="miracle"),
}


#: Changes of the inputs.
INPUTS = ("domain", "bits", "sign")


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_number_is_refused(what: str, made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    (path,) = (folder / "statements").glob("*.json")
    record = json.loads(path.read_text())
    by_losses = {"constants", "losses"} & set(CHANGES[what].__code__.co_consts)
    if by_losses and "constants" not in record["statement"]:
        pytest.skip("this bound has no constants of a split")
    if what in INPUTS and made[1] == "fp32-fma":
        pytest.skip("the bound holds for those inputs, too, by the same sum")
    CHANGES[what](record["statement"])
    path.write_text(json.dumps(record))
    assert flaw(folder)


def test_a_unit_with_another_parameter_is_refused(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    (model,) = (folder / "models").glob("*.toml")
    text = model.read_text()
    changed = text.replace("fraction_bits = 25", "fraction_bits = 13", 1)
    assert changed != text
    with_model(model, changed)
    assert checked(folder).flaw or made[1] == "fp32-fma"  # which does not run on the unit


def test_each_lemma_is_needed(made: Made, tmp_path: Path) -> None:
    for name in checked(made[0]).lemmas[:: 1 + len(checked(made[0]).lemmas) // 4]:
        folder = tmp_path / name
        shutil.copytree(made[0], folder)
        (folder / "lemmas" / f"{name}.lrat.xz").unlink()
        assert flaw(folder)


def test_an_algorithm_is_not_worse_than_itself(tmp_path: Path) -> None:
    """That needs no lemma; that it is not worse than another one does."""
    found = accuracy.compare(
        "markidis",
        "markidis",
        "volta",
        k=1,
        domain=Domain(exponents=(0, 0)),
        options=SolvingOptions(certificate=tmp_path),
    )
    assert found.certified is not None
    assert checked(tmp_path) == replace(checked(tmp_path), flaw="", lemmas=())
    (path,) = (tmp_path / "statements").glob("*.json")
    record = json.loads(path.read_text())
    record["statement"]["two"] = "fp32-fma"
    path.write_text(json.dumps(record))
    assert checked(tmp_path).flaw


@pytest.mark.long
def test_never_worse(tmp_path: Path) -> None:
    """What is proved by lemmas, and with changes that need others."""
    domain = Domain(exponents=(0, 0), bits=(4, 4), c_zero=True)
    names = "ootomo-halfhalf", "markidis"
    found = accuracy.compare(
        *names, "volta", k=1, domain=domain, search=0.2, options=SolvingOptions(certificate=tmp_path)
    )
    assert found.ever_worse is False
    assert found.certified is not None
    assert found.certified.path is not None
    one = checked(tmp_path)
    assert not one.flaw
    path = found.certified.path
    for change in ({"one": "single-bf16"}, {"domain": {"exponents": [0, 0]}}, {"k": 4}):
        record = json.loads(path.read_text())
        record["statement"] |= change
        (tmp_path / "statements" / "changed.json").write_text(json.dumps(record))
        flaws = {c.path.name: c.flaw for c in check_certificate(tmp_path, THEOREMS)}
        assert flaws["changed.json"], change
        assert not flaws[path.name]


# --- goals


@pytest.mark.slow
def test_a_comparison_states_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the files alone, the checker comes to the goals that the command put to solvers, and no others."""
    goals = Goals(monkeypatch)
    found = accuracy.compare(
        "single-bf16",
        "fasi-bf16x2",
        "hopper",
        k=1,
        domain=SMALL,
        search=0.2,
        options=SolvingOptions(certificate=tmp_path),
    )
    assert found.ever_worse is False
    asked = set(goals.asked)
    assert not checked(tmp_path).flaw
    assert goals.checked == asked
    assert len(asked) > 1


def test_a_bound_states_what_was_asked(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, where the solvers were asked in vain, too; what a split keeps they were not asked about."""
    folder, name = made
    if name == "fp32-fma":
        pytest.skip("the bound needs no lemmas")
    asked = json.loads((folder / "asked.json").read_text())
    goals = Goals(monkeypatch)
    assert not checked(folder).flaw
    split = algorithm_named(name, "hopper", asked["k"])[0].split
    alone = replace(SMALL, c_zero=False)
    of_split = digest_of_graph(kept_goal(split, alone, 2, prove_split_constants(split, alone, 2, 1)))
    assert goals.checked - {of_split} <= set(asked["goals"])
    assert len(goals.checked - {of_split}) > 1
    assert (of_split in goals.checked) == asked["shares"]


# --- flaws


ABSENT = ["sign", "monotone"]


@pytest.fixture(scope="module")
def absent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that a flaw is absent: the sign by the words of a split, monotone by parts of the sum."""

    def make(folder: Path) -> None:
        found = accuracy.find(
            request.param,
            "single-bf16",
            "hopper",
            domain=SMALL,
            search=0.2,
            options=SolvingOptions(certificate=folder),
        )
        assert found.certified is not None
        assert found.certified.as_json() == found.as_json()["certificate"]
        assert str(found.certified) in str(found)

    return made_once(tmp_path_factory.getbasetemp(), f"flaw-{request.param}", make)


@pytest.mark.slow
@pytest.mark.parametrize("absent", mostly_long(ABSENT, ["sign"]), indirect=True)
def test_that_a_flaw_is_absent_is_checked_again(absent: Path) -> None:
    one = checked(absent)
    assert not one.flaw
    assert one.lemmas
    (path,) = (absent / "statements").glob("*.json")
    assert json.loads(path.read_text())["lemmas"] == list(one.lemmas)


def other_question(about: dict[str, Any]) -> None:
    about["question"] = "sign" if about["question"] == "monotone" else "monotone"


OF_FLAWS: dict[str, Callable[[dict[str, Any]], object]] = {
    "question": other_question,
    "a question that is not one": lambda a: a.update(question="miracle"),
    "k": lambda a: a.update(k=2),
    "more products than solvers are given": lambda a: a.update(k=8),
    "algorithm": lambda a: a.update(algorithm="fasi-bf16x2"),
    "domain": lambda a: a["domain"].update(exponents=[0, 1]),
    "bits": lambda a: a["domain"].update(bits=[3, 3]),
    "sign": lambda a: a["domain"].update(positive=False),
    "c": lambda a: a["domain"].update(c_zero=False),
    "no exponents": lambda a: a["domain"].update(exponents=None),
    "no unit": lambda a: a.pop("unit"),
}


@pytest.mark.parametrize("absent", mostly_long(ABSENT, ["sign"]), indirect=True)
@pytest.mark.parametrize("what", one_in(3, OF_FLAWS))
@pytest.mark.slow_cases("question-sign")
def test_another_flaw_is_refused(what: str, absent: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(absent, folder)
    (path,) = (folder / "statements").glob("*.json")
    record = json.loads(path.read_text())
    OF_FLAWS[what](record["statement"])
    path.write_text(json.dumps(record))
    assert flaw(folder)


@pytest.mark.parametrize("absent", mostly_long(ABSENT, ["sign"]), indirect=True)
def test_a_flaw_of_another_unit_is_refused(absent: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(absent, folder)
    (model,) = (folder / "models").glob("*.toml")
    text = model.read_text()
    changed = text.replace("fraction_bits = 25", "fraction_bits = 2", 1)
    assert changed != text
    with_model(model, changed)
    assert flaw(folder)


@pytest.mark.parametrize("absent", mostly_long(ABSENT, ["sign"]), indirect=True)
def test_each_lemma_of_a_flaw_is_needed(absent: Path, tmp_path: Path) -> None:
    for name in checked(absent).lemmas:
        folder = tmp_path / name
        shutil.copytree(absent, folder)
        (folder / "lemmas" / f"{name}.lrat.xz").unlink()
        assert "is missing" in flaw(folder)


@pytest.mark.slow
def test_a_flaw_that_is_there_has_no_certificate(tmp_path: Path) -> None:
    found = accuracy.find(
        "sign", "markidis", "hopper", k=2, search=0.5, options=SolvingOptions(certificate=tmp_path)
    )
    assert found.has_flaw
    assert found.certified is None
    assert "certificate" not in found.as_json()
    assert not (tmp_path / "statements").exists()


def test_flaws_whose_lemmas_take_too_long_say_why_they_have_no_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is proved, has no certificate, and says why; no goal is given to the SAT solver twice."""
    asked: list[str] = []

    def refuse(cnf: str, settings: SolvingOptions) -> str:
        asked.append(cnf)
        raise NotRefuted("CaDiCaL: timeout after 60 s")

    monkeypatch.setattr(certify, "refutation", refuse)
    algorithm, row = algorithm_named("single-bf16", "hopper", 1)
    certificates = Certificates(tmp_path)
    for _ in range(2):
        found = certify_flaw(certificates, "sign", FLAWS["sign"]("single-bf16", algorithm, SMALL), row)
        assert found.path is None
        assert str(found).endswith("no result of the wrong sign: CaDiCaL: timeout after 60 s")
    assert len(asked) == len(set(asked))


# --- splits


@pytest.mark.long
def test_certificates_of_splits_are_refused_for_other_splits(tmp_path: Path) -> None:
    split = next(one for one in SPLITS if name_of(one) == "2 x bf16 RTZ")
    made = certify_split(Certificates(tmp_path), split)
    assert made.path is not None, made.why
    assert not checked(tmp_path).flaw
    for name in ("2 x bf16 RNE", "2 x e4m3 RTZ", ""):
        record = json.loads(made.path.read_text())
        record["statement"]["split"] = name
        made.path.write_text(json.dumps(record))
        assert checked(tmp_path).flaw


@pytest.mark.slow
def test_words_that_are_not_the_same_prove_nothing(tmp_path: Path) -> None:
    """All lemmas hold, and no goal is left to ask about: the claim is false, and is refused with a reason."""
    domain = Domain(exponents=(-14, 14), bits=(11, 11), c_zero=True)
    names, k = ("single-f16", "fp32-fma"), 16
    pairs = [algorithm_named(name, "hopper", k) for name in names]
    certificates = Certificates(tmp_path)
    chain = LemmaChain(certificates.lemma)
    pair = AlgorithmPair(names, (pairs[0][0], pairs[1][0]), domain)
    rows = random_rows(domain, pair.wide, k, 200, np.random.default_rng(1))
    some = [
        values for row in range(200) if domain.contains(pairs[0][0].input_formats, values := rows.values(row))
    ]
    assert any(one.worse for one in judge(pair, some))
    assert not proved_never_worse(chain, pair)
    assert chain.names
    about = {
        "about": "comparison", "title": "false", "one": names[0], "two": names[1], "k": k,
        "domain": asdict(domain), "units": [certificates.model(row.model) for _, row in pairs],
    }  # fmt: skip
    certificates.keep({"statement": about}, list(chain.names))
    assert "same words" in checked(tmp_path).flaw


def test_refuted_comparisons_have_no_certificate(tmp_path: Path) -> None:
    found = accuracy.compare(
        "single-f16", "markidis", "volta", k=1, domain=Domain(exponents=(0, 0)), search=0.5,
        options=SolvingOptions(certificate=tmp_path),
    )  # fmt: skip
    assert found.ever_worse
    assert found.certified is None
    assert not (tmp_path / "statements").exists()


def test_negative_constants_are_refused_though_their_lemma_holds(tmp_path: Path) -> None:
    """Its lemma holds, as the negative number is a large word; the bound that follows would be too small."""
    algorithm, row = algorithm_named("single-bf16", "hopper", 4)
    domain = Domain(exponents=(0, 0), bits=(10, 10), c_zero=True, positive=True)
    certificates = Certificates(tmp_path)
    chain = LemmaChain(certificates.lemma)
    false = SplitConstants((Fraction(2),), (Fraction(2),), Fraction(-1))
    assert prove_split_constants(algorithm.split, domain, 10, 1).left > 0
    assert chain.prove("a lemma", kept_goal(algorithm.split, domain, 10, false))
    about = {
        "about": "bound", "title": "false", "algorithm": "single-bf16", "k": 4, "domain": asdict(domain),
        "unit": certificates.model(row.model), "limit": "0", "losses": {},
        "constants": [{"sizes": ["2"], "exponents": ["2"], "left": "-1"}] * 2,
    }  # fmt: skip
    certificates.keep({"statement": about}, list(chain.names))
    assert "below 0" in checked(tmp_path).flaw
