"""Which events of a batch are of some kinds, told by how their lines begin and without reading them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from iwreplay.events import EVENT_TYPES, Event

__all__ = ["rows_of"]

_Words = npt.NDArray[np.uint64]

#: how the line of each kind begins, cut to one length that tells all of them apart
_HEAD = 9 + max(len(str(t.__struct_config__.tag)) for t in EVENT_TYPES) + 1
_HEADS: dict[type[Event], bytes] = {
    t: f'{{"kind":"{t.__struct_config__.tag}","sim_time_s":'.encode()[:_HEAD] for t in EVENT_TYPES
}
#: where the eight-byte words begin that together are a head
_WORDS_AT = (*range(0, _HEAD - 8, 8), _HEAD - 8)
_ODD = np.uint64(0x9E3779B97F4A7C15)


def rows_of(kinds: Collection[type[Event]], lines: bytes, begins: Sequence[int]) -> list[int]:
    """Places in `begins` of the lines of these kinds, and of every line that does not begin with its kind as canonical
    JSON does. A line begins at each of `begins` in `lines`."""
    table = _table(frozenset(kinds))
    words = _words(lines, np.asarray(begins, dtype=np.int64))
    if table is None:
        return list(range(len(begins)))
    keys, heads = table
    nearest = np.minimum(np.searchsorted(keys, _mixed(words)), len(keys) - 1)
    passed = np.ones(len(begins), dtype=np.bool_)
    # what was mixed alike need not be alike
    for word, head in zip(words, heads, strict=True):
        passed &= word == head[nearest]
    rows: list[int] = np.flatnonzero(~passed).tolist()
    return rows


@lru_cache(maxsize=64)
def _table(kinds: frozenset[type[Event]]) -> tuple[_Words, list[_Words]] | None:
    """Heads of all other kinds: mixed, in order; and their words in the same order. None when there are none."""
    heads = [head for kind, head in _HEADS.items() if kind not in kinds]
    if not heads:
        return None
    words = _words(b"".join(heads), np.arange(0, _HEAD * len(heads), _HEAD))
    mixed = _mixed(words)
    order = np.argsort(mixed)
    return mixed[order], [w[order] for w in words]


def _words(lines: bytes, begins: npt.NDArray[Any]) -> list[_Words]:
    """The words of what begins at each place."""
    raw = b"".join((lines, bytes(_HEAD)))
    every = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))
    return [every[begins + at] for at in _WORDS_AT]


def _mixed(words: list[_Words]) -> _Words:
    mixed = words[0]
    for word in words[1:]:
        mixed = mixed * _ODD ^ word
    return mixed


assert len(set(_mixed(_words(b"".join(_HEADS.values()), np.arange(0, _HEAD * len(_HEADS), _HEAD))).tolist())) == len(
    _HEADS
), "two kinds of events mix to the same number"
