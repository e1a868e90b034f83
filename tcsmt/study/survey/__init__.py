"""Many comparisons: atlas, audit, neighbours, the list of theorems; workers and the store that they share."""
