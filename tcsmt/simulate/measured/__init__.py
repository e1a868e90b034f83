"""Measured data sets and files of rows."""
