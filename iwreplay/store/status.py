"""What became of an episode, in one word: the same one wherever it is shown."""

from __future__ import annotations

from typing import Literal

__all__ = ["STATUSES", "LogState", "Status", "status_of"]

#: as the reader of a log says; unreadable when it can't be opened, or was written by a newer version
LogState = Literal["sealed", "open", "truncated", "corrupt", "unreadable"]

Status = Literal["ended", "interrupted", "fault", "unfinished", "incomplete", "damaged", "unreadable"]

#: each with what it means, for documentation
STATUSES: dict[Status, str] = {
    "ended": "it ran to its end",
    "interrupted": "its user stopped it",
    "fault": "something outside the protocol broke",
    "unfinished": "its log is intact and has no end: the recorder is still at work, or was killed",
    "incomplete": "recovered from a damaged log, with events missing",
    "damaged": "its log is truncated or corrupt",
    "unreadable": "its log can't be opened, or was written by a newer version",
}


def status_of(log_state: str, *, end_reason: str | None, lossless: bool = True) -> Status:
    """The status of an episode whose log is `log_state`.

    `end_reason` is that of its last event, None when that is no end. Not `lossless`: a recovery lost events of it.
    """
    if log_state == "unreadable":
        return "unreadable"
    if log_state in ("truncated", "corrupt"):
        return "damaged"
    if not lossless:
        return "incomplete"
    if end_reason is None:
        return "unfinished"
    if end_reason == "interrupted":
        return "interrupted"
    return "fault" if end_reason == "fault" else "ended"
