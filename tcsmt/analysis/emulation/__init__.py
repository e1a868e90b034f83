"""The error of emulations of binary64 by small integers: proved bounds, witnesses, exact domains."""
