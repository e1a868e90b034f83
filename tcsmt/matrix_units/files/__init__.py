"""Files of models, words and arrays."""
