"""The page that computes units in a browser: its data, from the catalogue and results, and its scripts."""
