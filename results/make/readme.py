"""``results/README.md``, made from ``results/manifest.toml``: ``python results/make/readme.py``."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1]

HEAD = """# What is in this folder

<!-- made from manifest.toml by results/make/readme.py -->

Every file comes from one command of this repository; `manifest.toml` lists them.
*Code* is the commit whose code wrote it; a file from a commit before `2c1442e` was made before the bounds and
the confirmation of proofs were fixed; the last column says what was proved again since.
The usual machine: {machine}.

A file whose name ends in `.xz` is compressed: `xz -dk FILE` unpacks it, and tcsmt reads it as it is.
"""

TAIL = """
## The programs in make/

They make results again, or check them with other programs; `benchmarks/` only measures.
Each says what it does with `--help`.

## Which models a file is about

Every file says it: `models`, in the file or in each record, has the digest of each model's graph. They were
computed by the code in the column *code*, not by today's (`results/make/stamp_results.py`); commands write
them themselves now. `tests/results/test_models.py` names the file and the unit where the catalogue has
another model. `identify/*_f32.json` name no unit.

## What changed

{changes}
"""

#: The columns of a table.
COLUMNS = ("files", "command", "code", "date", "confirmed since")


def entries() -> dict[str, Any]:
    """The manifest."""
    with (RESULTS / "manifest.toml").open("rb") as file:
        return tomllib.load(file)


def readme(manifest: dict[str, Any]) -> str:
    """The text of README.md: a table for each folder, in the order of the manifest."""
    folders: dict[str, list[str]] = {}
    for entry in manifest["result"]:
        files = ", ".join(f"`{name}`" for name in entry["files"])
        machine = f"; on {entry['machine']}" if "machine" in entry else ""
        cells = (files, entry["command"], entry["commit"], entry["date"] + machine, entry["confirmed"])
        row = " | ".join(cell.replace("|", "\\|") for cell in cells)
        folders.setdefault(entry["files"][0].partition("/")[0], []).append(f"| {row} |")
    lines = [HEAD.format(machine=manifest["usual_machine"])]
    for folder, rows in folders.items():
        lines += [
            f"## {folder}/",
            "",
            "| files | command | code | date | confirmed since |",
            "|---|---|---|---|---|",
        ]
        lines += [*rows, ""]
    return "\n".join(lines).rstrip() + "\n" + TAIL.format(changes="\n\n".join(manifest["changes"]))


def main() -> None:
    """Write README.md."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    (RESULTS / "README.md").write_text(readme(entries()), encoding="utf-8")


if __name__ == "__main__":
    main()
