"""The reader of C: functions in the LLVM IR that clang writes, executed on terms; undefined steps are faults."""
