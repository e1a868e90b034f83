"""The options that choose which inputs count, and the domain that a command gets of them."""

from __future__ import annotations

from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner

from tcsmt.face.cli.domain import domain_of_algorithm, domain_of_models, exponents_of
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError


def domain_given(decorator: Callable[..., Callable[..., None]], *arguments: str) -> Domain:
    """What a command with these options gets."""
    seen: list[Domain] = []

    @click.command()
    @decorator
    def command(domain: Domain) -> None:
        seen.append(domain)

    done = CliRunner().invoke(command, arguments)
    if isinstance(done.exception, TcsmtError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return seen[0]


@pytest.mark.parametrize(("arguments", "domain"), [
    ([], Domain(finite=False)),
    (["--finite"], Domain()),
    (["--positive", "--c-zero"], Domain(finite=False, positive=True, c_zero=True)),
    (["--exclude-subnormal"], Domain(finite=False, subnormals=False)),
    (["--exponents", "-3:4", "--bits", "5", "7"], Domain(finite=False, exponents=(-3, 4), bits=(5, 7))),
    (["--exponents", "type1", "--c-free"], Domain(finite=False, exponents=(-15, 14), c_free=True)),
])  # fmt: skip
def test_domains_of_models(arguments: list[str], domain: Domain) -> None:
    assert domain_given(domain_of_models, *arguments) == domain


def test_domains_of_algorithms_have_exponents() -> None:
    assert domain_given(domain_of_algorithm) == Domain(exponents=(-15, 14))
    given = domain_given(domain_of_algorithm, "--exponents", "small", "--positive", "--bits", "11", "12")
    assert given == Domain(exponents=(-35, -15), positive=True, bits=(11, 12))


@pytest.mark.parametrize(("text", "said"), [
    ("1:x", "exponents '1:x': expected LOW:HIGH, two integers"), (":", "expected LOW:HIGH"),
    ("type2", "unknown exponents 'type2': did you mean type1"), ("7", "unknown exponents '7'"),
])  # fmt: skip
def test_texts_that_are_not_ranges_are_refused(text: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        exponents_of(text)


def test_c_free_needs_exponents() -> None:
    with pytest.raises(TcsmtError, match="--c-free exempts c from --exponents, which is not given"):
        domain_given(domain_of_models, "--c-free")
