"""The one error tree of the project.

Every error carries its facts as attributes first; the message names the offending value and the way out.
``exit_code`` is what the command line returns: 1 the answer is no, 2 wrong use, 3 damaged data.
"""

from __future__ import annotations

import errno

__all__ = [
    "AmbiguousNameError",
    "AnnotationError",
    "BodyModelError",
    "CatalogueReadOnlyError",
    "CheckError",
    "ContextOverflowError",
    "EventError",
    "FormatTooNewError",
    "GeometryError",
    "IwreplayError",
    "LogCorruptError",
    "LogError",
    "LogIntactError",
    "LogLockedError",
    "LogWriteError",
    "MissingLibraryError",
    "ModelError",
    "NotOpenedError",
    "ParticipantError",
    "PictureWriteError",
    "QueryError",
    "RemoteDamagedError",
    "RemoteError",
    "RenderError",
    "ReportError",
    "SceneError",
    "SimulatorError",
    "StageError",
    "StageWriteError",
    "StatisticsError",
    "StoreDamagedError",
    "StoreError",
    "TaskError",
    "UnknownNameError",
    "WorkerError",
    "names_near",
]


#: names that an error message has room for: those that are there, and those that are spelt like a wrong one
_MAX_NAMED, _MAX_NEAR, _MAX_FITTING = 20, 5, 10
#: from 0 to 1: how alike names are, at least, that are called near
_ALIKE = 0.6


class IwreplayError(Exception):
    """Root of every error that this project raises on purpose."""

    exit_code: int = 2

    def __reduce__(self) -> tuple[object, ...]:
        # as it is, when it comes out of a worker process; Exception would call __init__ with the message alone
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(kind: type[IwreplayError], args: tuple[object, ...], facts: dict[str, object]) -> IwreplayError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class UnknownNameError(IwreplayError):
    """A task, episode, participant, scene or class name that is not there. The message names the nearest ones."""

    def __init__(self, what: str, name: str, *, known: tuple[str, ...] = (), hint: str = "") -> None:
        self.what, self.name, self.known, self.hint = what, name, known, hint
        said = [
            f"unknown {what} {name!r}." if name else f"no {what} is named.",
            *([names_near(name, known)] if known else []),
            hint,
        ]
        super().__init__(" ".join(s for s in said if s))


class AmbiguousNameError(UnknownNameError):
    """A beginning of a name that several names have. The message names ten of them, each on a line."""

    def __init__(self, what: str, name: str, *, fits: tuple[str, ...]) -> None:
        self.what, self.name, self.known, self.hint = what, name, fits, ""
        more = len(fits) - _MAX_FITTING
        lines = [*fits[:_MAX_FITTING], *([f"and {more} more"] if more > 0 else [])]
        said = f"{what} {name!r} fits {len(fits)} {what}s; give more of it, or the whole name:"
        Exception.__init__(self, "\n  ".join([said, *lines]))


def names_near(name: str, known: tuple[str, ...]) -> str:
    """ "Nearest: A. Known: A, B." for an error message: the known names that are spelt like `name`, or begin like it,
    and all of them when they are few."""
    from difflib import SequenceMatcher

    def likeness(other: str) -> float:
        other = other.lower()
        beginning = other[: len(name)]
        return max(SequenceMatcher(None, name.lower(), o).ratio() for o in (other, beginning))

    alike = sorted(((-likeness(k), i, k) for i, k in enumerate(known)))
    near = [k for minus, _, k in alike[:_MAX_NEAR] if name and -minus >= _ALIKE]
    said = [f"Nearest: {', '.join(near)}."] if near else []
    if len(known) <= _MAX_NAMED:
        said.append(f"Known: {', '.join(known)}.")
    else:
        said.append(f"Known: {len(known)}, from {known[0]} to {known[-1]}.")
    return " ".join(said)


class SceneError(IwreplayError):
    """A scene or object-class file that is malformed, or a layout that does not hold together."""


class TaskError(IwreplayError):
    """A task pack that is malformed or contradicts its scene."""


class CheckError(IwreplayError):
    """A formula of the check language that cannot be accepted; names task, check and the path inside it."""

    def __init__(self, message: str, *, task: str = "", check: str = "", path: tuple[int, ...] = ()) -> None:
        self.task, self.check, self.path, self.reason = task, check, path, message
        where = "/".join(str(i) for i in path) or "root"
        super().__init__(f"task {task or '?'}, check {check or '?'}, at {where}: {message}")


class GeometryError(IwreplayError):
    """A quantity with no geometric meaning: zero quaternion, negative size, NaN coordinate."""


