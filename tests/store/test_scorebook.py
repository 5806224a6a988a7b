"""Kept scores: valid for one key only, and saying why they are not valid any more."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from iwreplay.errors import StoreDamagedError
from iwreplay.store import BookedScore, Episode, ScoreBook, ScoreKey

KEY = ScoreKey(root_hash="a" * 64, scorer="pass", scorer_hash="b" * 64, parameters={"k": "1"})


def _score(key: ScoreKey = KEY, value: float = 1.0) -> BookedScore:
    return BookedScore(key=key, metric="pass", value=value, status="scored", evidence=(3, 4), details={"a": [1, None]})


@pytest.fixture
def episode(tmp_path: Path) -> Episode:
    return Episode(id="e", log=tmp_path / "log.arrows", folder=tmp_path)


def test_never_scored_is_empty_and_not_stale(episode: Episode) -> None:
    book = ScoreBook.load(episode)
    assert book.get(KEY) is None
    assert book.stale_because(KEY) is None


def test_what_was_put_is_there_again(episode: Episode) -> None:
    ScoreBook.load(episode).put(_score())
    book = ScoreBook.load(episode)
    assert book.get(KEY) == _score()
    assert book.stale_because(KEY) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"root_hash": "c" * 64}, "the log changed: root hash aaaaaaaaaaaa is now cccccccccccc"),
        ({"scorer_hash": "c" * 64}, "the scorer changed: bbbbbbbbbbbb is now cccccccccccc"),
        ({"parameters": {}}, "the parameters changed: k=1 is now none"),
        (
            {"scorer_hash": "c" * 64, "parameters": {"k": "2"}},
            "the scorer changed: bbbbbbbbbbbb is now cccccccccccc; the parameters changed: k=1 is now k=2",
        ),
    ],
)
def test_stale_says_why(episode: Episode, change: dict[str, object], reason: str) -> None:
    book = ScoreBook.load(episode)
    book.put(_score())
    other = msgspec.structs.replace(KEY, **change)
    assert book.get(other) is None
    assert book.stale_because(other) == reason


def test_another_scorer_is_another_story(episode: Episode) -> None:
    book = ScoreBook.load(episode)
    book.put(_score())
    assert book.stale_because(msgspec.structs.replace(KEY, scorer="mcr")) is None


def test_going_back_to_an_older_scorer_finds_its_score(episode: Episode) -> None:
    book = ScoreBook.load(episode)
    newer = msgspec.structs.replace(KEY, scorer_hash="c" * 64)
    book.put(_score())
    book.put(_score(newer, 0.0))
    assert ScoreBook.load(episode).get(KEY) == _score()


def test_the_book_is_bounded_per_scorer(episode: Episode) -> None:
    book = ScoreBook.load(episode)
    book.put(_score(msgspec.structs.replace(KEY, scorer="other")))
    for i in range(50):
        book.put(_score(msgspec.structs.replace(KEY, root_hash=f"{i:064x}")))
    entries = ScoreBook.load(episode).entries
    assert len(entries) == 21
    assert entries[-1].key.root_hash == f"{49:064x}"
    assert entries[0].key.scorer == "other"


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": "x"}', b'{"version": 1, "entries": [{}]}'])
def test_damaged_book(episode: Episode, content: bytes) -> None:
    assert episode.scores is not None
    episode.scores.write_bytes(content)
    with pytest.raises(StoreDamagedError, match=r"kept scores of e are damaged.*score again"):
        ScoreBook.load(episode)


def test_book_from_the_future(episode: Episode) -> None:
    assert episode.scores is not None
    episode.scores.write_bytes(b'{"version": 2}')
    with pytest.raises(StoreDamagedError, match="version 2, newer than 1"):
        ScoreBook.load(episode)


def test_outside_a_store_nothing_is_kept(tmp_path: Path) -> None:
    loose = Episode(id="x", log=tmp_path / "x.arrows", folder=None)
    book = ScoreBook.load(loose)
    book.put(_score())
    assert book.get(KEY) is not None
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_book(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    book = ScoreBook.load(episode)
    book.put(_score())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(Exception, match="No space left"):
        book.put(_score(msgspec.structs.replace(KEY, scorer="other")))
    assert len(ScoreBook.load(episode).entries) == 1
    assert episode.folder is not None
    assert [p.name for p in episode.folder.iterdir()] == ["scores.json"]


def test_a_book_that_says_what_it_said_is_not_written(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that was computed again and came out the same leaves the catalogue up to date."""
    book = ScoreBook.load(episode)
    book.put(_score())
    written: list[object] = []
    monkeypatch.setattr("iwreplay.store.scorebook.write_whole", lambda path, data, durable: written.append(path))
    book.put(_score())
    again = ScoreBook.load(episode)
    again.put(_score())
    assert written == []
    again.put(_score(value=0.5))
    assert len(written) == 1
