"""Many algorithms on many units."""
