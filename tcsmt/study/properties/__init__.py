"""What a property module is written with, how it is found, and the curated scripts."""
