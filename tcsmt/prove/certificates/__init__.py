"""Certificates: proofs that anyone can check without trusting how they were found.

A certificate is a folder. Each file in ``statements`` holds one statement (:mod:`.statement`) and the steps
of its proof (:mod:`.derivation`); ``models`` holds the models as TOML, ``lemmas`` what refutes each formula
that a step needs (:mod:`.lemmas`). :func:`.check_certificate` reads all of it, builds the graphs and formulas
again, and checks every step. It uses what defines a statement (models, formats, domains), the translation of
terms into clauses, and nothing of the search that found the proof.
"""

from tcsmt.prove.certificates.checker import Checked, check_certificate, check_statement
from tcsmt.prove.certificates.derivation import InvalidProof

__all__ = ["Checked", "InvalidProof", "check_certificate", "check_statement"]
