"""Terms as other languages: SMT-LIB, clauses, SystemVerilog, C, BTOR2, LLVM IR, WebAssembly."""
