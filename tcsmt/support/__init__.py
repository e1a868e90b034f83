"""Errors, files, the cache, plots: no arithmetic."""
