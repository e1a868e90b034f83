"""Tolerances of a kernel's results: for given matrices, and for all of a domain."""
