"""Matrix units: arithmetic, models, the catalogue, and files of models and words."""
