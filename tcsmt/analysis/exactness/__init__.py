"""Where results are exactly the sums of products: of a unit, a kernel, an algorithm; how far it is proved."""
