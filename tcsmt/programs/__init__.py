"""Programs over a unit: algorithms and kernels."""
