"""Somebody's own implementation as a unit: RTL, or C."""
