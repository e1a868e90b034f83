"""Kernels as compilers write them (PTX): read to programs on units."""