class BodyModelError(IwreplayError):
    """A user's body model that can't be read or is of another kind; names the file and what is wrong with it."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be used as a body: {reason}")


class RenderError(IwreplayError):
    """A frame that cannot be drawn: no such size, camera, material or texture, or a scene beyond a stated limit."""


class PictureWriteError(IwreplayError):
    """A picture, video or folder for them that could not be written; nothing half-written is left.

    ``exit_code`` is 3 when the disk would not take it, else 2."""

    def __init__(self, path: object, cause: OSError) -> None:
        self.path, self.reason = path, cause.strerror or str(cause)
        self.exit_code = 3 if cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO) else 2
        super().__init__(f"{path} can't be written: {self.reason}")


class SimulatorError(IwreplayError):
    """The physics backend refused or failed."""


class StageError(IwreplayError):
    """A USD stage that can't be written or read, or a scene that can't become one."""


class StageWriteError(StageError):
    """A disk that would not take a USD stage; nothing half-written is left."""

    exit_code = 3


class ParticipantError(IwreplayError):
    """An Assistant or Human gave something outside the protocol."""


class EventError(IwreplayError):
    """An event that may not be written or read: wrong type, not finite, too large, unknown kind or field."""

    exit_code = 3


class LogError(IwreplayError):
    """Anything wrong with an episode log."""

    exit_code = 3


class ModelError(IwreplayError):
    """A language model that can't be used, or did not answer. ``transient`` tells that asking again later may help."""

    #: every call of this model will meet it: a wrong name, a missing key
    always: bool = False
    #: calls before the last one, and wall seconds that they all took
    retries: int = 0
    latency_s: float = 0.0

    def __init__(self, model: str, reason: str, *, hint: str = "", transient: bool = False) -> None:
        self.model, self.reason, self.hint, self.transient = model, reason, hint, transient
        super().__init__(" ".join(p for p in (f"model {model!r} can't be used: {reason}.", hint) if p))


class ContextOverflowError(ModelError):
    """A request that is longer than the model can read."""


class NotOpenedError(LogError):
    """A log whose first event is not the opening."""

    def __init__(self, kind: str, *, seq: int) -> None:
        self.kind, self.seq = kind, seq
        super().__init__(f"a log begins with EpisodeOpened, not with {kind} (event {seq})")


class LogIntactError(LogError):
    """A log that was to be recovered, and has lost nothing."""

    exit_code = 2


class LogCorruptError(LogError):
    """Stored bytes that fail their checks. ``seq`` is the first event affected, ``offset`` the byte offset."""

    def __init__(self, problem: str, *, path: str = "", seq: int | None = None, offset: int | None = None) -> None:
        self.problem, self.path, self.seq, self.offset = problem, path, seq, offset
        where = "".join([f", event {seq}" if seq is not None else "", f", byte {offset}" if offset is not None else ""])
        super().__init__(f"{problem}{where}{': ' + path if path else ''}")


class FormatTooNewError(LogError):
    """A log whose format version is newer than this build reads."""

    def __init__(self, found: int, newest: int, *, path: str = "") -> None:
        self.found, self.newest, self.path = found, newest, path
        super().__init__(
            f"log format version {found} is newer than {newest}, the newest that this build reads; "
            f"upgrade iwreplay: {path}"
        )


class LogLockedError(LogError):
    """Somebody else is writing this log."""

    exit_code = 2


class LogWriteError(LogError):
    """An append or commit that did not reach the disk (full disk, closed file, failing device)."""


class StoreError(IwreplayError):
    """A directory that is not an episode store, or that can't be used as one."""


class StoreDamagedError(StoreError):
    """A store whose own files can't be read, or are from the future."""

    exit_code = 3


class AnnotationError(IwreplayError):
    """An annotation that may not be given, or text that is none. ``line`` is that of the file it came from."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        self.reason, self.line = message, line
        super().__init__(message if line is None else f"line {line}: {message}")


class StatisticsError(IwreplayError):
    """Numbers that no statistic can be made of: more successes than trials, rows of unequal length, an unknown name."""


class RemoteError(StoreError):
    """An object store that can't be reached, refuses, or has not what was asked for. Never holds credentials."""

    def __init__(self, where: str, reason: str, *, hint: str = "") -> None:
        self.where, self.reason, self.hint = where, reason, hint
        super().__init__(f"{where}: {reason.rstrip('.')}.{f' {hint}' if hint else ''}")


class RemoteDamagedError(RemoteError):
    """An object that is not what its manifest says, however often it is asked for."""

    exit_code = 3

    def __init__(self, address: str, name: str, reason: str, *, hint: str = "") -> None:
        self.address, self.name = address, name
        super().__init__(f"{address} ({name})", reason, hint=hint)


class QueryError(IwreplayError):
    """SQL that DuckDB refuses, or that would write."""


class CatalogueReadOnlyError(QueryError):
    """A catalogue that is out of date, in a place that may not be written."""


class MissingLibraryError(IwreplayError):
    """A library that is not installed, and that something asked for can't do without."""

    def __init__(self, library: str, what: str, *, way: str) -> None:
        self.library, self.what, self.way = library, what, way
        super().__init__(f"{library} is not installed, and {what} needs it: {way}")


class ReportError(IwreplayError):
    """A report that can't be made, written or traced."""


class WorkerError(IwreplayError):
    """A worker process that died in the middle of its work."""
