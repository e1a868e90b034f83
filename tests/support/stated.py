"""Figures that the documentation states: sentences with gaps, and what our results say stands in each gap.

Every number in the prose of a page that is held to them belongs to such a sentence, is part of a name, or is
quoted: it defines something, or somebody else published it. So a figure cannot be added without saying where
it comes from, and cannot stay when the results change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.support.paths import ROOT

#: A number as prose writes it.
NUMBER = r"[−+-]?\d[\d,]*(?:\.\d+)?(?:·10\^[−-]?\d+)?"
#: Digits of a name, a year, a place in a paper, a power of two or a parameter: none of them is measured.
NAMES = re.compile(
    r"""[A-Za-z_]+[-.]?\d[\w.+]*            # FP16, e4m3, V100
      | \b\d+(?:-bit|D)\b                   # 32-bit
      | \b(?:19|20)\d\d(?:-\d\d-\d\d)?\b    # years and dates
      | \b(?:Tables?|Figs?\.|[Ss]ection|Zen|Python|IEEE|mmasim|version|driver|family|model|code)[ ][\d.-]+
      | \b[A-Z]+-[A-Z]?\d+                  # IV-A2
      | [−-]?\b[\d.]+(?:[·*]2\^[−-]?\d+|\^[−-]?\d+)(?:[ ][−+][ ]\d+)?   # 1.5·2^-9, 2^24 + 2
      | [Ee]xponents?[ ](?:are[ ])?[−-]?\d+(?:…|[ ]to[ ])[−-]?\d+|Over[ ][−-]?\d+…\d+       # exponents −15…14
      | \b(?:K|N|F|p|n|c)[ ][=≤][ ][−-]?[\d^]+                           # K = 4096
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Stated:
    """A sentence. figures: what its gaps hold by our results; None: it is quoted."""

    page: str
    text: str
    figures: Callable[[], tuple[str, ...]] | None = None

    def spans(self) -> Iterator[tuple[tuple[int, int], tuple[str, ...]]]:
        """Each place where the page has the sentence, and the figures that stand there."""
        pattern = f"({NUMBER})".join(map(re.escape, self.text.split("{}")))
        for match in re.finditer(pattern, prose(self.page)):
            yield match.span(), match.groups()


def prose(page: str) -> str:
    """A page without fenced blocks, code, targets of links and marks; its white space is folded."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^(`{3,}).*?^\1`*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^:{3,}.*$|^:\w+:.*$|<!--.*?-->", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "`…`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text).replace("\\|", "|").replace("**", "")
    return re.sub(r"\s+", " ", text)


def numbers_without_a_source(page: str, entries: list[Stated]) -> list[str]:
    """The numbers of a page that no sentence covers, each with the words around it."""
    text = prose(page)
    covered = bytearray(len(text))
    spans = [span for entry in entries if entry.page == page for span, _ in entry.spans()]
    for start, stop in [*spans, *(match.span() for match in NAMES.finditer(text))]:
        covered[start:stop] = b"\1" * (stop - start)
    numbers = (match.span() for match in re.finditer(r"\d+", text))
    return [text[max(0, start - 60) : stop + 40] for start, stop in numbers if not all(covered[start:stop])]
