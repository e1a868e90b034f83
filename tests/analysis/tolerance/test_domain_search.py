"""The largest errors found of kernels on domains, in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.tolerance.domain_search import ErrorSubject, largest_found
from tcsmt.analysis.tolerance.relative import relative_bound
from tcsmt.interface.api.units import side_of
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tests.support.proofs import shared_proof


def kernel(text: str) -> Kernel:
    reduction, _, epilogue = text.partition("+")
    return Kernel(side_of("ieee/fma.f32.bf16").row, reduction_named(reduction), epilogue_named(epilogue))


@pytest.mark.parametrize(
    "text", ["chained", "split-k:3,parts=bf16+out=bf16", "chained+alpha=0.5,beta=2,bias"]
)
def test_an_error_is_that_of_its_input_and_below_the_bound(text: str) -> None:
    chosen, domain = kernel(text), Domain(exponents=(-3, 3))
    found = largest_found(ErrorSubject.of_kernel(chosen), 6, domain, 0.3)
    assert found is not None and found.relative is not None and found.tried >= 256
    words = found.words
    a, b = (np.asarray(x, np.uint32) << 16 for x in (words.a, words.b))
    bias = None if words.bias is None else words.bias.view("f4")
    d = chosen.multiply(words.a, words.b.T, None if words.c is None else words.c[:, None], bias=bias)
    alpha, beta = (0.5, 2) if "alpha" in text else (1, 1)
    products = [
        Fraction(float(x)) * Fraction(float(y)) * Fraction(alpha)
        for x, y in zip(a.view("f4")[0], b.view("f4")[0], strict=True)
    ]
    assert words.c is not None
    terms = [*products, beta * Fraction(float(words.c.view("f4")[0]))]
    terms += [] if bias is None else [Fraction(float(bias[0]))]
    assert (found.exact, found.size) == (sum(terms), sum(map(abs, terms)))
    assert found.relative == abs(Fraction(float(d[0, 0])) - found.exact) / found.size
    bound = relative_bound(shared_proof(), chosen, 6, domain)
    assert bound / 16 < found.relative <= bound


def test_domains() -> None:
    found = largest_found(
        ErrorSubject.of_kernel(kernel("chained")),
        3,
        Domain(exponents=(2, 2), positive=True, c_zero=True, bits=(1, 3)),
        0.1,
    )
    assert found is not None and found.words.c is None
    assert set(found.words.a[0].tolist()) == {0x4080}
    assert all(word >> 7 == 0x81 and not word & 31 for word in found.words.b[0].tolist())
    assert found.relative == 0  # all sums are exact
    overflows = largest_found(
        ErrorSubject.of_kernel(kernel("chained+out=f16")), 3, Domain(exponents=(14, 14)), 0.1
    )
    assert overflows is not None and overflows.relative is None
    with pytest.raises(TcsmtError, match="no normal numbers"):
        largest_found(ErrorSubject.of_kernel(kernel("chained")), 3, Domain(exponents=(200, 210)), 0.1)
