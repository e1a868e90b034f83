"""Measured data sets, files of rows, and model files."""
