"""SMT solvers behind one interface: SMT-LIB text in, an answer out, each in a process of its own."""
