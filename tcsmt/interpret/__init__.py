"""What a term graph can be turned into: exact integers, NumPy arrays, SMT-LIB text."""
