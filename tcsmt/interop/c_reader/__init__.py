"""The reader of C: functions in the LLVM IR that clang writes, run on terms; undefined steps are faults."""
