"""What algorithms on a unit lose: searches, proved bounds, anomalies, sweeps."""
