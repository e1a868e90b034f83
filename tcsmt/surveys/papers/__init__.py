"""The papers' own experiments, run again: one module for each paper, their data beside it."""
