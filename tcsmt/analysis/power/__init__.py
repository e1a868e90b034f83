"""What a test lets through: wrong kernels, criteria of tests, operands that tell kernels apart."""
