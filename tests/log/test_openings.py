"""Task and scene of an opening are shared by logs that have the same, and only by those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.synthetic import episode
from iwreplay.canonical import canonical_bytes
from iwreplay.errors import EventError
from iwreplay.events import AnyEvent, EpisodeOpened
from iwreplay.log import LogWriter, openings, read_log
from iwreplay.log.openings import read_shared, share


def _opening(**changes: Any) -> EpisodeOpened:
    opened = episode(40)[0]
    assert isinstance(opened, EpisodeOpened)
    return msgspec.structs.replace(opened, **changes)


def _line(event: AnyEvent) -> bytes:
    return canonical_bytes(event) + b"\n"


def _read(line: bytes) -> EpisodeOpened:
    return msgspec.json.decode(line, type=EpisodeOpened)


@pytest.fixture(autouse=True)
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings, "_TASKS", {})
    monkeypatch.setattr(openings, "_SCENES", {})


def test_the_same_task_and_scene_are_the_same_objects() -> None:
    first = _line(_opening(renderer="a"))
    assert read_shared(first) is None, "nothing is known yet"
    known = _read(first)
    assert share(known, first)
    other = _opening(renderer="b", fingerprint={"os": "x"})
    got = read_shared(_line(other))
    assert got == other
    assert got is not None
    assert got.task is known.task
    assert got.scene is known.scene


def test_another_task_on_the_same_scene_shares_the_scene_only() -> None:
    first = _line(_opening())
    known = _read(first)
    assert share(known, first)
    task = msgspec.structs.replace(known.task, title="Another")
    second = _line(_opening(task=task))
    assert read_shared(second) is None
    event = _read(second)
    assert share(event, second)
    assert event.scene is known.scene
    assert event.task == task


@pytest.mark.parametrize("into", [b'"task":{', b'"scene":{', b'"config":{', b'"kind":"episode_opened",'])
def test_what_is_not_written_as_events_are_is_not_shared(into: bytes) -> None:
    line = _line(_opening())
    assert share(_read(line), line)
    assert read_shared(line) is not None
    spaced = line.replace(into, into + b" ", 1)
    more = line.replace(into, into + b'"unknown":1,', 1)
    assert spaced != line != more
    for forged in (spaced, more):
        assert read_shared(forged) is None
        try:
            event = _read(forged)
        except msgspec.ValidationError:
            continue
        assert not share(event, forged)
    assert read_shared(line[:-1] + b" \n") is None
    assert read_shared(b"nonsense\n") is None


def test_only_the_latest_are_kept() -> None:
    for i in range(openings._MOST + 1):
        opened = _opening()
        other = _opening(task=msgspec.structs.replace(opened.task, title=str(i)))
        assert share(_read(_line(other)), _line(other))
    assert len(openings._TASKS) <= openings._MOST
    assert len(openings._SCENES) == 1


def test_logs_are_read_the_same_the_second_time(tmp_path: Path) -> None:
    events = episode(60)
    for name in ("a", "b"):
        with LogWriter.create(tmp_path / name) as writer:
            for event in events:
                writer.append(event)
            writer.seal()
    with read_log(tmp_path / "a") as a, read_log(tmp_path / "b") as b:
        first, second = list(a.events()), list(b.events())
    assert first == second == events
    assert isinstance(first[0], EpisodeOpened)
    assert isinstance(second[0], EpisodeOpened)
    assert first[0].scene is second[0].scene


def test_a_line_that_can_not_be_read_behind_a_known_opening_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with LogWriter.create(path) as writer:
        for event in episode(60):
            writer.append(event)
        writer.seal()
    with read_log(path) as log:
        list(log.events())

    class Broken:
        """The frames of a batch whose second event is cut."""

        def __init__(self, frames: Any) -> None:
            self.line_ends, self.rows, self.packed, self.value_ends = (
                frames.line_ends,
                frames.rows,
                frames.packed,
                frames.value_ends,
            )
            a, b = frames.line_ends[1:3]
            raw = bytearray(frames.lines)
            raw[a:b] = b"{" + b" " * (b - a - 2) + b"\n"
            self.lines = memoryview(bytes(raw))

    with read_log(path) as log:
        [(loaded, count)] = list(log.verified_batches())
        loaded.frames = Broken(loaded.frames)  # type: ignore[assignment]
        with pytest.raises(EventError, match="event 1 "):
            loaded.events(version=log.format_version, lineage=log._lineage, stop=count)
