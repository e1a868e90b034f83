"""A session with a prover: here a program that repeats what it is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tcsmt.outside.exports.acl2 import prover
from tcsmt.outside.exports.acl2.prover import Prover, ProverStopped, prover_path
from tcsmt.support.errors import TcsmtError
from tests.support.fake_acl2 import fake_acl2

#: Sleeps at ``(sleep)``, ends at ``(good-bye)``, and forgets what comes after ``(error)``.
REPEATING = """
    '(sleep)') sleep 60 ;;
    '(good-bye)') exit 0 ;;
    '(error)') echo '*** ABORTING from raw Lisp ***'; read -r lost ;;
    *) echo "told $line" ;;
"""


@pytest.fixture
def repeating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fake_acl2(tmp_path, monkeypatch, REPEATING)
    return tmp_path


def test_answers(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session:
        assert session.send("(first)\n(second)", 30).split("\n")[:2] == ["told (first)", "told (second)"]
        assert "told (third)" in session.send("(third)", 30)


def test_the_memory_that_it_has(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session:
        session.send("(first)", 30)
        assert 0 < session.megabytes < 100


def test_an_error_in_lisp(repeating: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ACL2 forgets what it has not read by then: it is asked once more whether it is done."""
    monkeypatch.setattr(prover, "_LOST", 0.1)
    with Prover(repeating, prover_path()) as session:
        assert "ABORTING" in session.send("(error)", 30)
        assert "told (next)" in session.send("(next)", 30)


def test_it_takes_too_long(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session, pytest.raises(ProverStopped, match=r"within 0\.5 s"):
        session.send("(sleep)", 0.5)


def test_it_ends(repeating: Path) -> None:
    with Prover(repeating, prover_path()) as session:
        with pytest.raises(ProverStopped, match="or ended"):
            session.send("(good-bye)", 30)
        with pytest.raises(ProverStopped):
            session.send("(more)", 30)


def test_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        TcsmtError, match="not installed: on Debian it is in the packages acl2, acl2-books and"
    ):
        prover_path()


def test_files_of_the_folder_are_not_run(tmp_path: Path) -> None:
    """Lisp runs ``init.lsp``, and ACL2 its own such file, of the folder in which they start."""
    if shutil.which("acl2") is None:
        pytest.skip("ACL2 is not installed (Debian: acl2)")
    for name in ("init.lsp", "acl2-init.lsp", "acl2-customization.lsp", ".acl2rc"):
        (tmp_path / name).write_text('(sys-call "touch" (list "ran"))\n(si::system "touch ran")\n')
    with Prover(tmp_path, Path(prover_path())) as session:
        assert str(tmp_path) in session.send("(cbd)", 60)
        start = session.start
        assert not [*tmp_path.glob("ran"), *start.iterdir()]
    assert not start.exists()


def test_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ACL2 stops where its home is no folder; it gets an empty one, so that no file of a user's is run."""
    fake_acl2(tmp_path, monkeypatch, '*home*) ls -a "$HOME" | wc -l ;;')
    monkeypatch.setenv("HOME", "/dev/null")
    with Prover(tmp_path, Path(prover_path())) as prover:
        assert prover.send("home", 60).split() == ["2"]


def test_a_folder_with_another_name(repeating: Path) -> None:
    """A quotation mark in it ends no text of Lisp."""
    folder = repeating / 'a")(sys-call "touch" (list "b\\'
    folder.mkdir()
    with Prover(folder, Path(prover_path())) as session:
        assert "told (first)" in session.send("(first)", 30)
