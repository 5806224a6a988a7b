"""Seeded chance: the generator behind `iwreplay.ports.Rng`."""

from __future__ import annotations

import hashlib

__all__ = ["SeededRng"]


class SeededRng:
    """The same draws for the same words, on every machine and in every version of Python: hashes of a counter."""

    def __init__(self, *words: object) -> None:
        """`words` name the sequence: a seed, and whatever keeps it apart from other sequences of that seed."""
        self._key = "/".join(map(str, words)).encode()
        self._drawn = 0

    def randrange(self, n: int) -> int:
        """One of 0 .. n - 1, each as likely (to 1 in 2**64 / n). `n` is at least 1."""
        assert n >= 1, f"there is nothing to draw from {n}"
        drawn = hashlib.sha256(self._key + b"/%d" % self._drawn).digest()
        self._drawn += 1
        return int.from_bytes(drawn[:8], "big") * n >> 64
