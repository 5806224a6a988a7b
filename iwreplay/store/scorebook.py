"""Scores kept beside an episode, each with the key it is valid for.

A score belongs to (root hash of the log, hash of the scorer, parameters). It is used again only while all three are
the same, so a changed log, a changed scorer or another parameter never shows an old number; older entries stay,
so that going back to an older scorer costs nothing. All of it can be derived again from the log.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from iwreplay.errors import StoreDamagedError, StoreError
from iwreplay.store.directory import Episode, write_whole

__all__ = ["BookedScore", "ScoreBook", "ScoreKey", "ScoredTask", "joined_scores"]

BOOK_VERSION = 1
#: entries kept for one scorer of one episode; the oldest go first
_MAX_PER_SCORER = 20
_SHORT = 12


class ScoreKey(msgspec.Struct, frozen=True, kw_only=True):
    """What a score is valid for."""

    #: root hash of the log's event chain
    root_hash: str
    scorer: str
    #: hash over the scorer's version and all that it computes with
    scorer_hash: str
    parameters: dict[str, str] = {}


class ScoredTask(msgspec.Struct, frozen=True, kw_only=True):
    """The frozen task of a log, by which it was scored."""

    id: str
    version: int
    sha256: str


class BookedScore(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer said about one log."""

    key: ScoreKey
    metric: str
    #: None when the log can't support the metric
    value: float | None
    status: Literal["scored", "unscorable", "undefined"]
    #: why there is no value; "" when there is one
    reason: str = ""
    #: numbers of the events that decided it
    evidence: tuple[int, ...] = ()
    #: what it is made of; plain JSON values
    details: dict[str, Any] = {}
    #: None in scores from before it was kept
    task: ScoredTask | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    entries: tuple[BookedScore, ...] = ()


class ScoreBook:
    """The kept scores of one episode, oldest first. Outside a store nothing is kept."""

    def __init__(self, episode: Episode, entries: tuple[BookedScore, ...], *, raw: bytes = b"") -> None:
        """`raw`: the file that the entries are from."""
        self.episode = episode
        self.entries = entries
        self._raw = raw

    @classmethod
    def load(cls, episode: Episode) -> ScoreBook:
        """The book of an episode, empty when it was never scored. StoreDamagedError when it can't be read."""
        path = episode.scores
        if path is None:
            return cls(episode, ())
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return cls(episode, ())
        except OSError as e:
            raise StoreError(
                f"the kept scores of {episode.id} can't be read: {e.strerror}; make {path} readable, "
                "or delete it and score again"
            ) from e
        return cls(episode, _entries(raw, episode.id, where=str(path)), raw=raw)

    def get(self, key: ScoreKey) -> BookedScore | None:
        """The score that is valid for exactly this key."""
        return next((e for e in reversed(self.entries) if e.key == key), None)

    def stale_because(self, key: ScoreKey) -> str | None:
        """Why the newest kept score of this scorer is not valid for `key`; None when it is, or when there is none."""
        if self.get(key) is not None:
            return None
        old = next((e.key for e in reversed(self.entries) if e.key.scorer == key.scorer), None)
        if old is None:
            return None
        reasons = []
        if old.root_hash != key.root_hash:
            reasons.append(f"the log changed: root hash {old.root_hash[:_SHORT]} is now {key.root_hash[:_SHORT]}")
        if old.scorer_hash != key.scorer_hash:
            reasons.append(f"the scorer changed: {old.scorer_hash[:_SHORT]} is now {key.scorer_hash[:_SHORT]}")
        if old.parameters != key.parameters:
            reasons.append(f"the parameters changed: {_show(old.parameters)} is now {_show(key.parameters)}")
        return "; ".join(reasons)

    def put(self, *new: BookedScore) -> None:
        """Keeps scores, in place of those of the same key, and writes the book in one step: not at all when it says
        what it said, so that nobody takes it in again."""
        self.entries = _joined(self.entries, new)
        path = self.episode.scores
        if path is None or not new:
            return
        try:
            data = _encoded(self.entries)
            if data != self._raw:
                write_whole(path, data, durable=False)
                self._raw = data
        except OSError as e:
            raise StoreError(
                f"the scores of {self.episode.id} can't be kept in {path}: {e.strerror}. "
                "Where nothing may be written, score a copy of the store"
            ) from e


def joined_scores(there: bytes, new: bytes, *, episode: str) -> bytes:
    """Two books of one episode as one: where both have a score of the same key, the new one counts.
    StoreDamagedError when either can't be read."""
    books = [_entries(raw, episode, where=where) for raw, where in ((there, "the book there"), (new, "the new book"))]
    return _encoded(_joined(*books))


def _entries(raw: bytes, episode: str, *, where: str) -> tuple[BookedScore, ...]:
    try:
        found = msgspec.json.decode(raw, type=_File)
    except msgspec.MsgspecError as e:
        raise StoreDamagedError(
            f"the kept scores of {episode} are damaged ({e}); delete {where} and score again, nothing else is lost"
        ) from e
    if found.version > BOOK_VERSION:
        raise StoreDamagedError(
            f"the kept scores of {episode} have version {found.version}, newer than {BOOK_VERSION}, the newest "
            f"that this build reads; upgrade iwreplay, or delete {where} and score again"
        )
    return found.entries


def _encoded(entries: tuple[BookedScore, ...]) -> bytes:
    return msgspec.json.encode(_File(version=BOOK_VERSION, entries=entries)) + b"\n"


def _joined(old: tuple[BookedScore, ...], new: tuple[BookedScore, ...]) -> tuple[BookedScore, ...]:
    keys = [n.key for n in new]
    kept = [e for e in old if e.key not in keys] + list(new)
    for scorer in dict.fromkeys(n.key.scorer for n in new):
        same = [e for e in kept if e.key.scorer == scorer]
        for one in same[:-_MAX_PER_SCORER]:
            kept.remove(one)
    return tuple(kept)


def _show(parameters: dict[str, str]) -> str:
    return ", ".join(f"{k}={v}" for k, v in sorted(parameters.items())) or "none"
