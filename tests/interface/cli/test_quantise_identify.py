"""``tcsmt quantise identify``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from tcsmt.interface.cli import main


def test_files_of_the_command_beside_it(tmp_path: Path) -> None:
    """What ``tcsmt quantise`` writes is identified; the exit code is the answer."""
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32))
    run, (a, q, s) = CliRunner(), (str(tmp_path / f"{name}.npy") for name in "aqs")
    assert run.invoke(main, ["quantise", "mxfp8", a, "--output", q, "--scales", s]).exit_code == 0
    done = run.invoke(main, ["quantise", "identify", "--x", a, "--codes", q, "--scales", s, "--json"])
    assert done.exit_code == 0 and "torchao/to_mx.floor" in json.loads(done.stdout)["found"]
    done = run.invoke(main, ["quantise", "identify", "--x", a, "--codes", q, "--scales", a])
    assert done.exit_code == 1 and "no quantiser of the catalogue" in done.output
