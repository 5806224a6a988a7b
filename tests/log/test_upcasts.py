"""Old formats are read through upcasts, newer ones are refused by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iwreplay.errors import EventError, FormatTooNewError, LogError
from iwreplay.log import check, read_log, recover
from iwreplay.log.upcasts import CURRENT, Lineage, Upcast
from tests.log.samples import episode, write


def shorter(event: dict[str, Any]) -> dict[str, Any]:
    """An imaginary step: things lose their trailing number, and arrays are halved."""
    if event["kind"] == "contact":
        return {**event, "a": event["a"].removesuffix("_1")}
    if event["kind"] == "body_posed":
        return {**event, "values": [v / 2 for v in event["values"]]}
    return event


def louder(event: dict[str, Any]) -> dict[str, Any]:
    """Another one, after it."""
    return {**event, "a": event["a"].upper()} if event["kind"] == "contact" else event


# our version 1 seen from an imaginary version 3
LATER = Lineage(newest=3, steps=(Upcast(1, shorter), Upcast(2, louder)))


def test_an_old_log_is_read_through_every_step_in_order(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    root = write(path, episode(60), seal=True)
    with read_log(path, lineage=LATER) as log:
        events: list[Any] = [e for _, e in log]
        assert log.format_version == 1
        # the root hash is that of the stored bytes
        assert log.root_hash == root
        seq = next(i for i, e in enumerate(events) if e.__struct_config__.tag == "contact")
        assert log.at_seq(seq) == events[seq]
        assert events[seq].a == "CUPBOARD"
    old: list[Any] = episode(60)
    bodies = [i for i, e in enumerate(old) if e.__struct_config__.tag == "body_posed"]
    assert bodies
    for i in bodies:
        assert events[i].values == tuple(v / 2 for v in old[i].values)
    untouched = [i for i, e in enumerate(old) if e.__struct_config__.tag not in ("contact", "body_posed")]
    assert [events[i] for i in untouched] == [old[i] for i in untouched]
    found = check(path, lineage=LATER)
    assert (found.state, found.events, found.format_version) == ("sealed", 60, 1)


def test_a_damaged_old_log_is_recovered_as_the_newest_format(tmp_path: Path) -> None:
    path, out = tmp_path / "log.arrows", tmp_path / "out.arrows"
    write(path, episode(60))
    did = recover(path, out, lineage=LATER)
    assert did.check.format_version == 1
    with read_log(out) as log:
        assert next(e for _, e in log if e.__struct_config__.tag == "contact").a == "CUPBOARD"  # type: ignore[attr-defined]


def test_a_step_that_gives_no_event_is_an_error_with_seq_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    write(path, episode(30))
    broken = Lineage(newest=2, steps=(Upcast(1, lambda e: {**e, "turn": "first"}),))
    with (
        read_log(path, lineage=broken) as log,
        pytest.raises(EventError, match="event 0 of log format 1 cannot be read as 2"),
    ):
        list(log)


def test_versions_outside_the_lineage_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.arrows"
    write(path, episode(30))
    with pytest.raises(LogError, match="log format 1 is older than 2, the oldest read"):
        read_log(path, lineage=Lineage(newest=3, steps=(Upcast(2, louder),)))
    with pytest.raises(FormatTooNewError):
        read_log(path, lineage=Lineage(newest=0, steps=()))


def test_a_lineage_has_no_gaps() -> None:
    with pytest.raises(AssertionError, match="step by step"):
        Lineage(newest=3, steps=(Upcast(1, shorter),))
    assert CURRENT.oldest <= CURRENT.newest
    assert [s.version for s in CURRENT.steps] == list(range(CURRENT.oldest, CURRENT.newest))
