"""Certificates: what a proof may do, and what its files hold."""
