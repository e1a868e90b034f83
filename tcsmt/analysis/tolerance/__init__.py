"""How far a kernel's results can be from the exact ones: for given matrices, and for all of a domain."""
