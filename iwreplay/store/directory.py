"""Where episodes live, and how they are named.

    DIR/iw-store.json               marker: this is a store, of which version
    DIR/episodes/<id>/log.arrows    the episode; the only thing that can't be derived again
    DIR/episodes/<id>/scores.json   scores kept with the keys they are valid for
    DIR/episodes/<id>/replays/      verdicts of replays, each a record of its own; what was found then, on that machine
    DIR/episodes/<id>/frames/       frames drawn from the log on request
    DIR/episodes/<id>/pixels/       frames as they were seen, named by the hash of their pixels, kept on request
    DIR/episodes/<id>/requests/     what was sent to models, named by the hashes that the log has
    DIR/episodes/<id>/seen/         pictures as a person who played was shown them
    DIR/annotations/                what people say of episodes, by the root hashes of their logs
    DIR/scorers/<name>.json         which version of a user's own scorer counts
    DIR/catalogue.duckdb            for questions; disposable

An episode's folder is made in one step before its log is begun, so two recorders never share one. There is no
list of episodes to get out of step: what became of an episode is read from its log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from iwreplay.errors import AmbiguousNameError, StoreDamagedError, StoreError, UnknownNameError

__all__ = [
    "MARKER",
    "STORE_VERSION",
    "Episode",
    "Store",
    "decode_marker",
    "encode_marker",
    "log_at",
    "natural",
    "safe_id",
    "write_whole",
]

#: raised when the layout changes in a way that an older build would misread
STORE_VERSION = 1

MARKER = "iw-store.json"
LOG_NAME = "log.arrows"
#: episode ids are file names, and are typed by people
_SAFE = re.compile(r"[^A-Za-z0-9._+]+")
_MAX_REPEATS = 10_000


class _Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What the marker file holds."""

    iw_store: int
    made_by: str = ""


def encode_marker(*, made_by: str) -> bytes:
    """What the marker of a store of this version holds."""
    return msgspec.json.encode(_Marker(iw_store=STORE_VERSION, made_by=made_by)) + b"\n"


def decode_marker(data: bytes) -> int:
    """Version of the store. MsgspecError when it is no marker."""
    return msgspec.json.decode(data, type=_Marker).iw_store


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """A place where an episode's log is, or will be. Whether the log is whole, its reader says."""

    id: str
    log: Path
    #: folder for what is derived from it; None for a log that was named by its path, outside any store
    folder: Path | None

    @property
    def begun(self) -> bool:
        """False when no event of it was committed. One that may not be looked at counts: its reader says why."""
        try:
            return self.log.exists()
        except PermissionError:
            return True

    @property
    def frames(self) -> Path:
        """Folder for drawn frames: the episode's own, or one in the current folder for a log outside any store."""
        return self.folder / "frames" if self.folder is not None else Path(f"{self.id}-frames")

    @property
    def pixels(self) -> Path:
        """Folder for kept pixels: the episode's own, or one beside a log outside any store."""
        return self.folder / "pixels" if self.folder is not None else self.log.with_name(f"{self.log.stem}.pixels")

    @property
    def requests(self) -> Path:
        """Folder for what was sent to models: the episode's own, or one beside a log outside any store."""
        return self.folder / "requests" if self.folder is not None else self.log.with_name(f"{self.log.stem}.requests")

    @property
    def seen(self) -> Path:
        """Folder for what a person was shown: the episode's own, or one beside a log outside any store."""
        return self.folder / "seen" if self.folder is not None else self.log.with_name(f"{self.log.stem}.seen")

    @property
    def scores(self) -> Path | None:
        """File of kept scores, None outside a store."""
        return self.folder / "scores.json" if self.folder is not None else None

    @property
    def replays(self) -> Path | None:
        """Folder of the verdicts of replays, None outside a store."""
        return self.folder / "replays" if self.folder is not None else None


