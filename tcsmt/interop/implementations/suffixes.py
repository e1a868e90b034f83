"""Suffixes of the files that each reader reads."""

#: What Yosys reads.
RTL = (".sv", ".v", ".svh", ".vh")
#: What is read as it is.
BTOR2 = (".btor", ".btor2")
#: What clang reads.
C = (".c", ".h")
