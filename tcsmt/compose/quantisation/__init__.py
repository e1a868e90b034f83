"""How matrices of wide numbers become a unit's operands: formats, blocks, scales; and their products."""
