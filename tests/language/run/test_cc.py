"""Machine code by the C compiler: what is kept, and what is said without a compiler."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from tcsmt.language.run import cc
from tcsmt.support.errors import TcsmtError

TEXT = "int seven(void) { return 7; } int twice(int x) { return 2 * x; }"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    if not cc.available():
        pytest.skip("cc is not installed")
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    return tmp_path


def called(text: str, name: str, *given: int) -> int:
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int] * len(given))
    return int(function(cc.functions(text, [name])[name])(*given))


def test_functions_can_be_called(kept: Path) -> None:
    addresses = cc.functions(TEXT, ["twice", "seven"])
    assert list(addresses) == ["twice", "seven"] and all(addresses.values())
    assert (called(TEXT, "seven"), called(TEXT, "twice", 21)) == (7, 42)


def test_a_text_is_compiled_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was kept serves without a compiler; another text does not."""
    assert called(TEXT, "twice", 4) == 8
    (entry,) = (path for path in kept.rglob("*") if path.is_file())
    target = cc._target()
    monkeypatch.setattr(cc, "_target", lambda: target)
    monkeypatch.setattr(cc, "_said", lambda *options, source="": pytest.fail("compiled again"))
    assert called(TEXT, "twice", 5) == 10
    monkeypatch.undo()
    monkeypatch.setenv("TCSMT_CACHE", str(kept))
    assert called(TEXT.replace("2 *", "3 *"), "twice", 5) == 15
    assert len([path for path in kept.rglob("*") if path.is_file()]) == 2
    assert entry.is_file()


def test_code_for_another_compiler_is_another(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called(TEXT, "seven") == 7
    monkeypatch.setattr(cc, "_target", lambda: "another compiler")
    assert called(TEXT, "seven") == 7
    assert len([path for path in kept.rglob("*") if path.is_file()]) == 2


def test_a_damaged_entry_is_compiled_again(kept: Path) -> None:
    """The cache notices; nothing of the file is run."""
    assert called(TEXT, "seven") == 7
    (entry,) = (path for path in kept.rglob("*") if path.is_file())
    entry.write_bytes(entry.read_bytes()[:-1] + b"x")
    assert called(TEXT, "seven") == 7


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    cc._target.cache_clear()
    for given, named in (("/no/such/cc -O0", "'/no/such/cc -O0'"), ("", "''")):
        monkeypatch.setenv("CC", given)
        with pytest.raises(
            TcsmtError, match=r"C compiler not found: .* \(set \$CC; the default is cc\)"
        ) as why:
            cc.functions(TEXT, ["seven"])
        assert named in str(why.value)
        assert not cc.available.__wrapped__()
    cc._target.cache_clear()


def test_a_text_that_is_no_c(kept: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as why:
        cc.functions("int seven(", ["seven"])
    assert "error" in why.value.stderr


def test_the_version_is_one_line(kept: Path) -> None:
    assert cc.version() and "\n" not in cc.version()
