"""tcsmt: SMT-based formal models of GPU matrix units, and their bit-exact simulator."""

__version__ = "0.1.0"
