"""The version of tcsmt, which is written into what it makes."""

__version__ = "0.2.0"
