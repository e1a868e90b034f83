"""Certificates that somebody made to deceive: what they state is refused, or it is shown, all of it.

Each of them has a proof that is right, of a statement that is weaker than it looks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcsmt.interface.api.certificates import check_certificate
from tcsmt.interface.cli import main
from tcsmt.language.terms import all_of, var
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, Specials
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.certificates import files
from tcsmt.prove.certificates.derivation import Close, check
from tcsmt.prove.certificates.description import described
from tcsmt.prove.certificates.statement import read_statement
from tcsmt.prove.engine.certify import Certificates, written_statement
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference, difference_of_sides
from tcsmt.support.errors import Malformed, TcsmtError
from tests.support.certificates import edited, flaws, only, two_products, with_model

pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")

#: e4m3 with another bias: no number has an exponent from -2 to 2.
TINY = Format(name="e4m3x", exponent_bits=4, fraction_bits=3, bias=100)
CARRY, NAN = "2 carry bits against", "a NaN stays"
TABLE = {"exponent_bits": 4, "fraction_bits": 3, "bias": 100}


def differing() -> tuple[tuple[str, FusedDotAdd], tuple[str, FusedDotAdd]]:
    """Two units that differ on numbers, not on zeros."""
    one, two = two_products(fraction_bits=3), two_products(fraction_bits=10)
    return ("one", one), ("two", two)


def forged(folder: Path, question: Question, change: Mapping[str, Any]) -> Path:
    """The certificate of a question whose goal has no solution, its statement changed afterwards."""
    certificates = Certificates(folder)
    statement = json.loads(json.dumps(written_statement(question, certificates.model)))
    lemmas: list[str] = []
    check(question.goal, (Close(),), lambda formula: lemmas.append(certificates.lemma(formula)))
    record = {"statement": statement | change, "terms": [], "proof": [{"using": [], "free": []}]}
    done = certificates.keep(record, lemmas)
    assert done.path is not None
    return done.path


def with_formats(domain: Domain, fmt: AnyFormat) -> Question:
    """The question of :func:`differing`, the inputs' words read in another format."""
    question = difference("t", *differing())
    formats = {name: fmt if name[0] in "ab" else own for name, own in question.formats.items()}
    return difference_of_sides("t", (question.sides[0], question.sides[1]), formats, domain)


def refused(folder: Path) -> str:
    try:
        (flaw,) = flaws(folder)
    except TcsmtError as error:
        return str(error)
    return flaw


# --- formats and domains ------------------------------------------------------------------------------


@pytest.mark.parametrize("formats", [{"e4m3x": TABLE}, None])
def test_formats_of_the_statements_own(formats: dict[str, Any] | None, tmp_path: Path) -> None:
    """The units differ on every wide domain; in this format, the domain is zeros."""
    question = with_formats(Domain(exponents=(-2, 2), c_zero=True), TINY)
    change = {"inputs": {name: fmt.name for name, fmt in question.formats.items()}}
    forged(tmp_path / "c", question, change | ({"formats": formats} if formats else {}))
    assert "'formats'" in refused(tmp_path / "c") or "a0 is declared as 'e4m3x'" in refused(tmp_path / "c")


@pytest.mark.parametrize("fmt", ["e5m2", "f16", 8, None, "e4m3fnuz", "E4M3"])
def test_another_format_of_that_width(fmt: object, certificates: Path, tmp_path: Path) -> None:
    path = only(certificates, tmp_path / "c", CARRY)
    edited(path, lambda record: record["statement"]["inputs"].update(a0=fmt))
    assert refused(tmp_path / "c")


def test_a_domain_of_zeros_is_said_to_be_one(tmp_path: Path) -> None:
    """The format is the models' own; what it is, and that no number of it lies in the domain, is shown."""
    own = {"a_format": TINY, "b_format": TINY}
    one, two = (two_products(fraction_bits=bits, **own) for bits in (3, 10))
    forged(tmp_path / "c", difference("t", ("", one), ("", two), Domain(exponents=(-2, 2), c_zero=True)), {})
    (found,) = check_certificate(tmp_path / "c")
    assert not found.flaw and found.states is not None
    assert found.states.notes == ("the domain has zeros alone of a0, a1, b0, b1",)
    (text,) = found.states.formats
    assert text.startswith("e4m3x: exponent_bits = 4, fraction_bits = 3, bias = 100, ")
    assert {f"NOTE: {found.states.notes[0]}", f"format {text}"} <= set(found.states.lines())


