"""Machine code by LLVM: what is kept under which name, and what is said without llvmlite."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from tcsmt.language.run import jit
from tcsmt.support import extras
from tcsmt.support.errors import TcsmtError

TEXT = """define i32 @seven() {
  ret i32 7
}
define i32 @twice(i32 %x) {
  %y = shl i32 %x, 1
  ret i32 %y
}
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    pytest.importorskip("llvmlite", reason="the extra `fast` is not installed")
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path))
    monkeypatch.delenv("TCSMT_DISABLE_CPU_FEATURES", raising=False)
    return tmp_path


def called(text: str, name: str, *given: int) -> int:
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int] * len(given))
    return int(function(jit.functions(text, [name])[name])(*given))


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_functions_can_be_called(kept: Path) -> None:
    assert (called(TEXT, "seven"), called(TEXT, "twice", 21)) == (7, 42)
    addresses = jit.functions(TEXT, ["twice", "seven"])
    assert list(addresses) == ["twice", "seven"] and all(addresses.values())
    assert called(TEXT.replace("shl i32 %x, 1", "mul i32 %x, 3"), "twice", 5) == 15  # of the same name
    assert called(TEXT, "twice", 5) == 10


def test_a_text_is_compiled_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called(TEXT, "twice", 4) == 8
    assert len(entries(kept)) == 1
    monkeypatch.setattr(jit, "_compile", lambda text: pytest.fail("compiled again"))
    assert called(TEXT, "twice", 5) == 10


def test_a_damaged_entry_is_compiled_again(kept: Path) -> None:
    assert called(TEXT, "seven") == 7
    (entry,) = entries(kept)
    entry.write_bytes(entry.read_bytes()[:-1] + b"x")
    assert called(TEXT, "seven") == 7


def test_code_for_another_processor_is_another(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import llvmlite.binding as llvm

    assert called(TEXT, "seven") == 7
    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: "another")
    assert called(TEXT, "seven") == 7
    assert len(entries(kept)) == 2


def test_code_without_some_features(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What builds on a feature goes with it; an x86-64 processor without AVX has registers of 128 bits."""
    import llvmlite.binding as llvm

    if not llvm.get_host_cpu_features().get("avx2"):
        pytest.skip("this processor has no AVX2")
    text = """define void @sum(ptr %x, ptr %y) {
  %a = load <8 x i32>, ptr %x, align 4
  %b = load <8 x i32>, ptr %y, align 4
  %c = add <8 x i32> %a, %b
  store <8 x i32> %c, ptr %y, align 4
  ret void
}
"""
    for without, register in (("avx512f", "ymm"), ("avx, sse3", "xmm"), ("", "ymm")):
        monkeypatch.setenv("TCSMT_DISABLE_CPU_FEATURES", without)
        x, y = (ctypes.c_int * 8)(*range(8)), (ctypes.c_int * 8)(*range(100, 108))
        called = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(jit.functions(text, ["sum"])["sum"])
        called(ctypes.addressof(x), ctypes.addressof(y))
        assert list(y) == list(range(100, 116, 2))
        code = jit._machine().emit_assembly(llvm.parse_assembly(text))
        assert {name for name in ("xmm", "ymm", "zmm") if name in code} == {register}
    assert len(entries(kept)) == 3


@pytest.mark.parametrize("without", ["", "f16c", "avx"])
def test_conversions_of_binary16_are_what_llvm_makes(
    kept: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    """As the processor's features say, too, where none is left out."""
    monkeypatch.delenv("TCSMT_DISABLE_CPU_FEATURES", raising=False)
    features = jit._processor()[1].split(",")
    if without and f"+{without}" not in features:
        pytest.skip(f"this processor has no {without}")
    monkeypatch.setenv("TCSMT_DISABLE_CPU_FEATURES", without)
    assert jit.converts_half() == jit._converts_half(jit._machine())
    assert not (without and jit.converts_half())


def test_unknown_features_are_refused(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TCSMT_DISABLE_CPU_FEATURES", "no-such-thing")
    with pytest.raises(TcsmtError, match=r"TCSMT_DISABLE_CPU_FEATURES.*'no-such-thing'"):
        jit.functions(TEXT, ["seven"])


def test_a_text_that_is_no_ir(kept: Path) -> None:
    with pytest.raises(RuntimeError, match="expected"):
        jit.functions("define i32 @seven(", ["seven"])
    assert entries(kept) == []


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "available", lambda: False)
    with pytest.raises(TcsmtError, match=re.escape(extras.install("fast"))):
        jit.functions(TEXT, ["seven"])


def test_the_version_is_llvms(kept: Path) -> None:
    assert re.fullmatch(r"LLVM \d+\.\d+\.\d+", jit.version())
