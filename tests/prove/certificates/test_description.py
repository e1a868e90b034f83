"""What is said of a certificate is what it proves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tcsmt.language.terms import var
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.certificates.description import described
from tcsmt.prove.engine.engine import compare_models
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.support.errors import TcsmtError
from tests.support.certificates import certified, edited, only, two_products


def test_statements_models_and_steps(certificates: Path) -> None:
    found = {one.title: one for one in described(certificates)}
    carry = found["2 carry bits against 3 carry bits"]
    assert carry.stated.says == "on inputs that are finite, models 1 and 2 give the same word, read in f16"
    assert carry.stated.inputs == "a0, a1, b0, b1: e4m3; c: f16"
    assert carry.stated.models[1].endswith("as model 1, but carry_bits = 3; of the inputs")
    assert carry.steps[0] == "model 2's 'sum' is model 1's 'sum'"
    assert carry.steps[-1] == "refuted"
    zero = next(one for title, one in found.items() if title.startswith("zero"))
    assert any("none of these cases" in step for step in zero.steps)
    nan = found["a NaN stays"]
    assert (
        nan.stated.says.startswith("no input satisfies (and (")
        and nan.stated.says.count("model 1's 'result'") == 2
    )
    chain = next(one for title, one in found.items() if title.startswith("chain"))
    assert len(chain.stated.models) == 4
    assert "c = model 1's 'result'" in chain.stated.models[1]
    assert "c = 0" in chain.stated.says
    assert "models 2 and 4" in chain.stated.says
    for one in found.values():
        assert one.as_json()["says"] == one.stated.says
        assert all(
            text in str(one)
            for text in (one.title, one.stated.says, one.stated.inputs, *one.stated.calls, *one.steps)
        )


def test_further_conditions_are_said(tmp_path: Path) -> None:
    """A statement about nothing says so."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    one, two = (("", two_products(carry_bits=bits)) for bits in (2, 3))
    certified(tmp_path / "c", difference("carry", one, two, Domain(), also=(var("a0", 8).ult(5),)))
    assert described(tmp_path / "c")[0].stated.says == (
        "on inputs that are finite, and (ult a0 0x5) holds, models 1 and 2 give the same word, read in f16"
    )


@pytest.mark.slow
def test_converted_inputs_are_said(tmp_path: Path) -> None:
    """The same values in another format, where the alignment is one."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    wide = two_products(k=1, n_fma=1, a_format="bf16", b_format="bf16", c_format="f32", d_format="f32")
    narrow = wide.replace(a_format="f32", b_format="f32")
    solving = Solving(SolvingOptions(certificate=tmp_path / "c"))
    found = compare_models(("one", wide), ("two", narrow), Domain(finite=False), solving)
    if found.certified is None or found.certified.path is None:
        pytest.skip("they are not proved equal")
    (said,) = described(tmp_path / "c")
    assert said.stated.inputs == "a0, b0: bf16; c: f32"
    assert "a0 = a0 in f32" in said.stated.models[1]


def test_no_text_of_the_author_looks_like_a_line_of_ours(tmp_path: Path) -> None:
    """The text of a circuit is not printed, and control characters are escapes."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    head = "1 sort bitvec 8\n2 input 1 a\n3 input 1 b\n4 input 1 c\n"
    texts = ("5 or 1 2 3\n6 output 5 d\n", "5 and 1 -2 -3\n6 output -5 d ; \033[2J\n;  proof:\n")
    formats = dict.fromkeys(("a_format", "b_format", "c_format", "d_format"), "u8")
    one, two = (("", Circuit(**formats, k=1, btor2=head + text)) for text in texts)
    certified(tmp_path / "c", difference("either", one, two, Domain(finite=False)))
    (said,) = described(tmp_path / "c")
    assert "btor2 = a text of 6 lines" in said.stated.models[0]
    assert (
        said.stated.models[1].startswith("models/") and "btor2 = a text of 7 lines" in said.stated.models[1]
    )
    odd = replace(said, stated=replace(said.stated, inputs="a0\n  proof:\r\033[2Jb0"))
    assert str(odd).count("\n") == str(said).count("\n")
    assert "inputs: a0\\n  proof:\\r\\x1b[2Jb0" in str(odd)


def test_unreadable_proofs_are_refused(certificates: Path, tmp_path: Path) -> None:
    path = only(certificates, tmp_path / "c", "2 carry bits")
    edited(path, lambda record: record.update(proof=5))
    with pytest.raises(TcsmtError, match="not a list"):
        described(tmp_path / "c")
