"""One damaged place of a sealed log is made whole again.

The bytes before the seal are cut into blocks, and the seal keeps a checksum of each and two parity blocks: the
exclusive or of the even ones, and that of the odd ones. A block that fails its checksum is the parity with all others
of its half taken out. So one broken stretch of up to a block costs nothing, wherever it is, and large batches, which
read fastest, don't mean large losses.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import BinaryIO
from zlib import crc32

import msgspec
import numpy as np
import numpy.typing as npt

from iwreplay.log.format import PARITY_KEY, ParityMeta
from iwreplay.log.scan import seal_header
from iwreplay.log.wire import Header

__all__ = ["Mended", "mended", "parity_of"]

#: blocks are multiples of what a disk writes as one piece, and there are about so many
_SECTOR_BYTES = 512
_BLOCKS = 64


def parity_of(file: BinaryIO, size: int) -> ParityMeta:
    """Parity over the first `size` bytes of a file."""
    block = max(1, -(-size // (_BLOCKS * _SECTOR_BYTES))) * _SECTOR_BYTES
    halves = (np.zeros(block, np.uint8), np.zeros(block, np.uint8))
    sums: list[int] = []
    for i, data in _blocks(file, size, block):
        sums.append(crc32(data))
        _take(halves[i % 2], data)
    even, odd = (base64.b64encode(half.tobytes()).decode() for half in halves)
    return ParityMeta(size=size, block=block, sums=tuple(sums), even=even, odd=odd)


def mended(file: BinaryIO) -> Mended | None:
    """The file as it was sealed, when its seal is intact and damage before it is in at most one even and one odd block;
    else None, also when there is none."""
    header = seal_header(file)
    parity = None if header is None else _stated(header)
    if parity is None:
        return None
    halves = [np.frombuffer(base64.b64decode(half), np.uint8).copy() for half in (parity.even, parity.odd)]
    bad: list[int] = []
    for i, data in _blocks(file, parity.size, parity.block):
        if crc32(data) == parity.sums[i]:
            _take(halves[i % 2], data)
        else:
            bad.append(i)
    if not bad or len({i % 2 for i in bad}) < len(bad):
        return None
    patches = {}
    for i in bad:
        good = halves[i % 2].tobytes()[: min(parity.block, parity.size - i * parity.block)]
        if crc32(good) != parity.sums[i]:
            return None
        patches[i * parity.block] = good
    return Mended(file, patches)


class Mended:
    """A damaged file, read as if the damaged places were whole."""

    def __init__(self, file: BinaryIO, patches: dict[int, bytes]) -> None:
        self._file, self._patches = file, patches

    def seek(self, offset: int, whence: int = 0) -> int:
        """As that of the file."""
        return self._file.seek(offset, whence)

    def read(self, size: int) -> bytes:
        """As that of the file, with the mended bytes in it."""
        start = self._file.tell()
        data = bytearray(self._file.read(size))
        for at, good in self._patches.items():
            lo, hi = max(at, start), min(at + len(good), start + len(data))
            if lo < hi:
                data[lo - start : hi - start] = good[lo - at : hi - at]
        return bytes(data)


def _stated(header: Header) -> ParityMeta | None:
    """What a seal says, or None when it says nothing that holds together: logs were sealed without parity, too."""
    stated = header.custom.get(PARITY_KEY)
    if stated is None:
        return None
    try:
        parity = msgspec.json.decode(stated, type=ParityMeta)
        sizes = {len(base64.b64decode(half, validate=True)) for half in (parity.even, parity.odd)}
    except ValueError:
        return None
    whole = parity.block > 0 and parity.size >= 0 and sizes == {parity.block}
    return parity if whole and len(parity.sums) == -(-parity.size // parity.block) else None


def _blocks(file: BinaryIO, size: int, block: int) -> Iterator[tuple[int, bytes]]:
    file.seek(0)
    for i, at in enumerate(range(0, size, block)):
        want = min(block, size - at)
        data = file.read(want)
        while len(data) < want and (more := file.read(want - len(data))):
            data += more
        yield i, data


def _take(half: npt.NDArray[np.uint8], data: bytes) -> None:
    piece = half[: len(data)]
    np.bitwise_xor(piece, np.frombuffer(data, np.uint8), out=piece)
