"""What algorithms on a unit lose: bounds, searches, exactness, emulations."""
