"""The parts that people touch: the command line, the Python interface, pictures."""
