"""Triton kernels on a machine without a GPU: launches captured, compiled, and their blocks computed."""
