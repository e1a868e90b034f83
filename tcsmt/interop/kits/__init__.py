"""Kits for emulators: an architecture's whole instructions in C, registers in, registers out."""
