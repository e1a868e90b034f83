"""Exact domains: where the results of a unit, a kernel or an algorithm are exactly the sums of products."""
