"""``tcsmt certificate check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click

from tcsmt.face.api.asked import Domain
from tcsmt.face.api.certificate_summary import summary_of_books, summary_of_checks
from tcsmt.face.api.certificates import Expected, NotStated, checked_in, stating
from tcsmt.face.api.certified_books import certified_in
from tcsmt.face.api.terminal import Exit, TcsmtError, choose, counted, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.domain import domain_of_models
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--states",
    nargs=2,
    metavar="A B",
    help="Demand a proved statement that these two units, as `compare` takes them, give the same word for "
    "all words, or on the domain of the options below.",
)
@click.option(
    "--with",
    "prover",
    metavar="PROVER",
    help="acl2: have this theorem prover certify each statement.",
)
@click.option(
    "--books",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="With --with: write the prover's books and refutations here; those that are there are taken.",
)
@click.option("--only", metavar="TEXT", help="Only statements whose title has this text.")
@domain_of_models
@options.as_json
def check(
    folder: Path,
    states: tuple[str, str] | None,
    prover: str | None,
    books: Path | None,
    only: str | None,
    domain: Domain,
    as_json: bool,
) -> None:
    """Check every proof in FOLDER from its files alone.

    Builds the models, formulas and clauses again, checks each refutation line by line, and that the steps
    end in what is stated. No solver is asked for that. Below each verdict stands all that the statement
    says, made from its content: assumptions, inputs, formats, models with their parameters, the rows of the
    catalogue that these are (by their graphs), and an input of which the statement says something. Where a
    few tries find no such input, a solver is asked for one, which is then evaluated. The title is only what
    the author wrote, and is shown as a quotation. At the end stands what is trusted, and where it is
    specified what the models compute.

    With --with acl2, the units, the domain and every lemma are written as a book of ACL2, a theorem prover
    (Debian: acl2, acl2-books, acl2-books-certs), and ACL2 certifies the statement as a theorem about them.

    Exit code: 0 everything is proved (and stated, with --states), 1 something is not, 2 usage error, or a
    part of the certificate that cannot be read as one.

    \b
    Examples:
      tcsmt certificate check proofs
      tcsmt certificate check proofs --json
      tcsmt certificate check proofs --only "carry bits"
      tcsmt certificate check proofs --with acl2
      tcsmt certificate check proofs --states volta/mma.m8n8k4.f32.f16.f16.f32 mine.toml --finite
    """
    if states is None and domain != Domain(finite=False):
        raise TcsmtError("the options of a domain are about the units of --states, which is not given")
    if prover is not None:
        if states is not None:
            raise TcsmtError("--with does not go with --states")
        _with_prover(choose("prover", prover, ("acl2",)), folder, books, only or "", as_json)
    if books is not None:
        raise TcsmtError("--books goes with --with, which is not given")
    expected = None if states is None else Expected.of(*states, domain)
    done = []
    for number, statement in enumerate(checked_in(folder, lambda title: (only or "") in title), 1):
        done.append(statement)
        if not as_json:
            click.echo(f"statement {number}: {statement.verdict}")
            for line in (*statement.lines(), statement.called):
                click.echo(f"  {line}")
    flawed = sum(bool(statement.flaw) for statement in done)
    lemmas = {name for statement in done for name in statement.lemmas}
    stated, missing = [], ""
    if expected is not None:
        try:
            stated = [statement.path.name for statement in stating(done, expected)]
        except NotStated as why:
            missing = str(why)
    if as_json:
        about = (
            {} if expected is None else {"states": {"says": str(expected), "in": stated, "missing": missing}}
        )
        echo_json({"proved": not flawed, **about, "statements": [one.as_json() for one in done]})
    else:
        click.echo("\n".join(["", *summary_of_checks(done)]))
        if flawed:
            click.echo(f"{flawed} of {counted(len(done), 'statement')} NOT PROVED")
        else:
            click.echo(f"all proved: {counted(len(done), 'statement')}, {counted(len(lemmas), 'lemma')}")
        if expected is not None:
            click.echo(f"NOT STATED: {missing}" if missing else f"stated: {expected} ({', '.join(stated)})")
    sys.exit(Exit.DIFFERS if flawed or missing else Exit.ANSWERED)


def _with_prover(prover: str, folder: Path, books: Path | None, only: str, as_json: bool) -> NoReturn:
    """Each statement as the prover takes it."""
    done = []
    with progress_bar(lines=False) as progress:
        for statement in certified_in(folder, books, titled=lambda title: only in title, progress=progress):
            done.append(statement)
            if not as_json:
                click.echo(f"statement {len(done)}: {statement}")
    flawed = sum(bool(statement.flaw) for statement in done)
    if as_json:
        statements = [statement.as_json() for statement in done]
        echo_json({"certified": not flawed, "with": prover, "statements": statements})
    else:
        click.echo("\n".join(["", *summary_of_books(done)]))
        if flawed:
            click.echo(f"{flawed} of {counted(len(done), 'statement')} NOT CERTIFIED by {prover}")
        else:
            click.echo(f"all certified by {prover}: {counted(len(done), 'statement')}")
    sys.exit(Exit.DIFFERS if flawed else Exit.ANSWERED)
