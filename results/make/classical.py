"""Units that classical probes cannot tell from their neighbours, and that `identify` does.

For each row: every hypothesis that differs from it in one parameter and answers some question of a pool
otherwise, but gives each classical probe (MMA-Sim's tree, precision, rounding and special values) the
same answers. Writes results/identify/classical.json. Usage: python results/make/classical.py ROW...
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.classical import black_box, profile
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.kinds import FusedHypotheses
from tcsmt.identification.units.search import Identification
from tcsmt.identification.units.vectors import mixed
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.files import replace_text

RESULTS = Path("results/identify/classical.json")


def blind(name: str) -> dict[str, Any]:
    """The neighbours with the row's profile that are other units, and the first one identified."""
    model = row_named(name).model
    family = FusedHypotheses(model.a_format, model.b_format, model.c_format, model.d_format, model.k)
    row = family.row(model)
    assert row is not None
    near = family.one_column_apart(row)
    pool = mixed(family, np.random.default_rng(1), 3000, np.stack([row, *near]))
    words = predictions(family, np.stack([row, *near]), pool)
    other = np.flatnonzero((words[1:] != words[0]).any(axis=1))
    own = profile(black_box(model))
    same = [i for i in other if profile(black_box(family.model(near[i]))) == own]
    truth = model.as_json()
    changes = []
    for i in same:
        changed = family.model(near[i]).as_json()
        changes.append({key: changed[key] for key in changed if key != "nan" and changed[key] != truth[key]})
    identified = []
    for place in same[:: max(1, len(same) // 2)][:2]:
        unit = family.model(near[place])
        found = Identification([family], model_box(unit), options=SolvingOptions(timeout=3)).run()
        right = bool((found.left.of(family) == near[place]).all(axis=1).any())
        identified.append(
            {"changed": changes[same.index(place)], "verdict": found.verdict, "right": right,
             "questions": len(found.exchanges)}
        )  # fmt: skip
    return {
        "model": name, "neighbours": len(near), "other_units": len(other), "same_profile": len(same),
        "not_seen": changes, "identified": identified,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW")
    names = parser.parse_args().rows
    found = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    for name in names:
        found = [one for one in found if one["model"] != name] + [blind(name)]
        data = {
            "command": "results/make/classical.py", "seed": 1, "models": models_named(found), "rows": found
        }  # fmt: skip
        replace_text(RESULTS, json.dumps(data, indent=1) + "\n")
        print({key: found[-1][key] for key in ("model", "other_units", "same_profile", "identified")})


if __name__ == "__main__":
    main()
