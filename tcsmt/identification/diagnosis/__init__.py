"""The one diagnosis of a result that a kernel does not give: what was done in place of it."""
