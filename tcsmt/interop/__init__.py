"""Other people's things: implementations, hardware, files for other tools."""
