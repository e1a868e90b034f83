"""``tcsmt certificate export``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.certificate_export import export_certificate
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import show


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--as",
    "language",
    required=True,
    metavar="LANGUAGE",
    help="smtlib (scripts for SMT solvers), lean or acl2.",
)
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the files here, in a folder for each statement.",
)
@options.as_json
def export(folder: Path, language: str, output: Path, as_json: bool) -> None:
    """Write the statements of the certificate in FOLDER for other tools.

    As smtlib, each statement is a script that has no model: the inputs, the stages of the models by their
    names, what is assumed, and what is to differ. What the proof shows on its way is defined, and not
    assumed. Each lemma is a script of its own, whose words are called what they are. As lean, each
    statement is a theorem of Lean 4 by bv_decide, which no Lean has run. Nothing is checked.

    As acl2, each statement is a book of that theorem prover, with the units' books and a Makefile;
    `tcsmt certificate check --with acl2 --books DIR` writes them with the refutations that they need.

    \b
    Examples:
      tcsmt certificate export proofs --as smtlib --output scripts
      tcsmt certificate export proofs --as smtlib --output scripts --json
      tcsmt certificate export proofs --as acl2 --output books
    """
    exported = export_certificate(folder, language)
    exported.save(output)
    show(exported, as_json=as_json)
