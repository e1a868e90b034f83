"""BTOR2 as terms, and operations that readers of languages share."""
