"""Statements, apart from how they are proved: questions, domains, verdicts, findings."""
