"""The kernel that gives a product, the order in which it sums, and differences between two products."""
