"""Certificates of programs in files: what they say of the texts is read again, and held against the proof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tcsmt
from tcsmt.interface.api.certificates import summary_of_checks
from tests.support.command_line import done

PROGRAM = """
a_format = "e4m3"
b_format = "e4m3"
nan = "quiet"
program = '''
p = multiply(chain(hopper/mma.m16n8k32.f32.e4m3.e4m3, A·B over K), w[0], f32)
d = convert(absolute({sum}), f16)
'''
[inputs]
w = "f32 A"
bias = "f32"
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """Two programs and the certificate that they are the same, which needs a lemma."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    folder = tmp_path_factory.mktemp("programs")
    names = []
    for name, total in (("plain", "add(p, bias, f32)"), ("turned", "-add(p, bias, f32)")):
        (folder / f"{name}.toml").write_text(PROGRAM.format(sum=total), "utf-8")
        names.append(f"{folder / name}.toml@2")
    options = tcsmt.SolvingOptions(certificate=folder / "proofs", confirm=False)
    assert tcsmt.compare(names[0], names[1], tcsmt.Domain(), options=options).equal
    return names[0], names[1], folder / "proofs"


def test_what_is_checked_is_said_of_the_texts(files: tuple[str, str, Path]) -> None:
    left, right, folder = files
    (checked,) = tcsmt.check_certificate(folder, states=(left, right), domain=tcsmt.Domain())
    assert not checked.flaw and len(checked.lemmas) == 1
    programs = checked.facts.programs
    assert programs is not None and all(name.startswith("programs/") for name in programs.files)
    assert "on inputs that are finite" in str(programs) and str(programs) == checked.as_json()["programs"]
    assert any("code of tcsmt.programs" in line for line in summary_of_checks([checked]))
    assert "programs, as tcsmt reads them" in done("certificate", "show", str(folder))
    for states, domain in (((left, right), None), ((left, left), tcsmt.Domain())):
        with pytest.raises(tcsmt.TcsmtError, match="it says that on inputs that are finite, programs/"):
            tcsmt.check_certificate(folder, states=states, domain=domain)


def _forged(files: tuple[str, str, Path], folder: Path, change: Any) -> Path:
    """Write the certificate again, its statement changed."""
    for path in files[2].rglob("*.*"):
        copy = folder / path.relative_to(files[2])
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (path,) = (folder / "statements").iterdir()
    record = json.loads(path.read_text("utf-8"))
    change(record["statement"]["programs"])
    path.write_text(json.dumps(record), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda programs: programs["domain"].update(finite=False), "the statement is not that"),
        (lambda programs: programs["sides"].pop(), "there are two sides"),
        (lambda programs: programs["sides"][0].update(k=3), "the programs cannot be read|is not that"),
        (lambda programs: programs["sides"][0].update(program="../a.toml"), "is not a program"),
        (
            lambda programs: programs["sides"].__setitem__(0, programs["sides"][1]),
            "the statement is not that",
        ),
        (lambda programs: programs.update(k="2"), "k is a number"),
        (lambda programs: programs.update(more=1), "programs has 'more'"),
    ],
)
def test_forged_programs_are_refused(
    files: tuple[str, str, Path], tmp_path: Path, change: Any, why: str
) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=why):
        tcsmt.check_certificate(_forged(files, tmp_path, change))


def test_a_text_of_another_content_is_refused(files: tuple[str, str, Path], tmp_path: Path) -> None:
    folder = _forged(files, tmp_path, lambda programs: None)
    for path in (folder / "programs").iterdir():
        path.write_text(path.read_text("utf-8").replace("bias, f32)", "v1, f32)"), "utf-8")
    with pytest.raises(tcsmt.TcsmtError, match="its content is not the one that its name says"):
        tcsmt.check_certificate(folder)
