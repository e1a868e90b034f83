"""``tcsmt accuracy multiply``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from tcsmt.interface.cli import main


def test_files(tmp_path: Path) -> None:
    a, b, d = (str(tmp_path / f"{name}.npy") for name in "abd")
    x = np.array([[1.0, 2.0**-30]])
    np.save(a, x)
    np.save(b, x.T)
    given = ["accuracy", "multiply", "ozaki1-int8", "--unit", "turing", "--a", a, "--b", b]
    done = CliRunner().invoke(main, [*given, "--output", d, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["dtype"] == "float64"
    assert np.load(d) == 1.0
    for wrong, said in (
        (["--output", "d.txt"], "must end in .npy"),
        (["--output", d, "--c", a], "C has shape"),
    ):
        refused = CliRunner().invoke(main, [*given, *wrong])
        assert refused.exit_code == 2
        assert said in refused.output + str(refused.exception)
