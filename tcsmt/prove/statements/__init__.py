"""What is stated, apart from how it is proved: questions, domains, verdicts, findings."""
