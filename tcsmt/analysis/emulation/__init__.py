"""What emulations of binary64 by small integers lose: proved bounds, witnesses, exact domains."""
