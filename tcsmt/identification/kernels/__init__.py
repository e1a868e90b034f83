"""Which kernel gives a product, in which order it sums, and where two products differ."""
