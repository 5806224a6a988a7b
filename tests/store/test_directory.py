"""The store's folder: made, opened, refused; ids and how they are found."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from iwreplay.errors import StoreDamagedError, StoreError, UnknownNameError
from iwreplay.store import STORE_VERSION, Store, safe_id


def _store(tmp_path: Path) -> Store:
    return Store.open_or_make(tmp_path / "s", made_by="test")


def _add(store: Store, task: str = "G05", assistant: str = "oracle", seed: int = 0) -> str:
    return store.new_episode(task=task, assistant=assistant, human="literal", seed=seed).id


def test_ids_are_deterministic_and_numbered_when_repeated(tmp_path: Path) -> None:
    store = _store(tmp_path)
    assert [_add(store) for _ in range(3)] == [
        "G05-oracle-literal-s0",
        "G05-oracle-literal-s0-r2",
        "G05-oracle-literal-s0-r3",
    ]
    assert _add(store, seed=7) == "G05-oracle-literal-s7"


def test_listing_is_in_natural_order(tmp_path: Path) -> None:
    store = _store(tmp_path)
    made = [_add(store) for _ in range(11)]
    assert [e.id for e in store.episodes()] == made


def test_an_id_can_leave_the_store_nowhere(tmp_path: Path) -> None:
    store = _store(tmp_path)
    episode = store.new_episode(task="../x", assistant="scripted:/etc/p w", human="", seed=0)
    assert episode.id == ".._x-scripted_etc_p_w-_-s0"
    assert episode.folder is not None
    assert episode.folder.parent == store.episodes_dir


def _claim(root: str, n: int) -> list[str]:
    store = Store.open(Path(root))
    return [_add(store) for _ in range(n)]


def test_two_recorders_never_share_a_folder(tmp_path: Path) -> None:
    store = _store(tmp_path)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        a, b = pool.starmap(_claim, [(str(store.root), 20), (str(store.root), 20)])
    assert len(set(a) | set(b)) == 40


def test_find_by_unique_prefix_and_exact_id_first(tmp_path: Path) -> None:
    store = _store(tmp_path)
    _add(store)
    _add(store)
    _add(store, task="P04")
    assert store.find("P").id == "P04-oracle-literal-s0"
    assert store.find("G05-oracle-literal-s0").id == "G05-oracle-literal-s0", "an id that prefixes another is itself"
    with pytest.raises(UnknownNameError, match=r"fits 2 episodes; .*:\n  G05-oracle-literal-s0\n  G05-.*-r2$"):
        store.find("G05")


@pytest.mark.parametrize("wanted", ["X", "", "g05"])
def test_unknown_episode_names_what_there_is(tmp_path: Path, wanted: str) -> None:
    store = _store(tmp_path)
    with pytest.raises(UnknownNameError, match="has no episode yet"):
        store.find(wanted)
    _add(store)
    with pytest.raises(UnknownNameError, match=r"Known: G05-oracle-literal-s0\. All: iwreplay show --store"):
        store.find(wanted)


def test_a_log_file_can_be_named_by_its_path(tmp_path: Path) -> None:
    store = _store(tmp_path)
    loose = tmp_path / "copy.arrows"
    loose.write_bytes(b"x")
    episode = store.find(str(loose))
    assert (episode.id, episode.log, episode.folder, episode.scores) == ("copy", loose, None, None)
    assert episode.frames == Path("copy-frames"), "in the current folder, never beside the log"


def test_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no such folder.*--store"):
        Store.open(tmp_path / "none")
    with pytest.raises(StoreError, match=r"has no iw-store.json"):
        Store.open(tmp_path)
    (tmp_path / "f").write_text("x")
    with pytest.raises(StoreError, match="not an episode store"):
        Store.open(tmp_path / "f")


def test_making_never_moves_in_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(StoreError, match="not empty; nothing was written"):
        Store.open_or_make(tmp_path, made_by="test")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(StoreError, match="is a file"):
        Store.open_or_make(tmp_path / "thesis.txt", made_by="test")
    (tmp_path / "empty").mkdir()
    Store.open_or_make(tmp_path / "empty", made_by="test")
    assert Store.open_or_make(tmp_path / "empty", made_by="test").root == tmp_path / "empty"


@pytest.mark.parametrize("marker", [b"", b"{", b"[]", b'{"iw_store": "1"}', b"\xff", b'{"iw_store": 0}'])
def test_damaged_marker(tmp_path: Path, marker: bytes) -> None:
    store = _store(tmp_path)
    (store.root / "iw-store.json").write_bytes(marker)
    with pytest.raises(StoreDamagedError, match="marker of the store") as e:
        Store.open(store.root)
    assert e.value.exit_code == 3


def test_store_from_the_future(tmp_path: Path) -> None:
    store = _store(tmp_path)
    (store.root / "iw-store.json").write_text(f'{{"iw_store": {STORE_VERSION + 1}}}')
    with pytest.raises(StoreDamagedError, match=rf"version {STORE_VERSION + 1}, newer than {STORE_VERSION}"):
        Store.open(store.root)


def test_a_missing_episodes_folder_is_an_empty_store(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.episodes_dir.rmdir()
    assert list(store.episodes()) == []
    assert _add(store) == "G05-oracle-literal-s0"


def test_a_log_is_taken_in_whole_or_not_at_all(tmp_path: Path) -> None:
    store = _store(tmp_path)

    def breaks(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreError, match="No space left"):
        store.take_in("a-b", breaks)
    assert list(store.episodes()) == []
    taken = store.take_in("a-b", lambda path: path.write_bytes(b"whole") and None)
    assert taken.log.read_bytes() == b"whole"
    assert taken.folder is not None
    assert [p.name for p in taken.folder.iterdir()] == ["log.arrows"]
    with pytest.raises(StoreError, match="has an episode a-b; nothing is overwritten"):
        store.take_in("a-b", breaks)
    assert taken.log.read_bytes() == b"whole"


@pytest.mark.parametrize(
    ("text", "wanted"), [("V06-oracle.2", "V06-oracle.2"), ("../x y", ".._x_y"), ("..", "_"), ("", "_"), ("ä/", "__")]
)
def test_names_become_ids(text: str, wanted: str) -> None:
    assert safe_id(text) == wanted
