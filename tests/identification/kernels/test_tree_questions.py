"""Functions that multiply matrices, asked about an element: which rows answer, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.identification.kernels.tree_questions import AskedElement, MatrixProduct
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.support.errors import TcsmtError

F32 = FORMATS["f32"]


def recording(seen: list[Any]) -> Any:
    def multiply(a: Any, b: Any) -> Any:
        seen.append((a.copy(), b.copy()))
        return np.arange(1, 5, dtype=np.float32)[:, None] * a[:, :1] * b[:1]

    return multiply


def test_elements_of_one_column_answer_together() -> None:
    seen: list[Any] = []
    elements = np.zeros((4, 3), bool)
    elements[1:, 2] = True  # three of a column; row 0 is summed in another way
    elements[0, 0] = True
    product = MatrixProduct(recording(seen), F32, 2, (4, 3))
    element = AskedElement(product, elements)
    assert element.name == "D[1, 2]"
    answers = element.answers([[1, 0], [2, 0], [4, 0], [8, 0]], 0.5)
    assert answers.tolist() == [1.0, 3.0, 8.0, 8.0]  # 0.5 times the row's number, 2, 3, 4, then 2 again
    assert product.calls == 2 and product.d_format == F32
    assert all((b == 0.5).all() for _, b in seen)
    assert seen[1][0][1:].tolist() == [[8, 0]] * 3


@pytest.mark.parametrize(("found", "said"), [
    (np.zeros((3, 4), np.float32), r"shape \(3, 4\): must be \(4, 3\)"),
    (np.zeros((4, 3), np.int32), "dtype int32: must be of floating-point numbers"),
    (np.zeros((4, 3), object), "dtype object: must be of floating-point numbers"),
])  # fmt: skip
def test_results_that_are_refused(found: Any, said: str) -> None:
    product = MatrixProduct(lambda a, b: found, F32, 2, (4, 3))
    with pytest.raises(TcsmtError, match=said):
        AskedElement(product, np.ones((4, 3), bool)).answers([[1, 1]])


def test_a_dtype_that_changes_is_refused() -> None:
    kinds = iter((np.float32, np.float64))
    product = MatrixProduct(lambda a, b: np.ones((1, 1), next(kinds)), F32, 2, (1, 1))
    element = AskedElement(product, np.ones((1, 1), bool))
    element.answers([[1, 1]])
    with pytest.raises(TcsmtError, match="dtype float64, and another one before"):
        element.answers([[1, 1]])
