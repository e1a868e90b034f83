"""One dot-add drawn bit by bit: what is drawn (drawing), from a trace (build), as text, SVG and HTML."""
