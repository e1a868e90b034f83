"""Products of binary64 matrices made of exact products of integers: slices (Ozaki-I), residues (Ozaki-II)."""
