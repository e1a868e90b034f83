"""Many comparisons of units: atlases, the audit, neighbours; the store that they share."""
