"""Quantisation: from matrices of wide numbers to a unit's operands, by formats, blocks and scales; and their
products.
"""
