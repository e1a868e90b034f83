"""How many proofs have a certificate, on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from tcsmt.support.text import counted

__all__ = ["say_certified"]


def say_certified(folder: Path | None, records: Iterable[Mapping[str, Any]]) -> None:
    """Say it of records of verdicts, and why the others have none, once for each reason."""
    if folder is None:
        return
    proofs = [record.get("certificate") or {} for record in records if record["verdict"] == "equivalent"]
    certified = sum(bool(one.get("certified")) for one in proofs)
    click.echo(f"--certificate: {certified} of {counted(len(proofs), 'proof')} in {folder}", err=True)
    for why in dict.fromkeys(str(one["reason"]) for one in proofs if "reason" in one):
        click.echo(f"  no certificate: {why}", err=True)
