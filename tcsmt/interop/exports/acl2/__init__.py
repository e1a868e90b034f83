"""Certificates as books of ACL2, a theorem prover: written, and certified by it."""
