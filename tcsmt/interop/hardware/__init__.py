"""Vectors on real matrix units: programs that run them, and what the units answered."""
