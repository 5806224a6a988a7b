"""Episodes by name, many at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.app.episodes import find_episodes
from iwreplay.errors import UnknownNameError
from iwreplay.store import Store


def test_many_ids_list_the_store_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order asked for and once each, also a log of its own and a beginning of a name."""
    store = Store.open_or_make(tmp_path / "store", made_by="test")
    ids = [store.new_episode(task="G05", assistant="a", human="b", seed=n).id for n in range(12)]
    outside = tmp_path / "other.arrows"
    outside.write_bytes(b"")
    listed: list[int] = []
    every = Store.episodes
    monkeypatch.setattr(Store, "episodes", lambda self: listed.append(1) or every(self))
    found = find_episodes(store.root, (*reversed(ids), ids[3]))
    assert [e.id for e in found] == ids[::-1]
    assert len(listed) == 1
    assert [e.id for e in find_episodes(store.root, (str(outside), ids[2], "G05-a-b-s11"))] == [
        "other",
        ids[2],
        ids[11],
    ]
    with pytest.raises(UnknownNameError, match="G06"):
        find_episodes(store.root, (ids[0], "G06"))
    assert [e.id for e in find_episodes(tmp_path / "nowhere", (str(outside), str(outside)))] == ["other"]
