"""Units for integers: wrapping, saturating, in blocks, narrow."""

from __future__ import annotations

from tcsmt.matrix_units.arithmetic.formats import INTEGERS
from tcsmt.matrix_units.models import IntegerDotAdd

__all__ = ["INTEGER_UNITS", "VNNI"]


S32 = INTEGERS["s32"]


VNNI = IntegerDotAdd(a_format=INTEGERS["u8"], b_format=INTEGERS["s8"], c_format=S32, d_format=S32, k=4)


S4 = INTEGERS["s4"]


INTEGER_UNITS = {
    "wrap": VNNI,
    "saturate": VNNI.replace(overflow="saturate"),
    "blocks": VNNI.replace(overflow="saturate", n_fma=2),
    "s4": VNNI.replace(a_format=S4, b_format=S4, k=8),
    "narrow": VNNI.replace(a_format=S4, b_format=S4, c_format=S4, d_format=S4, k=2, overflow="saturate"),
}
