"""Whose files are whose, by their suffixes."""

__all__ = ["BTOR2", "RTL", "C"]

#: What Yosys reads.
RTL = (".sv", ".v", ".svh", ".vh")
#: What is read as it is.
BTOR2 = (".btor", ".btor2")
#: What clang reads.
C = (".c", ".h")
