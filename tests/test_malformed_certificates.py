"""Certificates that were changed: what cannot be read as one is an error, a proof that fails is an answer.

No change of any kind is passed over: a folder with a part that cannot be read never counts as proved.
"""

from __future__ import annotations

import copy
import json
import lzma
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcsmt.interface.cli import main
from tcsmt.prove.certificates.files import record_of
from tests.support.certificates import edited, only, repacked
from tests.support.paths import ROOT

#: A statement of each kind: of two models, of a condition, of algorithms' errors.
STATEMENTS = ("zero exponent", "a NaN stays", "comparison")


def copied(certificates: Path, folder: Path, name: str) -> Path:
    """A folder with one statement of this kind, and its file."""
    if name != "comparison":
        return only(certificates, folder, name)
    committed = ROOT / "results" / "certificates"
    paths = (committed / "statements").glob("ootomo*.json")
    path = next(path for path in paths if record_of(path)["statement"].get("about") == name)
    for part in ("statements", "models", "lemmas"):
        (folder / part).mkdir(parents=True)
    record = record_of(path)
    for unit in {*record["statement"]["units"]}:
        shutil.copy(committed / "models" / unit, folder / "models")
    for lemma in record["lemmas"]:
        for file in (committed / "lemmas").glob(f"{lemma}.*"):
            shutil.copy(file, folder / "lemmas")
    return Path(shutil.copy(path, folder / "statements"))


