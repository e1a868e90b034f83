"""Faster forms of units: graphs of floating-point and narrow integer instructions, proved equal to models."""
