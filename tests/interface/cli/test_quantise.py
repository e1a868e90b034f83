"""``tcsmt quantise``: its files, and the product that ``tcsmt gemm`` makes of them; refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import tcsmt
from tcsmt.interface.cli import main


def test_command_and_the_product_of_its_files(tmp_path: Path) -> None:
    """Values and scales go to ``tcsmt gemm`` as they are; D is the product of what they stand for."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 6)))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    run = CliRunner()

    def path(name: str) -> str:
        return str(tmp_path / f"{name}.npy")

    for side in "ab":
        files = ["--output", path(f"q{side}"), "--scales", path(f"s{side}")]
        done = run.invoke(main, ["quantise", "mxfp8", path(side), "--side", side, *files, "--json"])
        assert done.exit_code == 0, done.output
        facts = json.loads(done.stdout)
        assert facts["scales"]["format"] == "ue8m0" and facts["format"] == "e4m3"
        assert 0.01 < facts["error"] < 0.04
    options = ["gemm", "b200", "--output", path("d")]
    for side in "ab":
        options += [
            f"--{side}",
            path(f"q{side}"),
            f"--{side}-format",
            "e4m3",
            f"--scale-{side}",
            path(f"s{side}"),
        ]
    done = run.invoke(main, options)
    assert done.exit_code == 0, done.output
    left, right = tcsmt.quantise(a, "mxfp8"), tcsmt.quantise(b, "mxfp8", side="b")
    assert left.scales is not None and right.scales is not None
    exact = (left.values.astype(float) * left.scales.astype(float).repeat(32, 1)) @ (
        right.values.astype(float) * right.scales.astype(float).repeat(32, 0)
    )
    assert np.allclose(np.load(tmp_path / "d.npy"), exact, atol=1e-3)

    def refused(*more: str) -> str:
        done = run.invoke(main, ["quantise", *more])
        assert done.exit_code == 2
        return done.output + done.stderr

    assert "has scales: name a file" in refused("mxfp8", path("a"), "--output", path("x"))
    assert "has no scales" in refused("bf16", path("a"), "--output", path("x"), "--scales", path("y"))
    assert "(--output)" in refused("mxfp8", path("a"), "--scales", path("y"))
    assert "must end in .npy" in refused("bf16", path("a"), "--output", str(tmp_path / "x.bin"))
    assert "mxfp8-up" in refused("mxfp7", path("a"))
