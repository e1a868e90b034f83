"""``tcsmt certificate``: what checks and reads proofs that were left in a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click

from tcsmt.interface.api.terminal import Exit, TcsmtError, choose, counted, progress_bar
from tcsmt.interface.cli import printing
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.lazy import Lazy
from tcsmt.interface.cli.printing import echo_json

_GROUPS = {
    "Certificates": {
        "check": "Check every proof of a certificate, without any solver.",
        "show": "Show what a certificate states, and how it is proved.",
        "export": "Write the statements of a certificate for other tools.",
        "specified": "Have ACL2 certify that a unit computes what the specification says.",
    },
}


@click.group(
    cls=Lazy, package=__package__, groups=_GROUPS, modules={"certificate": "check show export specified"}
)
def certificate() -> None:
    """Check and read certificates: proofs that `--certificate DIR` has left in a folder.

    \b
    Examples:
      tcsmt certificate check proofs
      tcsmt certificate show proofs
      tcsmt certificate export proofs --as smtlib --output scripts
    """


_FOLDER = click.Path(path_type=Path, file_okay=False)


@declared(
    "certificates.check_certificate", "certified_books.check_with_acl2", path="FOLDER",
    states="A B", only="TEXT", domain="", books=("DIR", _FOLDER),
)  # fmt: skip
@click.option(
    "--with",
    "prover",
    metavar="PROVER",
    help="acl2: have this theorem prover certify each statement.",
)
def check(call: DeclaredCall, prover: str | None, as_json: bool) -> None:
    """Check every proof in FOLDER from its files alone.

    The command builds the models, formulas and clauses again, checks each refutation line by line, and
    checks that the steps lead to the statement. This needs no solver. Below each verdict, it prints all
    that the statement says, made from its content: assumptions, inputs, formats, models with their
    parameters, the rows of the catalogue that these are (by their graphs), and an input that satisfies the
    assumptions. If a few tries find no such input, a solver looks for one, which is then evaluated. The
    title is only what the author wrote, and is shown as a quotation. The last lines say what is trusted,
    and where the models are specified.

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
    from tcsmt.interface.api.asked import Domain
    from tcsmt.interface.api.certificates import Expected, NotStated, checked_in, stating, summary_of_checks

    states, only = call["states"], call["only"]
    if states is None and call["domain"] != Domain(finite=False):
        raise TcsmtError("the options of a domain are about the units of --states, which is not given")
    if prover is not None:
        if states is not None:
            raise TcsmtError("--with does not go with --states")
        _with_prover(choose("prover", prover, ("acl2",)), call, as_json)
    if call["books"] is not None:
        raise TcsmtError("--books goes with --with, which is not given")
    expected = None if states is None else Expected.of(states[0], states[1], call["domain"])
    done = []
    for number, statement in enumerate(checked_in(call["path"], lambda title: only in title), 1):
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


def _with_prover(prover: str, call: DeclaredCall, as_json: bool) -> NoReturn:
    """Each statement as the prover takes it."""
    from tcsmt.interface.api.certified_books import certified_in, summary_of_books

    done = []
    with progress_bar(lines=False) as progress:
        for statement in certified_in(
            call["path"], call["books"], titled=lambda title: call["only"] in title,
            timeout=call["timeout"], progress=progress,
        ):  # fmt: skip
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


@declared("certificates.described_in", folder="FOLDER")
def show(call: DeclaredCall, as_json: bool) -> None:
    """Print what the certificate in FOLDER states, its models, and the steps of each proof.

    Nothing is checked: see `tcsmt certificate check`.

    \b
    Examples:
      tcsmt certificate show proofs
      tcsmt certificate show proofs --json
    """
    statements = call()
    if as_json:
        echo_json({"statements": [statement.as_json() for statement in statements]})
    else:
        click.echo("\n\n".join(map(str, statements)))


@declared("certificate_export.export_certificate", path="FOLDER", language="--as LANGUAGE")
@click.option(
    "--output",
    required=True,
    type=_FOLDER,
    metavar="DIR",
    help="Write the files here, in a folder for each statement.",
)
def export(call: DeclaredCall, output: Path, as_json: bool) -> None:
    """Write the statements of the certificate in FOLDER for other tools.

    As smtlib, each statement is a script that no input satisfies: the inputs, the stages of the models by
    their names, the assumptions, and the negated conclusion. Intermediate results of the proof are defined,
    not assumed. Each lemma is a script of its own, whose variables have telling names. As lean, each
    statement is a theorem of Lean 4 with a proof by bv_decide; Lean has not run it. Nothing is checked.

    As acl2, each statement is a book of that theorem prover, with the units' books and a Makefile;
    `tcsmt certificate check --with acl2 --books DIR` writes them with the refutations that they need.

    \b
    Examples:
      tcsmt certificate export proofs --as smtlib --output scripts
      tcsmt certificate export proofs --as smtlib --output scripts --json
      tcsmt certificate export proofs --as acl2 --output books
    """
    exported = call()
    exported.save(output)
    printing.show(exported, as_json=as_json)


@declared("certified_books.specified_with_acl2", units="", books=("DIR", _FOLDER))
def specified(call: DeclaredCall, as_json: bool) -> None:
    """Have ACL2 certify that UNITS compute what the specification says.

    The specification, results/theorems/acl2/specification.lisp, is one page, written by hand: the truncated
    fused sum over integers and rational numbers, with the parameters as arguments. The theorem: for all
    words, infinities and NaNs included, the unit's function, which is written from its graph, gives the word
    that the specification gives. ACL2 (Debian: acl2, acl2-books, acl2-books-certs) checks it from a lemma for
    each stage. CaDiCaL, which finds the refutations of the lemmas, is not trusted. A unit takes a minute or
    two.

    Exit code: 0 all are certified, 1 one is not, 2 usage error, or a unit for which the specification has
    no parameters.

    \b
    Examples:
      tcsmt certificate specified volta
      tcsmt certificate specified volta h100/mma.m16n8k16.f32.f16 --books books
      tcsmt certificate specified mine.toml --json
    """
    done = []
    from tcsmt.interface.api.certified_books import specified_in
    from tcsmt.interface.api.units import side_of

    rows = [side_of(unit).row for unit in call["units"]]
    for unit in specified_in(rows, call["books"], call["timeout"]):
        done.append(unit)
        if not as_json:
            click.echo(str(unit))
    flawed = sum(bool(unit.flaw) for unit in done)
    if as_json:
        echo_json({"certified": not flawed, "units": [unit.as_json() for unit in done]})
    elif flawed:
        click.echo(f"{flawed} of {counted(len(done), 'unit')} NOT CERTIFIED by acl2")
    else:
        click.echo(f"all certified by acl2: {counted(len(done), 'unit')}")
    sys.exit(Exit.DIFFERS if flawed else Exit.ANSWERED)
