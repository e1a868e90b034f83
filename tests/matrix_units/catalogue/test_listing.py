"""The catalogue as Markdown tables."""

from __future__ import annotations

from click.testing import CliRunner

from tcsmt.face.cli import main
from tcsmt.matrix_units.catalogue import rows


def test_the_markdown_table_lists_units_and_claims() -> None:
    """``tcsmt models --markdown``: the units, then the claims."""
    done = CliRunner().invoke(main, ["models", "--markdown"])
    assert done.exit_code == 0
    units, claims = done.stdout.split("\n\n")
    assert (
        "| volta | `mma.m8n8k4` | f16 → f32 | 4 | 4 | 23 | -131 | fused | measured: v100_f16_f32 |" in units
    )
    assert claims.count("\n| `") == sum("@" in row.instruction for row in rows())