def test_an_empty_domain_is_said_to_be_empty(tmp_path: Path) -> None:
    """A format without a zero, none of whose numbers has such an exponent."""
    powers = Format(
        name="powers", exponent_bits=4, fraction_bits=0, bias=100, specials=Specials.NONE, signed=False
    )
    head = "1 sort bitvec 4\n2 input 1 a\n3 input 1 b\n4 input 1 c\n"
    texts = ("5 or 1 2 3\n6 output 5 d\n", "5 and 1 2 3\n6 output 5 d\n")
    formats = dict.fromkeys(("a_format", "b_format", "c_format", "d_format"), powers)
    one, two = (("", Circuit(**formats, k=1, btor2=head + text)) for text in texts)
    forged(tmp_path / "c", difference("t", one, two, Domain(exponents=(-2, 2))), {})
    (found,) = check_certificate(tmp_path / "c")
    assert not found.flaw and found.states is not None
    assert found.states.notes == ("THE DOMAIN IS EMPTY: no word of a0, b0, c lies in it",)
    assert found.inhabitant is not None and found.inhabitant.values is None
    assert str(found.inhabitant).startswith("EMPTY: ")


def test_two_models_with_formats_of_one_name(tmp_path: Path) -> None:
    """Which of the two an input has is not said: the widths are the same."""
    one, two = (
        two_products(fraction_bits=bits, a_format=replace(TINY, bias=bias))
        for bits, bias in ((3, 100), (10, 7))
    )
    forged(tmp_path / "c", difference("t", ("", one), ("", two), Domain(exponents=(-2, 2), c_zero=True)), {})
    assert "a0 is declared as 'e4m3x'" in refused(tmp_path / "c")


def test_words_that_a_model_reads_in_another_format(tmp_path: Path) -> None:
    """The domain is that of the first; the second one's format is said."""
    one, two = two_products(), two_products(a_format="e5m2")
    domain = Domain(bits=(1, 1), exponents=(100, 101), c_free=True, c_zero=True)
    forged(tmp_path / "c", difference("t", ("", one), ("", two), domain), {})
    (found,) = check_certificate(tmp_path / "c")
    assert not found.flaw and found.states is not None
    assert "of a0 = a0 read as e5m2, a1 = a1 read as e5m2, b0 = b0, " in found.states.models[1]


# --- assumptions --------------------------------------------------------------------------------------


def hidden(domain: Domain) -> Question:
    """Assumed of the units of :func:`differing`: bit by bit, that their results are the same."""
    one, two = (unit[1].trace.output for unit in differing())
    also = [one[bit].eq(two[bit]) for bit in range(one.width)]
    return difference("hopper is volta", *differing(), domain, also=[all_of(also)])


@pytest.mark.slow
def test_a_large_assumption_is_shown_in_full(tmp_path: Path) -> None:
    path = forged(tmp_path / "c", hidden(Domain()), {})
    (found,) = check_certificate(tmp_path / "c")
    assert not found.flaw and found.states is not None
    assert "a truth value" not in found.states.says
    assert found.states.says.startswith("on inputs that are finite, and (and ")
    text = "\n".join(found.states.lines())
    assert text.count("model 1's 'result'") == text.count("model 2's 'result'") == 16
    (said,) = described(tmp_path / "c")
    assert said.stated.lines() == found.states.lines()
    done = CliRunner().invoke(main, ["certificate", "check", str(tmp_path / "c")])
    assert done.exit_code == 0
    assert done.stdout.startswith("statement 1: proved, ")
    assert '\n  "hopper is volta", in its author\'s words (' in done.stdout
    assert all(f"\n  {line}\n" in done.stdout for line in found.lines())
    done = CliRunner().invoke(main, ["certificate", "check", "--json", str(tmp_path / "c")])
    (one,) = json.loads(done.stdout)["statements"]
    assert one["says"] == found.states.says and one["file"] == path.name


def test_assumptions_that_nothing_satisfies(tmp_path: Path) -> None:
    """No input of those that are tried; a solver says that there is none."""
    zero = var("a0", 8) & 1
    never = (zero * zero).ne(zero) & var("a1", 8).ult(var("b1", 8))
    forged(tmp_path / "c", difference("t", *differing(), Domain(), also=[never]), {})
    (found,) = check_certificate(tmp_path / "c")
    assert not found.flaw and found.inhabitant is not None
    assert found.inhabitant.values is None and found.inhabitant.empty.startswith("bitwuzla")
    assert any(line.startswith("inhabitant: EMPTY: no input satisfies ") for line in found.lines())
    assert found.as_json()["inhabitant"] == {"empty": True, "by": found.inhabitant.empty}


def test_an_assumption_that_an_input_satisfies(tmp_path: Path) -> None:
    also = [var(name, 8).eq(value) for name, value in (("a0", 0), ("b0", 0), ("a1", 0x38), ("b1", 0))]
    forged(tmp_path / "c", difference("t", *differing(), Domain(c_zero=True), also=also), {})
    (found,) = check_certificate(tmp_path / "c")
    assert not found.flaw and found.inhabitant is not None
    assert found.inhabitant.values == {"a0": 0, "a1": 0x38, "b0": 0, "b1": 0, "c": 0}
    assert len(set(found.inhabitant.outputs)) == 1


# --- files --------------------------------------------------------------------------------------------


