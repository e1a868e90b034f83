"""Write into files of results which models they are about, as the code that wrote them computes it.

Commands stamp what they write. This is for files that older code wrote: the digests must be that code's,
never today's, and a file that names a unit without one is refused. First for a commit, then for its files:

    git worktree add /tmp/then COMMIT
    PYTHONPATH=/tmp/then python results/make/stamp_results.py --print > then.json
    python results/make/stamp_results.py --digests then.json results/comparisons/atlas.json.xz ...

then.json: {"models": {unit: digest}}; and, for files whose records are about models that no row has, by hand,
"records": {"accuracy": {key: {name: digest}}, ...}. What is stamped already stays as it is.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: Where records stand in the files whose records are stamped one by one, and a record's key.
RECORDS: dict[str, tuple[str, Callable[[Any], str] | None]] = {
    "accuracy": ("", None),
    "reduced": ("entries", None),
    "compare": ("", lambda record: str(record["question"])),
    "claims": ("claims", lambda record: str(record["name"])),
    "splits": ("splits", lambda record: str(record["split"])),
    "identify": ("rows", lambda record: str(record["model"])),
}


def digests() -> dict[str, str]:
    """The digest of every row of the tcsmt on the path, whatever its version, by this folder's function."""
    from tcsmt.matrix_units.catalogue import rows

    spec = importlib.util.spec_from_file_location(
        "digest", ROOT / "tcsmt" / "language" / "graphs" / "digest.py"
    )
    if spec is None or spec.loader is None:
        raise FileNotFoundError(ROOT)
    digest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(digest)
    known: dict[Any, str] = {}
    found = {}
    for row in rows():
        model = row.model
        if model not in known:
            words = [f"{name} {fmt.name}" for name, fmt in model.input_formats.items()]
            graph = digest.digest_of_graph(model.trace.output)
            known[model] = digest.digest_of_texts([*words, model.d_format.name, graph])
        found[row.name] = known[model]
    return found


def stamped(path: Path, given: dict[str, Any]) -> str:
    """The file's text with its stamps. Raises KeyError for a unit that has no digest."""
    from tcsmt.language.graphs.digest import digest_of_texts
    from tcsmt.matrix_units.catalogue import rows
    from tcsmt.matrix_units.catalogue.digests import models_named
    from tcsmt.support.checkpoint import Layout

    units, text = given["models"], path.read_text()
    data = json.loads(text)

    def unit(name: str) -> str:
        return (
            units[name]
            if "/" in name
            else digest_of_texts(f"{r.name} {units[r.name]}" for r in rows(name, claims=False))
        )

    if path.stem not in RECORDS:
        if "models" in data:
            return text
        about = {name: unit(name) for name in models_named(data)}
        about |= given.get("records", {}).get(path.stem, {})
        rest = text.removeprefix("{")  # stays as it is, byte for byte
        return f'{{\n "models": {json.dumps(about)},{rest}'
    name, key = RECORDS[path.stem]
    head, records = Layout(name, key).parts(data)
    known = given.get("records", {}).get(path.stem)
    for place, record in records.items():
        if "models" not in record:
            record["models"] = known[place] if known else {record["model"]: unit(record["model"])}
    lines = {place: json.dumps(record, ensure_ascii=False) for place, record in records.items()}
    return Layout(name, key, head=lambda found: head).text(records, lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--print", action="store_true", dest="printed", help="the digests of the code on the path"
    )
    parser.add_argument("--digests", type=Path, help="of the code that wrote the files")
    chosen = parser.parse_args()
    if chosen.printed:
        json.dump({"models": digests()}, sys.stdout, indent=0)
        return
    given = json.loads(chosen.digests.read_text())
    for path in chosen.files:
        path.write_text(stamped(path, given))
        print(f"stamped: {path}")


if __name__ == "__main__":
    main()
