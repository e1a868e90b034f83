"""Models on arrays: compiled, whole products, and measured rows replayed."""
