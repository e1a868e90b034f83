"""Small certificates, and changes to their files."""

from __future__ import annotations

import json
import lzma
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.models import FusedDotAdd, Operands
from tcsmt.prove.certificates import check_certificate
from tcsmt.prove.certificates.files import model_name
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.engine.engine import Decision, decide
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference, difference_of_sides
from tcsmt.surveys.properties.investigation import all_terms_zero
from tests.support.questions import unit


def two_products(**changes: Any) -> FusedDotAdd:
    """Volta's sum, of two products of short words: lemmas are the same, and their files small."""
    formats = {"a_format": "e4m3", "b_format": "e4m3", "c_format": "f16", "d_format": "f16"}
    return unit().replace(**formats | {"k": 2, "n_fma": 2, "fraction_bits": 10} | changes)


def carry_bits(first: int = 2) -> Question:
    """One more carry bit makes no difference."""
    models = [(f"{bits} carry bits", two_products(carry_bits=bits)) for bits in (first, first + 1)]
    return difference(" against ".join(name for name, _ in models), models[0], models[1], Domain())


def zero_exponents() -> Question:
    """Proved by cases."""
    models = [(f"zero exponent {zero}", two_products(zero_exponent=zero)) for zero in (-131, -132)]
    title = " against ".join(name for name, _ in models)
    return replace(difference(title, models[0], models[1], Domain()), cases=(all_terms_zero(two_products()),))


def not_about_outputs() -> Question:
    """The result is a NaN where c is one."""
    model = two_products(k=1, n_fma=1)
    trace = model.trace
    nan = decode(model.c_format, trace.c).nan
    goal = nan & ~decode(model.d_format, trace.output).nan
    return Question(
        title="a NaN stays", sides=(ComparedModel("unit", model, trace),), goal=goal, domain=nan,
        formats=model.input_formats,
    )  # fmt: skip


def certified(folder: Path, question: Question) -> Decision:
    """A proof and its certificate. Equal questions are proved once: writing is what tests look at."""
    asked = question.goal, question.cases
    if asked not in _PROVED:
        _PROVED[asked] = decide(question, Solving())
    found = _PROVED[asked]
    return replace(found, question=question, certified=Certificates(folder).add(question, found.derived))


_PROVED: dict[tuple[Term, tuple[Term, ...]], Decision] = {}


def chained() -> Question:
    """Two instructions, one after the other."""
    sides = []
    for bits in (2, 3):
        model, inputs = two_products(carry_bits=bits), two_products(k=4).trace.operands
        first = model.apply(Operands(inputs.a[:2], inputs.b[:2], inputs.c))
        last = model.apply(Operands(inputs.a[2:], inputs.b[2:], first.output))
        trace = replace(
            last, operands=inputs, stages=(*first.stages, *last.stages), calls=(*first.calls, *last.calls)
        )
        sides.append(ComparedModel(f"chain with {bits} carry bits", model, trace))
    one, two = sides
    formats = two_products(k=4).input_formats
    return difference_of_sides("chain with 2 carry bits", (one, two), formats, Domain(c_zero=True))


def made_once(base: Path, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first of pytest's processes makes, and the others use; base: of this process."""
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            half = folder.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            make(half)
            half.rename(folder)
    return folder


def write_all(folder: Path) -> None:
    """Certificates of all kinds in one folder."""
    for question in (carry_bits(), zero_exponents(), not_about_outputs(), chained()):
        found = certified(folder, question)
        assert found.certified is not None, question.title
        assert found.certified.path is not None, found.certified


def statement_path(folder: Path, start: str) -> Path:
    """The file of the statement whose title starts so."""
    (path,) = (folder / "statements").glob(f"{start.replace(' ', '-')}*.json")
    return path


def only(source: Path, folder: Path, start: str) -> Path:
    """A copy with one statement and what it needs, whose file it returns."""
    shutil.copytree(source, folder)
    kept = statement_path(folder, start)
    text = kept.read_text()
    for path in folder.rglob("*.*"):
        name = path.name if path.suffix == ".toml" else path.name.partition(".")[0]
        if path != kept and (path.suffix == ".json" or name not in text):
            path.unlink()
    return kept


def edited(path: Path, change: Callable[[Any], Any]) -> None:
    """The JSON of a statement's file, changed in place."""
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def with_model(model: Path, text: str) -> Path:
    """Another text in a model's file, under the name of that content, also in statements; the new file."""
    folder, new = model.parent.parent, model.with_name(model_name(text.encode()))
    model.unlink()
    new.write_text(text)
    for path in (folder / "statements").glob("*.json"):
        path.write_text(path.read_text().replace(model.name, new.name))
    return new


def repacked(path: Path, change: Callable[[str], str]) -> None:
    """The text in a lemma's file, changed; it must change."""
    text = lzma.decompress(path.read_bytes()).decode()
    new = change(text)
    assert new != text
    path.write_bytes(lzma.compress(new.encode()))


def flaws(folder: Path) -> list[str]:
    """Of each statement why it is not proved."""
    return [one.flaw for one in check_certificate(folder)]
