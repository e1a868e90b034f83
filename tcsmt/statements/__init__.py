"""What is claimed, apart from how it is proved: questions, domains, verdicts, findings."""
