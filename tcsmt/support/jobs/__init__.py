"""Long work: what is computed, by whom, and what is kept of it."""
