"""Other languages as terms: BTOR2 and LLVM IR."""
