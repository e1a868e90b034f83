"""The way from answers back to the model, the reduction, the tree of sums."""
