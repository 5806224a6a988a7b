"""Verdicts of replays: what each verification of an episode found, kept beside its log and never overwritten.

    DIR/episodes/<id>/replays/000001/verdict.json

A verdict is a record of its own that points at (root hash of the log, number of an event); it belongs to the log with
that root hash, and is about another log once the episode's has changed. Its folder is claimed in one step before the
verification begins, so that two verifications never share one; a folder without a verdict is one that was broken off.
The wall time is beside the verdict, outside its digest: it is shown, and never compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from iwreplay.canonical import struct_hash
from iwreplay.errors import StoreError
from iwreplay.store.directory import Episode, write_whole

__all__ = [
    "EnvironmentChange",
    "FirstDivergence",
    "KeptVerdict",
    "ReplayVerdict",
    "StepVerdict",
    "VerdictClaim",
    "kept_verdicts",
    "verdicts_stamp",
]

VERDICT_VERSION = 1
_FILE = "verdict.json"
_MAX_VERDICTS = 999_999


class StepVerdict(msgspec.Struct, frozen=True, array_like=True):
    """Grade of one step of the episode."""

    #: of its first event in the log
    seq: int
    #: kind of that event
    kind: str
    turn: int
    action: int | None
    #: the command, for an action; else ""
    command: str
    grade: str


class FirstDivergence(msgspec.Struct, frozen=True, kw_only=True):
    """The first field that came out differently, and the Assistant decision upstream of it."""

    seq: int
    sim_time_s: float
    turn: int
    kind: str
    object: str
    field: str
    expected: str
    got: str
    decision_turn: int | None
    decision_text: str | None


class EnvironmentChange(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the machine or the engines that is not as it was when the log was recorded."""

    name: str
    recorded: str
    here: str


class ReplayVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one verification found. Plain facts: the same log, code and machine give the same bytes."""

    #: of the log that was verified; with the numbers of its events this is what the verdict points at
    root_hash: str
    #: exact, state-equal, within-tolerance, outcome-equal or diverged: the worst of its steps
    grade: str
    steps: tuple[StepVerdict, ...]
    first_divergence: FirstDivergence | None
    #: fields that differ, all of them
    differences: int
    #: events of the log that were compared
    events: int
    #: of what the re-execution gave
    replayed_root_hash: str
    #: False: the log has no end, and was compared as far as it goes
    log_ended: bool
    #: stopped at the first difference
    stopped: bool
    environment: tuple[EnvironmentChange, ...]
    #: version of iwreplay that verified
    iwreplay: str
    #: name and version of the physics and of the renderer that verified
    simulator: str
    renderer: str
    #: of the machine that verified: versions and machine type, no names
    fingerprint: dict[str, str]
    #: how it was asked to verify
    parameters: dict[str, str]


class KeptVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict as it is kept, or why it can't be read."""

    #: 1, 2, ... in the order in which the verifications began
    replay: int
    #: None when it can't be read
    verdict: ReplayVerdict | None
    #: wall time of the end of the verification, nanoseconds since 1970
    wall_ns: int | None
    #: why it can't be read
    problem: str | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    #: of the verdict
    digest: str
    wall_ns: int
    verdict: msgspec.Raw


class _Version(msgspec.Struct, frozen=True, kw_only=True):
    version: int


class VerdictClaim:
    """The place of a verdict that is still being found. Use as a context: what is not kept leaves nothing behind."""

    def __init__(self, episode: Episode, folder: Path, replay: int) -> None:
        self.episode, self.folder, self.replay = episode, folder, replay

    @classmethod
    def of(cls, episode: Episode) -> VerdictClaim:
        """The next place for a verdict on the episode, which must be in a store. StoreError when none can be made."""
        root = episode.replays
        assert root is not None, "outside a store nothing is kept"
        try:
            root.mkdir(exist_ok=True)
            for n in range(_last(root) + 1, _MAX_VERDICTS + 1):
                folder = root / f"{n:06d}"
                try:
                    folder.mkdir()
                except FileExistsError:
                    continue
                return cls(episode, folder, n)
        except OSError as e:
            raise StoreError(
                f"the verdict on {episode.id} can't be kept in {root}: {e.strerror}; with --no-keep it is only shown"
            ) from e
        raise StoreError(f"{root} is full: it holds {_MAX_VERDICTS} verdicts")

    def keep(self, verdict: ReplayVerdict, *, wall_ns: int) -> None:
        """Writes the verdict in one step, once. StoreError when the disk refuses."""
        target = self.folder / _FILE
        assert not target.exists(), "a verdict is never overwritten"
        body = msgspec.Raw(msgspec.json.encode(verdict))
        file = _File(version=VERDICT_VERSION, digest=struct_hash(verdict), wall_ns=wall_ns, verdict=body)
        try:
            write_whole(target, msgspec.json.encode(file) + b"\n")
        except OSError as e:
            raise StoreError(f"the verdict on {self.episode.id} can't be kept in {target}: {e.strerror}") from e

    def __enter__(self) -> VerdictClaim:
        return self

    def __exit__(self, *_: object) -> None:
        if not (self.folder / _FILE).exists():
            self.folder.rmdir()


def kept_verdicts(episode: Episode) -> Iterator[KeptVerdict]:
    """Every verdict on the episode, oldest first; none outside a store. One that can't be read says why; when it can't
    even be seen which there are, that is said under the number 0."""
    if episode.replays is None:
        return
    try:
        folders = _folders(episode.replays)
    except OSError as e:
        yield _unreadable(0, f"can't be read: {e.strerror}")
        return
    for number, folder in folders:
        try:
            raw = (folder / _FILE).read_bytes()
        except FileNotFoundError:
            continue
        except OSError as e:
            yield _unreadable(number, f"can't be read: {e.strerror}")
            continue
        yield _read(number, raw)


def verdicts_stamp(episode: Episode) -> str:
    """Changes when a verdict is added, taken away or touched, or can be read and could not."""
    if episode.replays is None:
        return ""
    try:
        folders = _folders(episode.replays)
    except OSError as e:
        return str(e.strerror)
    return ",".join(f"{number}:{_file_stamp(folder / _FILE)}" for number, folder in folders)


def _file_stamp(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError as e:
        return str(e.strerror)
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


def _unreadable(number: int, why: str) -> KeptVerdict:
    return KeptVerdict(replay=number, verdict=None, wall_ns=None, problem=why)


def _read(number: int, raw: bytes) -> KeptVerdict:
    try:
        version = msgspec.json.decode(raw, type=_Version).version
        if version > VERDICT_VERSION:
            return _unreadable(
                number, f"version {version} is newer than {VERDICT_VERSION}, the newest that this build reads"
            )
        file = msgspec.json.decode(raw, type=_File)
        verdict = msgspec.json.decode(file.verdict, type=ReplayVerdict)
    except msgspec.MsgspecError as e:
        return _unreadable(number, f"damaged: {e}")
    if struct_hash(verdict) != file.digest:
        return _unreadable(number, "damaged: it is not what was written (digest)")
    return KeptVerdict(replay=number, verdict=verdict, wall_ns=file.wall_ns)


def _folders(root: Path) -> list[tuple[int, Path]]:
    try:
        return sorted((int(p.name), p) for p in root.iterdir() if p.name.isdecimal() and p.name.isascii())
    except FileNotFoundError:
        return []


def _last(root: Path) -> int:
    return max((number for number, _ in _folders(root)), default=0)
