"""What the kernel says of the processor is read; what it does not say is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.matrix_units.catalogue import this_processor
from tcsmt.support.errors import TcsmtError


def test_flags_are_kept_in_the_order_of_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("flags\t: avx512_vnni avx512_bf16 amx_bf16 sse2\nmodel name : A : B\n")
    monkeypatch.setattr(this_processor, "CPUINFO", path)
    found = this_processor.this_processor("x86")
    assert found.features == ("amx_bf16", "avx512_bf16", "avx512_vnni")
    assert (found.architecture, found.about) == ("x86", "this processor, A : B")
    with pytest.raises(TcsmtError, match=r"cannot tell what this CPU has: .*nowhere: No such file"):
        this_processor.facts(tmp_path / "nowhere")
