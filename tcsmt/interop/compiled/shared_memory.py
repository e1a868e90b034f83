"""Shared memory of a block, byte by byte, and the order of what threads do with it.

All lanes run in lockstep here, but on a GPU warps do not. So a read is refused where no barrier orders it
after the write, and a write where none orders it after what other threads read or wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tcsmt.interop.compiled.trace import LANES, ByteLanes, Lanes
from tcsmt.support.errors import TcsmtError

_WARP = 32
_NONE, _SEVERAL = -1, -2


@dataclass(frozen=True)
class Copy:
    """Bytes that ``cp.async`` copies: places, the threads that copy them, and what they will be."""

    places: Lanes
    threads: Lanes
    codes: Lanes
    index: Lanes


class _Access:
    """Who read, or wrote, each byte last: a thread and a warp, or several, and between which barriers."""

    def __init__(self, size: int) -> None:
        self.thread = np.full(size, _NONE)
        self.warp = np.full(size, _NONE)
        self.barrier = np.full(size, -1)
        self.warp_barrier = np.full(size, -1)

    def before(self, places: Lanes, threads: Lanes, barrier: int, warp_barriers: Lanes) -> Lanes:
        """Return whether each access is ordered before what these threads do now."""
        warps = threads // _WARP
        same_warp = (self.warp[places] == warps) & (self.warp_barrier[places] < warp_barriers[warps])
        return np.asarray((self.barrier[places] < barrier) | (self.thread[places] == threads) | same_warp)

    def note(self, places: Lanes, threads: Lanes, barrier: int, warp_barriers: Lanes, *, add: bool) -> None:
        """Note an access by these threads. add: beside others since the last barrier."""
        warps = threads // _WARP
        fresh = self.barrier[places] < barrier if add else np.ones(len(places), bool)
        for held, given in ((self.thread, threads), (self.warp, warps)):
            before = np.where(fresh, given, held[places])
            held[places] = np.where(before == given, given, _SEVERAL)
            if add:  # several lanes of this access may meet in one byte
                order = np.argsort(places, kind="stable")
                at, who = places[order], given[order]
                held[at[1:][(at[1:] == at[:-1]) & (who[1:] != who[:-1])]] = _SEVERAL
        self.barrier[places] = barrier
        self.warp_barrier[places] = warp_barriers[warps]


@dataclass
class SharedMemory:
    """The bytes, from ``first`` on. lanes: threads of the block."""

    first: int
    size: int
    lanes: int
    barrier: int = 0
    groups: list[list[Copy]] = field(default_factory=list)
    open_group: list[Copy] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.codes = np.full(self.size, LANES, np.int64)  # what nothing has written
        self.index = np.zeros(self.size, np.int64)
        self.read_by, self.written_by = _Access(self.size), _Access(self.size)
        self.copied = np.zeros(self.size, bool)  # by cp.async, which nothing has waited for
        self.multiplied = np.zeros(self.size, bool)  # by wgmma, which nothing has waited for
        self.fenced = np.ones(self.size, bool)  # before what the asynchronous proxy reads
        self.warp_barriers = np.zeros(-(-self.lanes // _WARP), np.int64)

    def sync(self) -> None:
        """Order all that was done before what follows: a barrier of the block."""
        self.barrier += 1

    def sync_warps(self, threads: Lanes) -> None:
        """Order what each of these warps has done."""
        self.warp_barriers[np.unique(threads // _WARP)] += 1

    def load(self, addresses: Lanes, threads: Lanes, size: int) -> ByteLanes:
        """Return bytes, of shape (size, threads). Raises :class:`.TcsmtError` for a race."""
        places, who = self._places(addresses, threads, size)
        if self.copied[places].any():
            raise TcsmtError("it reads shared memory to which cp.async copies: nothing waits for it before")
        if not self.written_by.before(places, who, self.barrier, self.warp_barriers).all():
            raise TcsmtError("it reads shared memory that another thread wrote, and no barrier is between")
        self.read_by.note(places, who, self.barrier, self.warp_barriers, add=True)
        shape = size, len(threads)
        return ByteLanes(self.codes[places].reshape(shape), self.index[places].reshape(shape))

    def store(self, addresses: Lanes, threads: Lanes, given: ByteLanes) -> None:
        """Write bytes, of shape (size, threads). Raises :class:`.TcsmtError` for a race."""
        places, who = self._places(addresses, threads, len(given.codes))
        self._check_write(places, who)
        self._write(Copy(places, who, given.codes.ravel(), given.index.ravel()))

    def copy(self, addresses: Lanes, threads: Lanes, given: ByteLanes) -> None:
        """Begin to write bytes, which are there when their group has been waited for."""
        places, who = self._places(addresses, threads, len(given.codes))
        self._check_write(places, who)
        self.copied[places] = True
        self.open_group.append(Copy(places, who, given.codes.ravel(), given.index.ravel()))

    def commit(self) -> None:
        """Close the group of copies that have begun."""
        self.groups.append(self.open_group)
        self.open_group = []

    def wait(self, pending: int) -> None:
        """Wait until at most so many groups of copies are under way."""
        done = self.groups[: max(0, len(self.groups) - pending)]
        del self.groups[: len(done)]
        for one in (copy for group in done for copy in group):
            self.copied[one.places] = False
            self._write(one)

    def multiply(self, addresses: Lanes) -> ByteLanes:
        """Return bytes that an instruction of a whole warpgroup reads, of shape (addresses,)."""
        places, _ = self._places(addresses, addresses, 1)
        if self.copied[places].any():
            raise TcsmtError("it reads shared memory to which cp.async copies: nothing waits for it before")
        if (self.written_by.barrier[places] >= self.barrier).any():
            raise TcsmtError("it reads shared memory that another thread wrote, and no barrier is between")
        if not self.fenced[places].all():
            raise TcsmtError("it reads shared memory that was written without fence.proxy.async after it")
        return ByteLanes(self.codes[places], self.index[places])

    def read_by_several(self, addresses: Lanes) -> None:
        """Note that all threads have read these bytes."""
        places = addresses - self.first
        self.read_by.thread[places] = self.read_by.warp[places] = _SEVERAL
        self.read_by.barrier[places] = self.barrier

    def _places(self, addresses: Lanes, threads: Lanes, size: int) -> tuple[Lanes, Lanes]:
        places = (addresses.astype(np.int64) - self.first)[None] + np.arange(size)[:, None]
        if places.size and (places.min() < 0 or places.max() >= self.size):
            raise TcsmtError("it leaves the shared memory of the block")
        return places.ravel(), np.broadcast_to(threads, places.shape).ravel()

    def _check_write(self, places: Lanes, who: Lanes) -> None:
        if self.copied[places].any() or self.multiplied[places].any():
            raise TcsmtError("it writes shared memory that an instruction under way reads or writes")
        both = (self.written_by, self.read_by)
        if not all(one.before(places, who, self.barrier, self.warp_barriers).all() for one in both):
            raise TcsmtError("it writes shared memory that another thread uses, and no barrier is between")

    def _write(self, one: Copy) -> None:
        order = np.argsort(one.places, kind="stable")
        places, codes, index = one.places[order], one.codes[order], one.index[order]
        twice = places[1:] == places[:-1]
        if (twice & ((codes[1:] != codes[:-1]) | (index[1:] != index[:-1]))).any():
            raise TcsmtError("two threads write different values to one place of shared memory")
        self.codes[one.places], self.index[one.places] = one.codes, one.index
        self.fenced[one.places] = False
        self.written_by.note(one.places, one.threads, self.barrier, self.warp_barriers, add=False)
