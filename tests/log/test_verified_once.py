"""Scoring verifies a log, looks at its kept scores, and reads it only then: its bytes are read and hashed once."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from benchmarks.synthetic import episode
from iwreplay.log import LogWriter, batches, read_log, reader, scan
from iwreplay.log.wire import Header


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """First events of the batches that were read from the file, in order."""
    seen: list[int] = []
    real = scan.load

    def counting(file: BinaryIO, span: scan.Span) -> tuple[bytes, Header]:
        seen.append(span.first)
        return real(file, span)

    monkeypatch.setattr(batches, "load", counting)
    monkeypatch.setattr(reader, "load", counting)
    return seen


def _log(tmp_path: Path) -> Path:
    path = tmp_path / "log.arrows"
    with LogWriter.create(path) as log:
        for i, event in enumerate(episode(200)):
            log.append(event)
            if i % 50 == 49:
                log.commit()
    return path


def test_root_hash_then_events(tmp_path: Path, loads: list[int]) -> None:
    with read_log(_log(tmp_path)) as log:
        assert log.state == "open"
        once = list(loads)
        assert len(once) == len(set(once)) > 3
        assert list(log.events()) == episode(200)
        assert loads == once
        assert log.root_hash is not None


def test_events_then_root_hash(tmp_path: Path, loads: list[int]) -> None:
    with read_log(_log(tmp_path)) as log:
        every = list(log.events())
        once = list(loads)
        assert (log.state, log.problem) == ("open", None)
        assert loads == once
        assert list(log.events()) == every, "what was kept is used up, and read again"
        assert len(loads) == 2 * len(once)


def test_what_does_not_fit_is_read_again(tmp_path: Path, loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    path = _log(tmp_path)
    with read_log(path) as log:
        monkeypatch.setattr(reader, "_MOST_KEPT", log._found.spans[0].length)
        assert log.problem is None
        assert len(log._messages) == 1
        once = len(loads)
        assert list(log.events()) == episode(200)
        assert len(loads) == 2 * once - 1
        assert not log._messages
