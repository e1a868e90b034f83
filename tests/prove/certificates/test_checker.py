"""Certificates as they are written are proved; a certificate that was tampered with is refused."""

from __future__ import annotations

import json
import lzma
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tcsmt.prove.certificates import InvalidProof, check_certificate, check_statement, lemma_files
from tcsmt.prove.certificates.description import described
from tcsmt.prove.certificates.files import opened, record_of
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.theorems import Theorem
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import edited, flaws, only, repacked, statement_path, with_model

CARRY, ZERO, NAN, CHAIN = "2 carry bits against", "zero exponent", "a NaN stays", "chain with"


def refused(folder: Path) -> str:
    """Why something is not proved; an error for what cannot be read counts, any other does not."""
    try:
        found = [flaw for flaw in flaws(folder) if flaw]
    except TcsmtError as error:
        return str(error)
    return "; ".join(found)


def titles(folder: Path) -> list[str]:
    return [one.title for one in check_certificate(folder)]


@pytest.mark.slow
def test_certificates_as_written_are_proved(certificates: Path) -> None:
    found = list(check_certificate(certificates))
    assert [one.flaw for one in found] == [""] * 4
    assert all(one.lemmas for one in found)
    names = {path.name.partition(".")[0] for path in (certificates / "lemmas").iterdir()}
    assert names == {name for one in found for name in one.lemmas}


def starts(folder: Path) -> list[str]:
    return [path.stem for path in sorted((folder / "statements").glob("*.json"))]


