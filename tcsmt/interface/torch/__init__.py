"""PyTorch's matrix products as a matrix unit computes them: the public module ``tcsmt.torch``."""
