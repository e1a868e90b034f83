"""Models on arrays: rows, matrix products, compiled kernels."""
