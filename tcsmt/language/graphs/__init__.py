"""What holds of a graph of terms, or is done to it: bounds, a digest, narrower words."""
