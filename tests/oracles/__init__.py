"""Independent references: nothing here computes with the package under test."""
