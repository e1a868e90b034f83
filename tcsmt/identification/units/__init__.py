"""The way from answers to the model: parameters of the fused dot-add that explain a black box."""
