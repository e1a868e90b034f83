"""Whose files are whose."""

from tcsmt.interop.implementations.suffixes import BTOR2, RTL, C


def test_no_suffix_is_of_two_readers() -> None:
    every = [*BTOR2, *RTL, *C]
    assert len(set(every)) == len(every)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in every)
