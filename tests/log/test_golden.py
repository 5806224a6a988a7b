"""Golden logs, one folder a format version, read as they did when they were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from iwreplay.events import EVENT_TYPES
from iwreplay.log import FORMAT_VERSION, check, read_log
from iwreplay.log.upcasts import CURRENT
from tests.log.make_golden_v1 import make, twin
from tests.log.samples import every_kind
from tests.log.test_format_spec import read_by_the_book

GOLDEN = Path(__file__).parents[2] / "episodes" / "golden"
LOGS = sorted(GOLDEN.glob("v*/*.arrows"))


def the_twin(path: Path) -> Any:
    return msgspec.json.decode(path.with_name("twin.json").read_bytes())


def as_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def test_every_version_has_golden_logs_with_twin_and_reason() -> None:
    assert sorted({p.parent.name for p in LOGS}) == [f"v{n}" for n in range(CURRENT.oldest, FORMAT_VERSION + 1)]
    for folder in {p.parent for p in LOGS}:
        assert {p.name for p in folder.iterdir()} == {"README.md", "open.arrows", "sealed.arrows", "twin.json"}


@pytest.mark.parametrize("path", LOGS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_golden_log_reads_as_its_twin(path: Path) -> None:
    want = the_twin(path)
    found = check(path)
    assert (found.state, found.problem) == (path.stem, None)
    assert (found.root_hash, found.format_version) == (want["root_hash"], want["format_version"])
    assert found.events == len(want["events"])
    if want["format_version"] == FORMAT_VERSION:
        assert as_json(twin(path)) == want
    with read_log(path) as log:
        assert {type(e) for e in log.events()} == set(EVENT_TYPES)


def test_the_first_golden_log_reads_by_the_book_too() -> None:
    for path in GOLDEN.glob("v1/*.arrows"):
        root, rows = read_by_the_book(path)
        assert (root, len(rows)) == (the_twin(path)["root_hash"], len(the_twin(path)["events"]))


def test_the_present_build_still_writes_the_root_of_version_1(tmp_path: Path) -> None:
    if FORMAT_VERSION == 1:
        make(tmp_path)
        want = the_twin(GOLDEN / "v1" / "open.arrows")
        assert as_json(twin(tmp_path / "open.arrows")) == want
        assert len(want["events"]) == len(every_kind())
