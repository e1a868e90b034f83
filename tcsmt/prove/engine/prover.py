"""Which code proved something: a digest of the sources that a proof rests on.

A verdict is kept under the digests of the graphs that it is about. That says nothing of the code that found
it. A witness needs none of that: it is replayed. A proof that was kept counts only where the code that would
prove it now is the code that did, so that a mended engine never takes a proof of the unsound one.
"""

from __future__ import annotations

from tcsmt.support.sources import digest_of_sources

__all__ = ["prover"]

#: What a proof about two graphs rests on; of the certificates, how steps compose and what stands
#: for a maximum.
_ROOMS = ("language", "matrix_units/arithmetic", "matrix_units/models", "prove")


def prover(*more: str) -> str:
    """Return the digest of the sources on which proofs rest; ``more``: rooms that have proofs of their
    own.
    """
    return digest_of_sources(*_ROOMS, *more)
