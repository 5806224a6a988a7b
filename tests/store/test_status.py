"""One word for what became of an episode."""

from __future__ import annotations

import pytest

from iwreplay.store import STATUSES, status_of


@pytest.mark.parametrize(
    ("log_state", "end_reason", "lossless", "status"),
    [
        ("sealed", "done", True, "ended"),
        ("sealed", "turn_limit", True, "ended"),
        ("sealed", "interrupted", True, "interrupted"),
        ("sealed", "fault", True, "fault"),
        ("sealed", None, True, "unfinished"),
        ("open", None, True, "unfinished"),
        ("open", "done", True, "ended"),
        ("sealed", "done", False, "incomplete"),
        ("sealed", None, False, "incomplete"),
        ("truncated", None, True, "damaged"),
        ("corrupt", "done", True, "damaged"),
        ("corrupt", "interrupted", False, "damaged"),
        ("unreadable", None, True, "unreadable"),
    ],
)
def test_status(log_state: str, end_reason: str | None, lossless: bool, status: str) -> None:
    assert status_of(log_state, end_reason=end_reason, lossless=lossless) == status
    assert status in STATUSES