def checked(folder: Path) -> tuple[int, str]:
    """The exit code of ``certificate check``, and what it says last."""
    done = CliRunner().invoke(main, ["certificate", "check", str(folder)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.splitlines()[-1]


def assert_malformed(folder: Path, named: str, about: object = None) -> str:
    """The command ends with 2, and names a file."""
    code, says = checked(folder)
    assert code == 2 and says.startswith("Error: ") and named in says, (code, says, about)
    return says


def places(value: Any, depth: int) -> Iterator[tuple[Any, ...]]:
    """The place of every value of some JSON, down to a depth; of lists, the first and the last one."""
    if depth and isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else sorted({0, len(value) - 1}) * bool(value)
        for key in keys:
            yield (key,)
            yield from ((key, *rest) for rest in places(value[key], depth - 1))


def changed(record: Any, place: tuple[Any, ...], new: Any) -> Any:
    """The JSON with another value at a place; a function is applied to what is there."""
    record = copy.deepcopy(record)
    parent = record
    for key in place[:-1]:
        parent = parent[key]
    if callable(new):
        new(parent, place[-1])
    else:
        parent[place[-1]] = new
    return record


#: A value that belongs nowhere, and how a key goes or comes.
ODD: list[Any] = [1.5, {"odd": 1}]


@pytest.mark.slow
@pytest.mark.parametrize("name", STATEMENTS)
def test_values_of_another_type(name: str, certificates: Path, tmp_path: Path) -> None:
    """In place of every value of a statement's file; of tables, of the first and last entries."""
    path = copied(certificates, tmp_path / "c", name)
    record = record_of(path)
    assert checked(tmp_path / "c")[0] == 0
    for place in places(record, 4):
        for odd in ODD:
            path.write_text(json.dumps(changed(record, place, odd)))
            assert_malformed(tmp_path / "c", path.name, place)


@pytest.mark.slow
@pytest.mark.parametrize("name", STATEMENTS)
def test_keys_that_are_missing_or_unknown(name: str, certificates: Path, tmp_path: Path) -> None:
    path = copied(certificates, tmp_path / "c", name)
    record = record_of(path)
    for place in [(), *places(record, 4)]:
        value = record
        for key in place:
            value = value[key]
        if not isinstance(value, dict):
            continue
        for key in value:
            path.write_text(json.dumps(changed(record, (*place, key), lambda at, last: at.pop(last))))
            assert_malformed(tmp_path / "c", path.name)
        path.write_text(json.dumps(changed(record, (*place, "odd"), 1)))
        assert_malformed(tmp_path / "c", path.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", STATEMENTS[:2])
def test_files_that_end_early(name: str, certificates: Path, tmp_path: Path) -> None:
    """Each file of a certificate, cut anywhere: 2; a refutation between two lines: 1."""
    folder, rng = tmp_path / "c", random.Random(3)
    path = copied(certificates, folder, name)
    record = record_of(path)
    lemma = folder / "lemmas" / record["lemmas"][0]
    (model, *_) = sorted((folder / "models").iterdir())
    for file in (path, model, *(lemma.with_suffix(f".{end}.xz") for end in ("smt2", "cnf", "lrat"))):
        content = file.read_bytes()
        for end in (0, 1, rng.randrange(len(content)), len(content) - 1):
            file.write_bytes(content[:end])
            assert_malformed(folder, file.name)
        file.write_bytes(content)
    assert checked(folder)[0] == 0


@pytest.mark.parametrize("suffix", ["smt2", "cnf", "lrat"])
def test_lemmas_that_cannot_be_read(suffix: str, certificates: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    path = copied(certificates, folder, STATEMENTS[1])
    file = folder / "lemmas" / f"{record_of(path)['lemmas'][0]}.{suffix}.xz"
    content = file.read_bytes()
    text = lzma.decompress(content)
    no_texts = (b"\0", b"words\n", "é\n".encode() + text, text + b"\xff\n")
    for bad in (text, b"", content[:20] + content[21:], content + b"more", *map(lzma.compress, no_texts)):
        file.write_bytes(bad)
        assert_malformed(folder, file.name)
    file.unlink()
    assert "is missing" in assert_malformed(folder, file.name)
    file.mkdir()
    assert_malformed(folder, file.name)


def test_a_lemma_that_nothing_needs_is_read(certificates: Path, tmp_path: Path) -> None:
    """It is listed, so it is looked at."""
    folder = tmp_path / "c"
    path = copied(certificates, folder, STATEMENTS[1])
    extra = "0" * 32
    first = record_of(path)["lemmas"][0]
    for suffix in ("smt2", "cnf", "lrat"):
        shutil.copy(folder / "lemmas" / f"{first}.{suffix}.xz", folder / "lemmas" / f"{extra}.{suffix}.xz")
    edited(path, lambda record: record["lemmas"].append(extra))
    assert checked(folder)[0] == 0
    for suffix in ("smt2", "cnf", "lrat"):
        file = folder / "lemmas" / f"{extra}.{suffix}.xz"
        content = file.read_bytes()
        for bad in (b"", content[:-1], lzma.compress(b"words\n")):
            file.write_bytes(bad)
            assert_malformed(folder, file.name)
        file.write_bytes(content)


@pytest.mark.parametrize("names", [["0" * 31], ["0" * 32], [5], "0" * 32, None, ["../" + "0" * 29]])
def test_lists_of_lemmas(names: object, certificates: Path, tmp_path: Path) -> None:
    path = copied(certificates, tmp_path / "c", STATEMENTS[1])
    edited(path, lambda record: record.update(lemmas=names))
    assert_malformed(tmp_path / "c", path.name)


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None, [1]])
def test_versions(version: object, certificates: Path, tmp_path: Path) -> None:
    path = copied(certificates, tmp_path / "c", STATEMENTS[1])
    edited(path, lambda record: record.update(certificate=version))
    assert "this tcsmt reads version 1" in assert_malformed(tmp_path / "c", path.name)


@pytest.mark.parametrize("name", ["two.txt", "two.JSON", "two", "two.json~", "two.json.xz"])
def test_no_file_of_a_statement_is_passed_over(name: str, certificates: Path, tmp_path: Path) -> None:
    path = copied(certificates, tmp_path / "c", STATEMENTS[1])
    path.with_name(".DS_Store").write_bytes(b"a system's own")
    assert checked(tmp_path / "c")[0] == 0
    path.with_name(name).write_text("{}")
    assert_malformed(tmp_path / "c", name)


@pytest.mark.parametrize("order", ["a-before.json", "z-after.json"])
def test_one_bad_file_among_good_ones(order: str, certificates: Path, tmp_path: Path) -> None:
    """What is proved beside it does not count."""
    path = copied(certificates, tmp_path / "c", STATEMENTS[1])
    path.with_name(order).write_text(path.read_text()[:-9])
    assert_malformed(tmp_path / "c", order)


def of_lemma(suffix: str, change: Callable[[str], str]) -> Callable[[Path, Path], object]:
    return lambda folder, path: repacked(
        folder / "lemmas" / f"{record_of(path)['lemmas'][0]}.{suffix}.xz", change
    )


def swap(suffix: str) -> Callable[[Path, Path], object]:
    def swapped(folder: Path, path: Path) -> None:
        one, two, *_ = (folder / "lemmas" / f"{name}.{suffix}.xz" for name in record_of(path)["lemmas"])
        one.write_bytes(two.read_bytes())

    return swapped


def forget(folder: Path, path: Path) -> None:
    """Neither listed nor there."""
    name = record_of(path)["lemmas"][0]
    edited(path, lambda record: record["lemmas"].remove(name))
    for file in (folder / "lemmas").glob(f"{name}.*"):
        file.unlink()


def without_facts(record: Any) -> None:
    record["proof"][-1] = {"using": [], "free": []}
    del record["proof"][:-1]


#: Certificates that can be read, with proofs of nothing, of something else, or with gaps.
WRONG: dict[str, Callable[[Path, Path], object]] = {
    "no steps": lambda folder, path: edited(path, lambda record: record.update(proof=[])),
    "no facts": lambda folder, path: edited(path, without_facts),
    "no last step": lambda folder, path: edited(path, lambda record: record["proof"].pop()),
    "a larger domain": lambda folder, path: edited(
        path, lambda record: record["statement"]["domain"].update(finite=False)
    ),
    "refutation: a line less": of_lemma("lrat", lambda text: text.partition("\n")[2]),
    "refutation: the last line": of_lemma("lrat", lambda text: text[: text.rindex("\n", 0, -1) + 1]),
    "refutation: nothing": of_lemma("lrat", lambda text: ""),
    "clauses: one less": of_lemma("cnf", lambda text: text[: text.rindex("\n", 0, -1) + 1]),
    "formula: true": of_lemma("smt2", lambda text: "(set-logic QF_BV)\n(assert true)\n(check-sat)\n"),
    **{f"the {suffix} of another lemma": swap(suffix) for suffix in ("smt2", "cnf", "lrat")},
    "a lemma less": forget,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_proof_that_fails_is_an_answer(what: str, certificates: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    path = copied(certificates, folder, STATEMENTS[0])
    WRONG[what](folder, path)
    code, says = checked(folder)
    assert (code, says) == (1, "1 of 1 statement NOT PROVED"), (code, says)
