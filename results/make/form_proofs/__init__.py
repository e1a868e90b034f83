"""Proofs that the forms of the simulator give their models' words: what float_forms.py asks solvers."""
