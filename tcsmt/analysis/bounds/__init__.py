"""Proved bounds: lemmas on losses, and how they add up."""
