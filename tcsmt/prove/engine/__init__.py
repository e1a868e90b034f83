"""Two models compared: proofs stage by stage, the solvers, and what they have proved."""
