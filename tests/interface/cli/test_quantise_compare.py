"""``tcsmt quantise compare``, and ``tcsmt describe`` of quantisers."""

from __future__ import annotations

import json

from click.testing import CliRunner

from tcsmt.interface.cli import main


def test_compare_and_describe() -> None:
    """The exit code is the answer; near names are told; a row and the list are described."""
    run = CliRunner()
    done = run.invoke(main, ["quantise", "compare", "torchao/to_mx.floor", "te/mxfp8", "--json"])
    assert done.exit_code == 1 and json.loads(done.stdout)["witnesses"][0]["numbers"] == ["15.0"]
    done = run.invoke(main, ["quantise", "compare", "te/mxfp", "te/mxfp8"])
    assert done.exit_code == 2 and "did you mean te/mxfp8" in done.stderr
    help_text = run.invoke(main, ["quantise", "compare", "-h"], prog_name="tcsmt").output
    assert "Usage: tcsmt quantise compare" in help_text
    assert "te/nvfp4: TransformerEngine" in run.invoke(main, ["describe", "te/nvfp4"]).output
    done = run.invoke(main, ["describe", "te/nvfp"])
    assert done.exit_code == 2 and "did you mean te/nvfp4" in done.stderr
    listed = json.loads(run.invoke(main, ["describe", "quantisers", "--json"]).stdout)
    assert len(listed["quantisers"]) > 70
