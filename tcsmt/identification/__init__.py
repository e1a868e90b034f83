"""From answers to the model: which parameters of the fused dot-product-add explain a black box."""
