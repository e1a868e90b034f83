"""Which models the committed results are about: those of today, or the file and the unit are named here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pytest
import unit_theorems

from tcsmt.analysis.bounds.split_analysis import SPLITS, name_of
from tcsmt.analysis.sweeps.findings import Effort, entries, table
from tcsmt.analysis.sweeps.reduced import FACTS, key_of, narrow_format
from tcsmt.interface.api.splits import asked_of
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.simulate.rows import run_words
from tcsmt.support.files import uncompressed
from tcsmt.surveys.claims import published
from tcsmt.surveys.papers.variants import one_at_a_time
from tests.support.paths import DATA
from tests.support.results import RESULTS, result
from tests.support.sampling import mostly_long

#: Files of which every record says what it is about.
BY_RECORD = {
    "accuracy": "accuracy/findings",
    "claims": "papers/claims",
    "compare": "comparisons/theorems",
    "identify": "identify/catalogue",
    "reduced": "accuracy/reduced",
    "splits": "accuracy/splits",
}
#: Folders whose files say themselves which units they are about.
STAMPED = ("accuracy", "audits", "benchmarks", "comparisons", "identify", "papers")


def stale(data: Any) -> list[str]:
    """What is named in JSON data, and has another digest now than the data say, or none there."""
    stamped = {name: digest for models in stamps(data) for name, digest in models.items()}
    return [name for name, digest in models_named(data).items() if stamped.get(name) != digest]


def stamps(data: Any) -> Iterator[dict[str, str]]:
    """Each table ``models`` in the data."""
    match data:
        case dict():
            if isinstance(data.get("models"), dict):
                yield data["models"]
            for value in data.values():
                yield from stamps(value)
        case list():
            for value in data:
                yield from stamps(value)


@pytest.mark.slow
def test_units_that_results_name() -> None:
    """A file that names a unit has its digest, and the unit still has it. Many files name the same ones."""
    files = (path for folder in STAMPED for path in (RESULTS / folder).rglob("*.json*"))
    names = {str(uncompressed(path).relative_to(RESULTS).with_suffix("")) for path in files}
    names -= {*BY_RECORD.values(), "accuracy/certified"}
    assert len(names) > 20
    for name in sorted(names):
        data = result(name)
        assert stale(data) == [], f"{name} is stale: made by another model of these, or not stamped"
        for unit, digest in data.get("models", {}).items():
            if unit.startswith("custom/"):
                model = read_model(DATA / f"{unit.partition('/')[2]}.toml").model
                assert model.digest == digest, f"{name}: {unit}"


def accuracy() -> Iterator[tuple[str, Mapping[str, str]]]:
    for task in entries(Effort(SolvingOptions(confirm=True), 1)):
        yield task.key, task.models


def compare(step: int = 1) -> Iterator[tuple[str, Mapping[str, str]]]:
    for entry in islice(unit_theorems.entries(), 0, None, step):
        yield entry.title, entry.models()


def reduced(step: int = 1) -> Iterator[tuple[str, Mapping[str, str]]]:
    for record in islice(result("accuracy/reduced")["entries"].values(), 0, None, step):
        fact, unit, width = FACTS[record["fact"]], record["unit"], record["width"]
        yield key_of(fact, unit, width), fact.digests(unit, narrow_format(width))


def claims() -> Iterator[tuple[str, Mapping[str, str]]]:
    for claim in published():
        sides = {"claimed": claim.model(holds=True), "otherwise": claim.model(holds=False)}
        models = {claim.unit: claim.row.model, **sides}
        yield claim.name, {name: model.digest for name, model in models.items()}


def splits() -> Iterator[tuple[str, Mapping[str, str]]]:
    for one in SPLITS:
        yield name_of(one), {name_of(one): asked_of(one)}


def identify() -> Iterator[tuple[str, Mapping[str, str]]]:
    for record in result("identify/catalogue")["rows"]:
        yield record["model"], {record["model"]: row_named(record["model"]).model.digest}


RECORDS = {
    "accuracy": (accuracy, lambda data: data),
    "compare": (compare, lambda data: {record["question"]: record for record in data}),
    "reduced": (reduced, lambda data: data["entries"]),
    "claims": (claims, lambda data: {record["name"]: record for record in data["claims"]}),
    "splits": (splits, lambda data: {record["split"]: record for record in data["splits"]}),
    "identify": (identify, lambda data: {record["model"]: record for record in data["rows"]}),
}


#: Files with hundreds of records, each of which has models of its own: the default run takes some.
MANY = ("accuracy", "compare", "reduced")


@pytest.mark.slow_cases("claims")
@pytest.mark.parametrize("name", mostly_long([*BY_RECORD], set(BY_RECORD) - set(MANY)))
def test_models_that_records_are_about(name: str) -> None:
    """Each record has the digests of the models of today."""
    now, records = RECORDS[name]
    expected, found = dict(now()), records(result(BY_RECORD[name]))
    assert found
    other = [key for key, record in found.items() if record.get("models", {}) != expected.get(key)]
    assert not other, f"{BY_RECORD[name]} is stale: {len(other)} records, the first: {other[:3]}"


@pytest.mark.parametrize("name", MANY)
@pytest.mark.slow_cases("accuracy", "compare")
def test_models_that_some_records_are_about(name: str) -> None:
    """Of a few in a hundred, and the first of the findings: a changed datapath is seen in all of them."""
    some = {
        "accuracy": lambda: islice(accuracy(), 20),
        "compare": lambda: compare(40),
        "reduced": lambda: reduced(20),
    }
    found = RECORDS[name][1](result(BY_RECORD[name]))
    expected = dict(some[name]())
    shared = expected.keys() & found.keys()
    assert len(shared) >= 10
    other = [key for key in shared if found[key].get("models", {}) != expected[key]]
    assert not other, f"{BY_RECORD[name]} is stale: {len(other)} records, the first: {other[:3]}"


@pytest.mark.slow
@pytest.mark.parametrize("step", mostly_long([1, 10], [10]))
def test_models_that_certificates_are_about(step: int) -> None:
    """Those of the list of theorems have the digests of today, and the index names every file."""
    records = result("certificates/index")["certificates"]
    assert {record["file"] for record in records} == {
        path.name for path in (RESULTS / "certificates" / "statements").glob("*.json")
    }
    found, expected = {record["title"]: record["models"] for record in records}, dict(compare(step))
    shared = found.keys() & expected.keys()
    assert len(shared) >= 5
    other = [title for title in shared if found[title] != expected[title]]
    assert not other, f"{len(other)} certificates are stale, the first: {other[:3]}"


def test_certificates_of_findings() -> None:
    """Each record is about a proof in ``accuracy.json``, and about the same models; the counts are theirs."""
    data, known = result("accuracy/certified"), result("accuracy/findings")
    proofs = {key: one["models"] for key, one in known.items() if one.get("verdict") == "equivalent"}
    found = data["entries"]
    assert (data["proofs"], data["tried"]) == (len(proofs), len(found))
    assert data["certified"] == sum(record["certified"] for record in found.values()) > 0
    other = [key for key, record in found.items() if record["models"] != proofs.get(key)]
    assert not other, f"accuracy/certified is stale: {len(other)} records, the first: {other[:3]}"
    assert all(bool(record.get("reason")) != record["certified"] for record in found.values())


def test_the_table_of_findings_is_made_from_the_file() -> None:
    """Every comparison and every bound of the file has its row, and every unknown is named."""
    known = result("accuracy/findings")
    text = table(known)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    found = [one for one in known.values() if "algorithms" in one or one.get("proved") is not None]
    assert len(rows) == len(found) + 2
    unknown = [entry for entry in known.values() if entry.get("verdict") == "unknown"]
    assert text.count("\nunknown: ") == len(unknown)


def test_variants_are_those_of_today() -> None:
    assert result("accuracy/variants")["models"] == {n: model.digest for n, model in one_at_a_time().items()}


def test_a_changed_unit_is_named() -> None:
    """As where a row has another model now, or a result names a unit without saying which model it was."""
    name = "volta/mma.m8n8k4.f32.f16.f16.f32"
    data = {"unit": name, "arch": "volta"}
    models = models_named(data)
    assert [*models] == ["volta", name]
    assert stale({**data, "models": models}) == []
    assert stale({"records": [data, {"models": models}]}) == []
    assert stale(data) == ["volta", name]
    assert stale({**data, "models": {**models, name: "0" * 32}}) == [name]
    assert models["volta"] != models_named("hopper")["hopper"]


@pytest.mark.parametrize("place", mostly_long(range(4), [0]))
def test_inputs_that_separate_chained_units(place: int) -> None:
    """Each class gives its word, instruction after instruction; proved classes are never separated."""
    group = result("comparisons/chained")["groups"][place]
    records = [record for domain in group["domains"] for record in domain["separating"]]
    assert len(records) >= len(group["classes"])
    for number, names in enumerate(group["classes"]):
        model = row_named(names[0]).model
        formats = model.operand_formats.named

        def column(name: str, formats: Any = formats) -> Any:
            words = [int(record["inputs"].get(name, "0"), 16) for record in records]
            return np.array(words, dtype=unsigned(formats[name[0]]))

        c = column("c")
        for start in range(0, group["k"], model.k):
            lanes = range(start, start + model.k)
            a, b = (np.stack([column(f"{side}{lane}") for lane in lanes], axis=-1) for side in "ab")
            c = run_words(model, Operands(a, b, c, None, None))
        assert [int(word) for word in c] == [int(record["words"][number], 16) for record in records]
    for domain in group["domains"]:
        for record in domain["separating"]:
            for equal in domain["equal"]:
                assert len({record["words"][number] for number in equal}) == 1