@pytest.mark.slow_cases('base = "volta"')
@pytest.mark.parametrize("line", [
    'base = "volta"', 'name = "hopper/wgmma"', 'source = "NVIDIA"', 'note = "checked"',
])  # fmt: skip
def test_a_models_file_says_what_the_model_is_and_no_more(
    line: str, certificates: Path, tmp_path: Path
) -> None:
    only(certificates, tmp_path / "c", NAN)
    (model,) = (tmp_path / "c" / "models").glob("*.toml")
    model = with_model(model, f"# a comment\n{model.read_text()}")
    assert not refused(tmp_path / "c")
    with_model(model, f"{line}\n{model.read_text()}")
    assert "is not allowed here" in refused(tmp_path / "c")


@pytest.mark.parametrize("line", [
    "k = 1.0", "k = true", 'k = "1"', "carry_bits = 3.0", "flush_c = 0", 'flush_c = "no"', "rounding = 1",
    "nan = [1]", "order = 0", "zero_exponent = inf", "interleave = nan", "fraction_bits = 1979-05-27",
    'a_format = ["e4m3"]', "n_fma = {}", 'alignment = "rtz "', "group = -1", "k = 0",
    "k = 99999999999999999999",
])  # fmt: skip
def test_odd_values_of_parameters(line: str, certificates: Path, tmp_path: Path) -> None:
    only(certificates, tmp_path / "c", NAN)
    (model,) = (tmp_path / "c" / "models").glob("*.toml")
    name = line.partition(" ")[0]
    text, count = re.subn(rf"^{name} = .*$", line, model.read_text(), flags=re.MULTILINE)
    assert count == 1
    with_model(model, text)
    assert name in refused(tmp_path / "c")


def test_model_files_of_another_content_are_refused(certificates: Path, tmp_path: Path) -> None:
    """A comment is enough: the name says which content it is."""
    only(certificates, tmp_path / "c", NAN)
    (model,) = (tmp_path / "c" / "models").glob("*.toml")
    model.write_text(f"{model.read_text()}# hopper\n")
    assert "its content" in refused(tmp_path / "c")


def test_keys_given_twice_are_refused(certificates: Path, tmp_path: Path) -> None:
    """Python reads the last one, others the first."""
    for old, new in (
        ('"differ": ', '"differ": [0, 0], "differ": '),
        ('"title": ', '"title": "another", "title": '),
        ('"finite": ', '"finite": false, "finite": '),
        ('"proof": ', '"proof": [], "proof": '),
    ):
        path = only(certificates, tmp_path / old[1:4], CARRY)
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        assert "is given twice" in refused(tmp_path / old[1:4])


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_json(text: str, certificates: Path, tmp_path: Path) -> None:
    path = only(certificates, tmp_path / "c", CARRY)
    path.write_text(re.sub(r'"tcsmt": "[^"]*"', f'"tcsmt": {text}', path.read_text()))
    assert f"{text} is not JSON" in refused(tmp_path / "c")


KEYS: dict[str, Callable[[dict[str, Any]], object]] = {
    "of the file": lambda r: r.update(note="proved for all units"),
    "of the statement": lambda r: r["statement"].update(also_holds_for="hopper"),
    "of the statement, beside its goal": lambda r: r["statement"].update(goal=0),
    "of a call": lambda r: r["statement"]["calls"][0].update(unit="hopper"),
    "of the domain": lambda r: r["statement"]["domain"].update(all=True),
}


@pytest.mark.parametrize("what", KEYS)
def test_keys_that_say_nothing(what: str, certificates: Path, tmp_path: Path) -> None:
    path = only(certificates, tmp_path / "c", CARRY)
    edited(path, KEYS[what])
    assert refused(tmp_path / "c")


@pytest.mark.parametrize("name", ["x: 4 bits; y", "a 0", "", "#1", "é", "x\n", "model 1's 'result'"])
def test_names_of_inputs_that_look_like_something_else(name: str, tmp_path: Path) -> None:
    goal = var(name, 4).ult(0)
    assert goal.value == 0
    text = {
        "title": "t", "inputs": {name: 4}, "calls": [], "goal": 2,
        "terms": [["var", 4, name, []], ["const", 4, "3", []], ["ult", 1, None, [0, 1]]],
    }  # fmt: skip
    with pytest.raises(Malformed, match="is not the name of an input"):
        read_statement(text, lambda name: two_products())


def test_inputs_that_no_term_reads_are_refused(tmp_path: Path) -> None:
    text = {
        "title": "t", "inputs": {"x": 4, "hopper": 4}, "calls": [], "goal": 2,
        "terms": [["var", 4, "x", []], ["const", 4, "3", []], ["ult", 1, None, [0, 1]]],
    }  # fmt: skip
    with pytest.raises(Malformed, match="hopper is not an input"):
        read_statement(text, lambda name: two_products())


def test_files_that_are_too_large(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(certificates, tmp_path / "c", NAN)
    largest = max(path.stat().st_size for path in (tmp_path / "c").rglob("*.[jt]*"))
    monkeypatch.setattr(files, "_MOST", largest)
    assert not refused(tmp_path / "c")
    monkeypatch.setattr(files, "_MOST", largest - 1)
    assert "bytes that are allowed" in refused(tmp_path / "c")
