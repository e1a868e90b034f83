"""The score of a question: how well it splits hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["best_of", "entropy"]

Array = np.ndarray[Any, np.dtype[Any]]


def best_of(words: Array) -> int | None:
    """Return the column of largest entropy; None: every column has one word only. words: (rows,
    questions).
    """
    scores = [entropy(words[:, i]) for i in range(words.shape[1])]
    best = int(np.argmax(scores))
    return best if scores[best] > 0 else None


def entropy(words: Array) -> float:
    """Bits of information in which of the words it is, each row alike. words: of shape (rows,)."""
    _, counts = np.unique(words, return_counts=True)
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum()) if len(counts) > 1 else 0.0
