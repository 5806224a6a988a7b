"""The one error tree of the project.

Every error carries its facts as attributes first; the message names the offending value and the way out.
``exit_code`` is what the command line returns: 1 the answer is no, 2 wrong use, 3 damaged data.
"""

from __future__ import annotations

__all__ = [
    "CheckError",
    "EventError",
    "FormatTooNewError",
    "GeometryError",
    "IwreplayError",
    "LogCorruptError",
    "LogError",
    "LogLockedError",
    "LogWriteError",
    "NotOpenedError",
    "ParticipantError",
    "QueryError",
    "RenderError",
    "SceneError",
    "SimulatorError",
    "StoreDamagedError",
    "StoreError",
    "TaskError",
    "UnknownNameError",
    "WorkerError",
]


class IwreplayError(Exception):
    """Root of every error that this project raises on purpose."""

    exit_code: int = 2


class UnknownNameError(IwreplayError):
    """A task, episode, participant, scene or class name that is not there (or is ambiguous)."""

    def __init__(self, what: str, name: str, *, known: tuple[str, ...] = (), hint: str = "") -> None:
        self.what, self.name, self.known, self.hint = what, name, known, hint
        tail = f" Known: {', '.join(known)}." if known else ""
        super().__init__(f"unknown {what} {name!r}.{tail}{' ' + hint if hint else ''}")


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


class RenderError(IwreplayError):
    """A frame that cannot be drawn: no such size, camera, material or texture, or a scene beyond a stated limit."""


class SimulatorError(IwreplayError):
    """The physics backend refused or failed."""


class ParticipantError(IwreplayError):
    """An Assistant or Human gave something outside the protocol."""


class EventError(IwreplayError):
    """An event that may not be written or read: wrong type, not finite, too large, unknown kind or field."""

    exit_code = 3


class LogError(IwreplayError):
    """Anything wrong with an episode log."""

    exit_code = 3


class NotOpenedError(LogError):
    """A log whose first event is not the opening."""

    def __init__(self, kind: str, *, seq: int) -> None:
        self.kind, self.seq = kind, seq
        super().__init__(f"a log begins with EpisodeOpened, not with {kind} (event {seq})")


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


class QueryError(IwreplayError):
    """SQL that DuckDB refuses, or that would write."""


class WorkerError(IwreplayError):
    """A worker process that died in the middle of its work."""
