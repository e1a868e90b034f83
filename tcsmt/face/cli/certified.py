"""The count of proofs that have a certificate, on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.terminal import counted

__all__ = ["say_certified"]


def say_certified(options: SolvingOptions, records: Iterable[Mapping[str, Any]]) -> None:
    """Say it of records of verdicts, and why the others have none, once for each reason."""
    if options.certificate is None:
        return
    proofs = [record.get("certificate") or {} for record in records if record["verdict"] == "equivalent"]
    certified = sum(bool(proof.get("certified")) for proof in proofs)
    click.echo(
        f"--certificate: {certified} of {counted(len(proofs), 'proof')} in {options.certificate}", err=True
    )
    for why in dict.fromkeys(str(proof["reason"]) for proof in proofs if "reason" in proof):
        click.echo(f"  no certificate: {why}", err=True)
