"""``tcsmt certificate``: one module for each command, imported when it is used."""

from __future__ import annotations

import click

from tcsmt.face.cli.lazy import Lazy

__all__ = ["certificate"]

_GROUPS = {
    "Certificates": {
        "check": "Check every proof of a certificate, without any solver.",
        "show": "What a certificate states, and how it is proved.",
        "export": "Write the statements of a certificate for other tools.",
        "specified": "Have ACL2 certify that a unit computes what the specification says.",
    },
}


@click.group(cls=Lazy, package=__name__, groups=_GROUPS)
def certificate() -> None:
    """Check and read certificates: proofs that `--certificate DIR` has left in a folder.

    \b
    Examples:
      tcsmt certificate check proofs
      tcsmt certificate show proofs
      tcsmt certificate export proofs --as smtlib --output scripts
    """
