"""The interface of property modules, their discovery, and the curated scripts."""
