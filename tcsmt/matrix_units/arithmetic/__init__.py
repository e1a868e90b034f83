"""Formats, rounding, words, and the stages of the datapath over bit-vector terms."""
