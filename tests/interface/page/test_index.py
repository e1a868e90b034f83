"""What a page knows of its units, and what it says of pairs: never more than the results do."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import pytest

from tcsmt.interface.page.index import index_of, known_pairs
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT

RESULTS = ROOT / "results"
A, B = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
LOWER = f"{VOLTA}@zero-126"


def test_units_of_the_index() -> None:
    chosen = [row_named(A), row_named(B), row_named(LOWER)]
    index = index_of(chosen, {A: "1", B: "2", LOWER: "3"}, "#v=1")
    by_name = {name: values for name, *values in index["units"]}
    module, k, types, evidence, status, source, _ = by_name[B]
    assert (module, k, index["types"][types]) == ("2", 16, "f16 f16 f32 → f32")
    assert (evidence, status) == (row_named(B).evidence, "accepted")
    assert row_named(B).source in index["sources"][source]
    assert by_name[LOWER][4] != "accepted" or by_name[LOWER][6]
    assert "h100" in index["names"]["hopper"].lower() and "NVIDIA" in index["names"]["hopper"]


def test_pairs_are_those_of_the_results() -> None:
    """Verdicts and witnesses of the atlas; a certificate where one states the pair, with its domain."""
    named = [row_named(name) for name in (A, B, VOLTA, LOWER)]
    pairs = known_pairs(named, RESULTS)
    atlas = json.loads(lzma.decompress((RESULTS / "comparisons" / "atlas.json.xz").read_bytes()))
    assert pairs["domain"] == atlas["domain"] == "all words"
    records = [record for group in pairs["groups"] for *_, record in group["pairs"]]
    assert [{record["left"], record["right"]} for record in records] == [{A, B}]
    assert records[0]["verdict"] == "distinguished" and records[0]["inputs"]
    (proved,) = [record for group in pairs["groups"] for record in group["proofs"]]
    assert {proved["left"], proved["right"]} == {VOLTA, LOWER} and proved["verdict"] == "equivalent"
    (certificate,) = [one for one in pairs["certificates"] if one["models"][0] != one["models"][1]]
    digests = {pairs["digests"][VOLTA], pairs["digests"][LOWER]}
    assert set(certificate["models"]) == digests and certificate["domain"] == "all words"
    assert (RESULTS / "certificates" / "statements" / certificate["file"]).is_file()


def test_a_verdict_on_another_model_is_left_out(tmp_path: Path) -> None:
    """The row's model has changed since the atlas was made: nothing is said of it."""
    shutil.copytree(RESULTS / "comparisons", tmp_path / "comparisons")
    path = tmp_path / "comparisons" / "atlas.json.xz"
    atlas = json.loads(lzma.decompress(path.read_bytes()))
    atlas["models"][B] = "0" * 32
    path.write_bytes(lzma.compress(json.dumps(atlas).encode()))
    pairs = known_pairs([row_named(A), row_named(B)], tmp_path)
    assert (pairs["groups"], pairs["certificates"]) == ([], [])
    assert [*pairs["digests"]] == [A]


def test_certificates_of_other_orders_say_nothing_of_a_pair() -> None:
    """A sum in another order of its inputs is proved equal, too; that states no pair of units."""
    pairs = known_pairs(rows("hopper", claims=False), RESULTS)
    titles = [one["title"] for one in pairs["certificates"]]
    assert titles and not any("order" in title or "commutative" in title for title in titles)


def test_without_an_atlas(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match="an atlas cannot be read there"):
        known_pairs([row_named(A)], tmp_path)
