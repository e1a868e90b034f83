"""What algorithms on a unit lose: searches, proved bounds, flaws, sweeps."""
