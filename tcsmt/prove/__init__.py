"""Questions and verdicts, certificates and their checker, and the engine."""
