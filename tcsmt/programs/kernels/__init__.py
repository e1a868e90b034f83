"""From one instruction to a whole GEMM: how a kernel cuts K, adds partial sums up and rounds the result."""
