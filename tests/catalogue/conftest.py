"""A store of made-up episodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.synthetic import episode
from iwreplay.events import EndReason
from iwreplay.log import LogWriter
from iwreplay.store import Episode, Store


def write_episode(
    store: Store,
    *,
    task: str = "G99",
    assistant: str = "oracle",
    seed: int = 0,
    events: int = 120,
    end: EndReason | None = "done",
) -> Episode:
    """Adds an episode to the store; without an end it is left open, as by a killed recorder."""
    entry = store.new_episode(task=task, assistant=assistant, human="literal", seed=seed)
    with LogWriter.create(entry.log) as log:
        for event in episode(events, seed=seed, task_id=task, assistant=assistant, end=end):
            log.append(event, wall_ns=0)
        log.commit()
        if end is not None:
            log.seal()
    return entry


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open_or_make(tmp_path / "store", made_by="test")
