"""Programs that people write down: their text, their files, and a program at one K as a model."""
