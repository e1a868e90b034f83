"""Properties and transformations of graphs of terms: bounds, a digest, narrower words."""
