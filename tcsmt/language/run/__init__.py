"""Terms computed: on Python integers, on arrays, as machine code."""
