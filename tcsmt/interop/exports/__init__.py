"""A model as a file for others: SystemVerilog with a test bench, C, BTOR2, SMT-LIB."""
