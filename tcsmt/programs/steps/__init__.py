"""The one language for what runs on a unit: the steps of programs, how they are built and read."""
