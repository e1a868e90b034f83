"""Inputs on which an algorithm is worst, or wrong."""
