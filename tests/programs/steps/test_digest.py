"""Digests of programs: the same where the same is done to the same values."""

from __future__ import annotations

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.kernel import kernel_named
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.steps.digest import digest, digest_of

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"


def of_kernel(text: str, length: int = 16) -> str:
    return digest(kernel_named(f"{UNIT}+{text}", row_named).schedule.program(length, c=True))


def test_what_is_done_counts_and_not_how_it_is_called() -> None:
    assert of_kernel("split-k:2") == of_kernel("promote:8") == of_kernel("cuts:8")
    texts = ("chained", "split-k:2", "split-k:4,pairs", "split-k:2+out=f16", "split-k:2+out=f16,RTZ")
    assert len({of_kernel(text) for text in texts}) == len(texts)
    assert of_kernel("chained", 16) != of_kernel("chained", 12)


def test_units_splits_and_words_count() -> None:
    names = (
        "markidis",
        "markidis,split=RTZ",
        "markidis,order=reversed",
        "markidis,compensated=kahan,every=4",
    )
    found = {digest(algorithm_named(name, "volta", 8)[0].program(8)) for name in names}
    assert len(found) == len(names)
    ampere = digest(algorithm_named("markidis", "ampere", 8)[0].program(8))
    assert ampere not in found


def test_texts_do_not_run_into_each_other() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")