# --- the files ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_flipped_bits_are_refused_or_leave_the_statement(certificates: Path, tmp_path: Path) -> None:
    """Each file once or more, at random places: refused, or what is proved is the same statement."""
    rng = random.Random(4)
    statement = only(certificates, tmp_path / "c", CARRY)
    goal = opened(statement, record_of(statement))[0].goal
    for path in sorted((tmp_path / "c").rglob("*.*")):
        content = path.read_bytes()
        count = 60 if path.suffix == ".json" else 12
        for _ in range(count):
            at = rng.randrange(8 * len(content))
            changed = bytearray(content)
            changed[at // 8] ^= 1 << at % 8
            path.write_bytes(changed)
            if refused(tmp_path / "c"):
                continue
            assert path.suffix != ".xz" or lzma.decompress(bytes(changed)) == lzma.decompress(content)
            found = opened(statement, record_of(statement))[0].goal
            assert found is goal, (path, at)  # a comment, a title
        path.write_bytes(content)
    assert not refused(tmp_path / "c")


def test_missing_files_are_refused(certificates: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    only(certificates, folder, CARRY)
    for path in sorted(folder.rglob("*.*")):
        moved = path.rename(tmp_path / "away")
        assert refused(folder), path
        path.mkdir()
        assert refused(folder), path
        path.rmdir()
        path.symlink_to(tmp_path / "nowhere")
        assert refused(folder), path
        path.unlink()
        moved.rename(path)
    assert not refused(folder)


def test_failures_without_a_reason_are_flaws_too(certificates: Path, tmp_path: Path) -> None:
    """An empty flaw would say that the statement is proved."""

    class Unproved(Theorem):
        def check(self, values: Mapping[str, Any], files: LemmaFiles) -> Sequence[str]:
            raise InvalidProof("")

    path = only(certificates, tmp_path / "c", NAN)
    edited(path, lambda record: (record.pop("terms"), record.pop("proof")))
    edited(path, lambda record: record.update(statement={"about": "a kind", "title": "t"}))
    assert check_statement(path, theorems={"a kind": Unproved("it holds", "words", {})}).flaw


def test_no_certificate(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="not a certificate"):
        list(check_certificate(tmp_path))
    (tmp_path / "statements").mkdir()
    with pytest.raises(TcsmtError, match="not a certificate"):
        list(check_certificate(tmp_path))


@pytest.mark.slow
def test_files_of_other_lemmas(certificates: Path, tmp_path: Path) -> None:
    """Another lemma's clauses, refutation or formula under this one's name."""
    folder = tmp_path / "c"
    only(certificates, folder, ZERO)
    used = next(check_certificate(folder)).lemmas
    for name in used[:3]:
        other = used[3]
        for suffixes in (("cnf",), ("smt2",), ("lrat",), ("cnf", "lrat"), ("cnf", "lrat", "smt2")):
            for suffix in suffixes:
                path = folder / "lemmas" / f"{name}.{suffix}.xz"
                shutil.copy(folder / "lemmas" / f"{other}.{suffix}.xz", path)
            assert refused(folder), suffixes
            for suffix in suffixes:
                path = folder / "lemmas" / f"{name}.{suffix}.xz"
                shutil.copy(certificates / "lemmas" / path.name, path)
    assert not refused(folder)


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "clauses: one more": ("cnf", lambda text: text + "1 0\n"),
    "clauses: the last is dropped": ("cnf", lambda text: text[: text.rindex("\n", 0, -1) + 1]),
    "clauses: another header": ("cnf", lambda text: text.replace("p cnf ", "p cnf 1", 1)),
    "clauses: empty": ("cnf", lambda text: ""),
    "formula: another comment": ("smt2", lambda text: "; \n" + text),
    "refutation: the first line is dropped": ("lrat", lambda text: text.partition("\n")[2]),
    "refutation: the last line is dropped": ("lrat", lambda text: text[: text.rindex("\n", 0, -1) + 1]),
    "refutation: empty": ("lrat", lambda text: ""),
    "refutation: the empty clause first": ("lrat", lambda text: "9999999 0 1 0\n" + text),
    "refutation: not ASCII": ("lrat", lambda text: "é" + text),
    "refutation: a zero byte": ("lrat", lambda text: "\0" + text),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changed_lemmas_are_refused(certificates: Path, tmp_path: Path, what: str) -> None:
    suffix, change = CHANGES[what]
    only(certificates, tmp_path / "c", CARRY)
    (one,) = check_certificate(tmp_path / "c")
    repacked(tmp_path / "c" / "lemmas" / f"{one.lemmas[0]}.{suffix}.xz", change)
    assert refused(tmp_path / "c")


def test_each_line_of_a_refutation_is_needed(certificates: Path, tmp_path: Path) -> None:
    """Without one of them, or with a hint changed, it is none."""
    only(certificates, tmp_path / "c", CARRY)
    (one,) = check_certificate(tmp_path / "c")
    path = tmp_path / "c" / "lemmas" / f"{one.lemmas[0]}.lrat.xz"
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    rng = random.Random(1)
    for place in rng.sample(range(len(lines)), min(6, len(lines))):
        left = [*lines[:place], *lines[place + 1 :]]
        path.write_bytes(lzma.compress("\n".join(left).encode()))
        assert refused(tmp_path / "c"), lines[place]
        words = lines[place].split()
        del words[-2]  # its last hint
        left = [*lines[:place], " ".join(words), *lines[place + 1 :]]
        path.write_bytes(lzma.compress("\n".join(left).encode()))
        assert refused(tmp_path / "c"), lines[place]


@pytest.mark.slow
def test_files_that_unpack_to_too_much_are_refused(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refutation of more than the limit; a formula longer than the one that is expected."""
    only(certificates, tmp_path / "c", CARRY)
    (one,) = check_certificate(tmp_path / "c")
    monkeypatch.setattr(lemma_files, "_MOST", 1 << 16)
    lrat, cnf = (tmp_path / "c" / "lemmas" / f"{one.lemmas[0]}.{suffix}.xz" for suffix in ("lrat", "cnf"))
    content = lrat.read_bytes()
    lrat.write_bytes(lzma.compress(b" " * (1 << 24)))
    assert "more than" in refused(tmp_path / "c")
    lrat.write_bytes(content)
    repacked(cnf, lambda text: text + " " * (1 << 24))
    assert "more than" in refused(tmp_path / "c")


def test_another_models_file(certificates: Path, tmp_path: Path) -> None:
    """Files swapped, replaced by one another, or changed by one parameter."""
    path = only(certificates, tmp_path / "c", ZERO)
    one, two = (
        tmp_path / "c" / "models" / call["model"]
        for call in json.loads(path.read_text())["statement"]["calls"]
    )
    texts = one.read_text(), two.read_text()
    fraction = texts[0].replace("fraction_bits = 10", "fraction_bits = 11", 1)
    zero = texts[1].replace("zero_exponent = -132", "zero_exponent = none", 1).replace("= none", '= "none"')
    for new in (
        (fraction, texts[1]), (texts[0], zero), (texts[0], texts[1].replace("k = 2", "k = 3")),
        (texts[0], ""), (texts[0], texts[1].replace("kind =", "kinds =")), (texts[0], "\0"),
    ):  # fmt: skip
        assert new != texts
        one, two = with_model(one, new[0]), with_model(two, new[1])
        assert refused(tmp_path / "c")
    # a true statement may be another one, and then that is what is said
    with_model(two, texts[0])
    with_model(one, texts[0])
    said = described(tmp_path / "c")[0] if not refused(tmp_path / "c") else None
    assert said is None or "as model 1;" in said.stated.models[1]


@pytest.mark.parametrize("name", ["../models/00.toml", "/etc/passwd", "00.toml\n", "", 5, None, ["00.toml"]])
def test_names_of_models(certificates: Path, tmp_path: Path, name: object) -> None:
    path = only(certificates, tmp_path / "c", CARRY)
    edited(path, lambda record: record["statement"]["calls"][0].update(model=name))
    assert refused(tmp_path / "c")


# --- the statement --------------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], object]
STATEMENTS: dict[str, tuple[str, Change]] = {
    "wider: infinities and NaNs": (ZERO, lambda s: s["domain"].update(finite=False)),
    "another output": (CHAIN, lambda s: s.update(differ=[0, 3])),
    "calls that there are not": (CARRY, lambda s: s.update(differ=[0, 2])),
    "calls from behind": (CARRY, lambda s: s.update(differ=[-2, -1])),
    "calls as fractions": (CARRY, lambda s: s.update(differ=[0.0, 1.0])),
    "calls as truth values": (CARRY, lambda s: s.update(differ=[False, True])),
    "one call": (CARRY, lambda s: s.update(differ=[0])),
    "three calls": (CARRY, lambda s: s.update(differ=[0, 1, 1])),
    "inputs in another order": (CHAIN, lambda s: s.update(inputs=dict(reversed(s["inputs"].items())))),
    "an input more": (CARRY, lambda s: s["inputs"].update(a2="e4m3")),
    "an input of another name": (CARRY, lambda s: s.update(inputs={"x0": "e4m3"} | s["inputs"])),
    "inputs as a list": (CARRY, lambda s: s.update(inputs=list(s["inputs"]))),
    "no input": (CARRY, lambda s: s.update(inputs={})),
    "an input less": (NAN, lambda s: s["inputs"].pop("c")),
    "an input of another width": (NAN, lambda s: s["inputs"].update(c="f32")),
    "no goal": (NAN, lambda s: s.pop("goal")),
    "a word as the goal": (NAN, lambda s: s.update(goal=0)),
    "operands exchanged": (CHAIN, lambda s: s["calls"][1].update(a=s["calls"][1]["a"][::-1])),
    "an operand less": (CARRY, lambda s: s["calls"][1].update(a=s["calls"][1]["a"][1:])),
    "an operand of another width": (CARRY, lambda s: s["calls"][1].update(c=0)),
    "an operand that is none": (CARRY, lambda s: s["calls"][1].update(d=0)),
    "scales of a unit without": (CARRY, lambda s: s["calls"][1].update(scale_a=[0])),
    "a call less": (CARRY, lambda s: s["calls"].pop()),
    "no calls": (CARRY, lambda s: s.update(calls=[])),
    "calls of nothing": (CARRY, lambda s: s.update(calls=[{}])),
    "calls that are text": (CARRY, lambda s: s.update(calls="calls")),
    "no title": (CARRY, lambda s: s.pop("title")),
    "a title of two lines": (CARRY, lambda s: s.update(title="x: proved, 1 lemma\nall proved")),
    "a title that moves the cursor": (CARRY, lambda s: s.update(title="x\x1b[2K")),
    "domain: unknown key": (CARRY, lambda s: s["domain"].update(finally_=1)),
    "domain: a list": (CARRY, lambda s: s.update(domain=[])),
    "domain: fractions": (CARRY, lambda s: s["domain"].update(exponents=[0.5, 1.5])),
    "domain: words": (CARRY, lambda s: s["domain"].update(exponents=["a", "b"])),
    "domain: three": (CARRY, lambda s: s["domain"].update(exponents=[1, 2, 3])),
    "domain: infinity": (CARRY, lambda s: s["domain"].update(exponents=[float("-inf"), float("inf")])),
    "domain: a number for a truth value": (CARRY, lambda s: s["domain"].update(finite=1)),
    "domain: something missing": (CARRY, lambda s: s["domain"].pop("finite")),
    "domain: bits none": (CARRY, lambda s: s["domain"].update(bits=[None, None])),
    "also a word": (CARRY, lambda s: s.update(also=[0])),
    "also nowhere": (CARRY, lambda s: s.update(also=[999])),
    "also a number": (CARRY, lambda s: s.update(also=1)),
    "no terms": (CARRY, lambda s: s.update(terms=None)),
}  # fmt: skip


@pytest.mark.parametrize("what", STATEMENTS)
def test_changed_statements_are_refused(certificates: Path, tmp_path: Path, what: str) -> None:
    start, change = STATEMENTS[what]
    path = only(certificates, tmp_path / "c", start)
    edited(path, lambda record: change(record["statement"]))
    assert refused(tmp_path / "c"), what


@pytest.mark.parametrize("version", [0, 2, "1", None, True, 1.0, [1]])
def test_unknown_versions_are_refused(certificates: Path, tmp_path: Path, version: object) -> None:
    path = only(certificates, tmp_path / "c", CARRY)
    edited(path, lambda record: record.update(certificate=version))
    with pytest.raises(TcsmtError, match="version"):
        check_statement(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", "null", "{}", '{"statement": []}', "\xff", "[" * 100_000, "NaN"]
)
def test_files_without_a_statement_are_refused(certificates: Path, tmp_path: Path, text: str) -> None:
    path = only(certificates, tmp_path / "c", CARRY)
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TcsmtError, match="statement"):
        check_statement(path)


# --- the proof ------------------------------------------------------------------------------------------


def last(record: dict[str, Any]) -> dict[str, Any]:
    """The step in which a proof ends."""
    step: dict[str, Any] = record["proof"][-1]
    return step


def unused(steps: Any) -> None:
    """No step uses any fact."""
    for part in steps.values() if isinstance(steps, dict) else steps if isinstance(steps, list) else ():
        unused(part)
    if isinstance(steps, dict) and "using" in steps:
        steps["using"] = []


def first_case(record: dict[str, Any]) -> dict[str, Any]:
    case: dict[str, Any] = last(record)["cases"][0]
    return case


PROOFS: dict[str, tuple[str, Change]] = {
    "none": (CARRY, lambda r: r.pop("proof")),
    "no steps": (CARRY, lambda r: r.update(proof=[])),
    "the first step is dropped": (CARRY, lambda r: r["proof"].pop(0)),
    "the last step is dropped": (CARRY, lambda r: r["proof"].pop()),
    "nothing used": (ZERO, lambda r: unused(r["proof"])),
    "nothing free, another formula": (CARRY, lambda r: r["proof"][0]["proof"][0].update(free=[])),
    "one node less is free": (CARRY, lambda r: r["proof"][0]["proof"][0]["free"].pop()),
    "the replaced node free": (CARRY, lambda r: r["proof"][0]["proof"][0]["free"].append(0)),
    "steps twice": (CARRY, lambda r: r.update(proof=r["proof"] * 2)),
    "a step of another kind": (CARRY, lambda r: r["proof"].insert(0, {"assume": 0})),
    "a step with more": (CARRY, lambda r: r["proof"][-1].update(because=1)),
    "replaced by another": (CARRY, lambda r: r["proof"][0].update(by=0, replace=2)),
    "no case": (ZERO, lambda r: r["proof"][-1]["cases"].clear()),
    "a case is another": (ZERO, lambda r: first_case(r).update(case=first_case(r)["case"] - 1)),
    "no rest": (ZERO, lambda r: r["proof"][-1].pop("otherwise")),
    "an empty rest": (ZERO, lambda r: r["proof"][-1].update(otherwise=[])),
    "the rest proved as the case": (ZERO, lambda r: last(r).update(otherwise=first_case(r)["proof"])),
    "the case proved as the rest": (ZERO, lambda r: first_case(r).update(proof=last(r)["otherwise"])),
    "a step of a case is dropped": (ZERO, lambda r: r["proof"][-1]["cases"][0]["proof"].pop(0)),
    "no terms": (CARRY, lambda r: r.update(terms=[])),
    "terms of nothing": (CARRY, lambda r: r.update(terms=None)),
    "terms in another order": (CARRY, lambda r: r["terms"].reverse()),
    "places below 0": (CARRY, lambda r: r["proof"][0].update(by=-1)),
    "places that are true": (CARRY, lambda r: r["proof"][0].update(by=True)),
    "deep": (CARRY, lambda r: r.update(proof=deep(300))),
    "deeper": (CARRY, lambda r: r.update(proof=deep(440))),
}  # fmt: skip


def deep(levels: int) -> list[Any]:
    proof: list[Any] = [{"using": [], "free": []}]
    for _ in range(levels):
        proof = [{"fact": 2, "proof": proof}, {"using": [], "free": []}]
    return proof


@pytest.mark.parametrize("what", PROOFS)
def test_changed_proofs_are_refused(certificates: Path, tmp_path: Path, what: str) -> None:
    start, change = PROOFS[what]
    path = only(certificates, tmp_path / "c", start)
    edited(path, change)
    assert refused(tmp_path / "c"), what


def test_another_statements_proof(certificates: Path, tmp_path: Path) -> None:
    """Its steps and terms, under this statement."""
    paths = sorted((certificates / "statements").glob("*.json"))
    records = [json.loads(path.read_text()) for path in paths]
    for mine, other in ((one, two) for one in records for two in records if one is not two):
        shutil.copytree(certificates, tmp_path / "c")
        for path in (tmp_path / "c" / "statements").iterdir():
            path.unlink()
        mixed = other | {"statement": mine["statement"]}
        (tmp_path / "c" / "statements" / "mixed.json").write_text(json.dumps(mixed))
        assert refused(tmp_path / "c")
        shutil.rmtree(tmp_path / "c")


def test_two_calls_that_are_one(certificates: Path, tmp_path: Path) -> None:
    """Another statement, and a true one; what is said is that."""
    path = only(certificates, tmp_path / "c", CARRY)

    def change(record: dict[str, Any]) -> None:
        record["statement"]["differ"] = [0, 0]
        record["proof"] = [{"using": [], "free": []}]
        record["terms"] = []

    edited(path, change)
    assert not refused(tmp_path / "c")
    assert "models 1 and 1 give the same word" in described(tmp_path / "c")[0].stated.says


def of_constants(record: dict[str, Any], more: list[dict[str, Any]]) -> None:
    """Both models on constants, and more calls."""
    calls = record["statement"]["calls"]
    for call in calls:
        call.update(a=[0, 0], b=[0, 0], c=1, terms=[])
    calls[0]["terms"] = [["const", 8, "0", []], ["const", 16, "1", []]]
    record["statement"]["calls"] += more
    record.update(proof=[{"using": [], "free": []}], terms=[])


def test_models_of_constants(certificates: Path, tmp_path: Path) -> None:
    """The format of an input is that in which a model takes it: here there is none."""
    path = only(certificates, tmp_path / "c", CARRY)
    edited(path, lambda record: of_constants(record, []))
    assert "models read it: none" in refused(tmp_path / "c")


def test_models_of_constants_beside_one_of_the_inputs(certificates: Path, tmp_path: Path) -> None:
    """True, and no statement about the inputs: what the models are applied to is said."""
    path = only(certificates, tmp_path / "c", CARRY)
    third = dict(json.loads(path.read_text())["statement"]["calls"][0])
    third.update({name: [place + 2 for place in third[name]] for name in "ab"}, c=third["c"] + 2)
    edited(path, lambda record: of_constants(record, [third]))
    assert not refused(tmp_path / "c")
    one, two, _ = described(tmp_path / "c")[0].stated.models
    assert one.endswith("of a0 = 0x0, a1 = 0x0, b0 = 0x0, b1 = 0x0, c = 0x1")
    assert "of a0 = 0x0" in two
    assert described(certificates)[0].stated.models[0].endswith("of the inputs")


# --- anything at all ------------------------------------------------------------------------------------

JUNK: list[Any] = [
    None, True, 0, 1, -1, 2, 7, 1 << 70, 0.5, float("inf"), "", "a0", "f32", "e4m3", "node", "output",
    "zz", [], [0], [0, 1], {}, {"case": 0}, {"using": [], "free": []}, [["const", 1, "1", []]], "00.toml",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, part in items for place in places(part, (*path, key))]


def change_anything(rng: random.Random, record: dict[str, Any]) -> None:
    """Junk for a value, a value from elsewhere, one less or one more."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        found = places(record)
        *way, key = rng.choice(found)
        holder: Any = record
        for one in way:
            holder = holder[one]
        kind = rng.randrange(5)
        if kind == 0:
            holder[key] = rng.choice(JUNK)
        elif kind == 1 and isinstance(holder[key], int):
            holder[key] += rng.choice((-1, 1, 4))
        elif kind == 2:
            *far, last = rng.choice(found)
            other: Any = record
            for one in far:
                other = other[one]
            holder[key] = json.loads(json.dumps(other[last]))
        elif kind == 3:
            del holder[key]
        elif isinstance(holder, list):
            rng.shuffle(holder)


def check_anything(rng: random.Random, path: Path, text: str) -> bool:
    """Whether a changed statement is proved; a goal that is another one is said in other words."""
    folder = path.parent.parent
    path.write_text(text)
    (before,) = described(folder)
    goal = opened(path, record_of(path))[0].goal
    record = json.loads(text)
    change_anything(rng, record)
    path.write_text(json.dumps(record))
    if refused(folder):
        return False
    (now,) = described(folder)
    if opened(path, record_of(path))[0].goal is not goal:
        said = (now.stated.says, now.stated.models, now.stated.inputs)
        assert said != (before.stated.says, before.stated.models, before.stated.inputs), record["statement"]
    return True


@pytest.mark.slow
def test_anything(certificates: Path, tmp_path: Path) -> None:
    """Refused or proved, and nothing else."""
    rng = random.Random(8)
    for number, start in enumerate((CARRY, ZERO, NAN)):
        path = only(certificates, tmp_path / f"c{number}", start)
        text = path.read_text()
        assert 0 < sum(check_anything(rng, path, text) for _ in range(12)) < 8


@pytest.mark.long
def test_anything_at_length(certificates: Path, tmp_path: Path) -> None:
    rng = random.Random(9)
    for number, start in enumerate((CARRY, ZERO, NAN, CHAIN)):
        path = only(certificates, tmp_path / f"c{number}", start)
        text = path.read_text()
        for _ in range(1500):
            check_anything(rng, path, text)


def test_statements_by_themselves(certificates: Path) -> None:
    path = statement_path(certificates, CARRY)
    assert not check_statement(path).flaw
    assert check_statement(path).as_json()["proved"] is True
