"""From answers to the model: which parameters of the fused dot-add explain a black box."""