class Store:
    """An open store. Opening reads nothing but the marker."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.episodes_dir = root / "episodes"

    @staticmethod
    def is_at(root: Path) -> bool:
        """Whether there is a store at `root`, whole or not."""
        return (root / MARKER).exists()

    @classmethod
    def open(cls, root: Path) -> Store:
        """The store at `root`. StoreError when there is none, StoreDamagedError when its marker is unreadable."""
        marker = root / MARKER
        try:
            raw = marker.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as e:
            what = "there is no such folder" if not root.exists() else f"it has no {MARKER}"
            raise StoreError(
                f"{root} is not an episode store: {what}. Give the folder of one with --store, "
                f"or make one by recording: iwreplay run TASK --store {root}"
            ) from e
        except OSError as e:
            raise StoreError(f"{root} can't be read as an episode store: {e.strerror} ({marker})") from e
        try:
            version = decode_marker(raw)
        except msgspec.MsgspecError as e:
            raise StoreDamagedError(
                f"the marker of the store {root} is damaged ({e}). The episodes are untouched: "
                f'write {{"iw_store": {STORE_VERSION}}} into {marker} to use them'
            ) from e
        if version > STORE_VERSION:
            raise StoreDamagedError(
                f"the store {root} has version {version}, newer than {STORE_VERSION}, "
                "the newest that this build reads; upgrade iwreplay"
            )
        if version < 1:
            raise StoreDamagedError(f"the marker of the store {root} names version {version}, which never was")
        return cls(root)

    @classmethod
    def open_or_make(cls, root: Path, *, made_by: str) -> Store:
        """The store at `root`, made when the folder is missing or empty. StoreError for a folder of other things."""
        if cls.is_at(root):
            return cls.open(root)
        if root.exists() and not root.is_dir():
            raise StoreError(f"{root} is a file, not a folder; give a folder with --store")
        if root.exists() and _holds_other_things(root):
            raise StoreError(
                f"{root} is not an episode store and is not empty; nothing was written. "
                "Give another folder with --store"
            )
        try:
            root.mkdir(parents=True, exist_ok=True)
            # before anything else: a folder that has something in it and no marker is taken for somebody else's
            write_whole(root / MARKER, encode_marker(made_by=made_by))
            (root / "episodes").mkdir(exist_ok=True)
        except OSError as e:
            raise StoreError(f"a store can't be made at {root}: {e.strerror}") from e
        return cls(root)

    def new_episode(self, *, task: str, assistant: str, human: str, seed: int) -> Episode:
        """A fresh folder for an episode: "<task>-<assistant>-<human>-s<seed>", then "-r2", "-r3" when that was
        recorded before. Made in one step, so that two recorders get two."""
        base = "-".join([*(_SAFE.sub("_", part) or "_" for part in (task, assistant, human)), f"s{seed}"])
        self.episodes_dir.mkdir(exist_ok=True)
        for n in range(1, _MAX_REPEATS):
            episode_id = base if n == 1 else f"{base}-r{n}"
            folder = self.episodes_dir / episode_id
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            except OSError as e:
                raise StoreError(
                    f"the folder of episode {episode_id} can't be made in {self.root}: {e.strerror}"
                ) from e
            return Episode(id=episode_id, log=folder / LOG_NAME, folder=folder)
        raise StoreError(f"{base} was recorded {_MAX_REPEATS} times in {self.root}; use another --seed or --store")

    def take_in(self, episode_id: str, put: Callable[[Path], None]) -> Episode:
        """A new episode whose log `put` writes, to a path that it is given; it appears under its name once that is
        done. StoreError when the name is taken or the disk refuses; nothing is left behind then, whatever `put` raises.
        """
        self.episodes_dir.mkdir(exist_ok=True)
        episode = self._at(episode_id)
        folder = self.episodes_dir / episode_id
        try:
            folder.mkdir()
        except FileExistsError as e:
            raise StoreError(f"{self.root} has an episode {episode_id}; nothing is overwritten") from e
        except OSError as e:
            raise StoreError(f"the folder of episode {episode_id} can't be made in {self.root}: {e.strerror}") from e
        temporary = folder / f".{LOG_NAME}.{os.getpid()}"
        try:
            put(temporary)
            with temporary.open("rb+") as f:
                os.fsync(f.fileno())
            temporary.replace(episode.log)
        except BaseException as e:
            temporary.unlink(missing_ok=True)
            folder.rmdir()
            if isinstance(e, OSError):
                raise StoreError(f"the log of {episode_id} can't be written in {folder}: {e.strerror}") from e
            raise
        return episode

    def take_in_folder(self, episode_id: str, folder: Path) -> Episode:
        """A new episode whose folder is ready beside, on the same disk; it appears under its name in one step.
        StoreError when the name is taken or the disk refuses; the folder is then where it was."""
        target = self.episodes_dir / episode_id
        if target.exists():
            raise StoreError(f"{self.root} has an episode {episode_id}; nothing is overwritten")
        try:
            self.episodes_dir.mkdir(exist_ok=True)
            folder.rename(target)
        except OSError as e:
            raise StoreError(f"the folder of episode {episode_id} can't be made in {self.root}: {e.strerror}") from e
        return self._at(episode_id)

    def episodes(self) -> Iterator[Episode]:
        """Every episode by id, in natural order (-r2 before -r10). A folder without a log is one whose recorder
        died before its first commit; it is listed too."""
        try:
            # the folder says what is a folder: asking of each costs as much as all the rest, when there are thousands
            with os.scandir(self.episodes_dir) as found:
                names = [entry.name for entry in found if entry.is_dir()]
        except FileNotFoundError:
            return
        for name in sorted(names, key=natural):
            yield self._at(name)

    def find(self, wanted: str) -> Episode:
        """The episode of that id, or of that unique prefix of an id, or the log file of that path.

        UnknownNameError names the candidates when several fit, and what there is when none does.
        """
        ids = [e.id for e in self.episodes()]
        if wanted in ids:
            return self._at(wanted)
        fits = [i for i in ids if wanted and i.startswith(wanted)]
        if len(fits) == 1:
            return self._at(fits[0])
        if fits:
            raise AmbiguousNameError("episode", wanted, fits=tuple(fits))
        named = log_at(wanted)
        if named is not None:
            return named
        there = f"All: iwreplay show --store {self.root}" if ids else f"The store {self.root} has no episode yet."
        raise UnknownNameError("episode", wanted, known=tuple(ids), hint=there)

    def _at(self, episode_id: str) -> Episode:
        folder = self.episodes_dir / episode_id
        return Episode(id=episode_id, log=folder / LOG_NAME, folder=folder)


def safe_id(text: str) -> str:
    """`text` as the id of an episode, which is the name of a folder: characters that do not belong there become "_"."""
    cleaned = "".join(c if c == "-" else _SAFE.sub("_", c) for c in text)
    return cleaned if cleaned.strip(".") else "_"


def log_at(text: str) -> Episode | None:
    """The log file that `text` is the path of, as an episode outside any store; None when it is not a file.
    A file `DIR/log.arrows` is known by its folder's name."""
    path = Path(text)
    if not path.is_file():
        return None
    return Episode(id=path.resolve().parent.name if path.name == LOG_NAME else path.stem, log=path, folder=None)


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replaces a file in one step: a reader sees the old bytes or the new ones, also after a crash of this process.

    Not `durable`: without waiting for the disk, for what can be derived again after a power cut.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as f:
            f.write(data)
            f.flush()
            if durable:
                os.fsync(f.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _holds_other_things(root: Path) -> bool:
    """True for anything but the unfinished marker of somebody who is making a store there, or was killed doing so."""
    return any(not p.name.startswith(f".{MARKER}.") for p in root.iterdir())


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Key that sorts ids as people do: -r2 before -r10."""
    return tuple((int(p), "") if p.isdigit() else (-1, p) for p in re.split(r"(\d+)", name))
