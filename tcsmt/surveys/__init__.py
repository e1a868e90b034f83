"""Many questions at once: the survey of the catalogue, properties, claims, papers."""
