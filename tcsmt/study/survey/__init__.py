"""Many comparisons: atlas, audit, neighbours, the list of theorems; the store that they share."""
