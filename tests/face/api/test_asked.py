"""What commands hand to calls is what users of Python give."""

import tcsmt
from tcsmt.face.api import asked


def test_they_are_the_public_names() -> None:
    assert [getattr(tcsmt, name) for name in asked.__all__] == [asked.Domain, asked.SolvingOptions]
