"""A store on an object store is read through a mirror, which follows it; what writes refuses it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import iwreplay
from iwreplay.app.remoting import mirror_folder, mirrored, push_episodes
from iwreplay.errors import RemoteError, StoreDamagedError, StoreError
from iwreplay.log import check
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode
from tests.objectstore.conftest import QUICK, Address, Run, files, objects
from tests.objectstore.proxy import Proxy
from tests.objectstore.test_push_and_pull import DONE


@pytest.fixture
def pushed(store: Store, address: Address, proxy: Proxy) -> Store:
    """The store, with its episodes at the address."""
    frames = store.find(DONE[0]).frames
    frames.mkdir()
    (frames / "f000001.png").write_bytes(b"a picture")
    push_episodes(store.root, address(), patience=QUICK)
    proxy.well()
    return store


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def _ids(root: Path) -> list[str]:
    return [e.id for e in Store.open(root).episodes()]


def test_reading_commands_take_an_address(run: Run, pushed: Store, address: Address, tmp_path: Path) -> None:
    through = ("--mirror", tmp_path / "m")
    done = run(*through, "query", "SELECT episode FROM episodes ORDER BY 1", "--store", address(), "--json")
    assert [r["episode"] for r in done.json()] == DONE
    assert done.err == f"read through the mirror {tmp_path / 'm'}\n"
    done = run(*through, "score", DONE[0], "--store", address(), "--json")
    assert done.code == 0
    assert all(line["kept"] for line in done.json()), "the scores came along"
    assert [e["episode"] for e in run(*through, "show", "--store", address(), "--json").json()] == DONE
    assert run(*through, "show", DONE[0], "--store", address()).code == 0
    assert run(*through, "at", DONE[0], "--seq", 3, "--store", address()).code == 0
    assert run(*through, "log", "check", DONE[1], "--store", address()).code == 0
    assert run(*through, "annotate", "list", "--store", address(), "--json").json() is not None
    assert run(*through, "annotate", "export", tmp_path / "said.jsonl", "--store", address()).code == 0
    assert run(*through, "audit", DONE[0], "--store", address()).code in (0, 1)
    assert not (tmp_path / "m" / "episodes" / DONE[0] / "frames").exists(), "pictures are drawn again"


def test_the_usual_place_of_a_mirror(
    run: Run, pushed: Store, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("query", "SELECT 1", "--store", address()).code == 0
    place = mirror_folder(address())
    assert place.parent == Path("iw-mirror")
    assert place.name.startswith(f"{address().split('/')[2]}-runs-a-")
    assert (place / "iw-mirror.json").exists()
    assert mirror_folder(address("runs/b")) != place
    assert mirror_folder(address(login="id:secret@")) == place, "whoever reads it"


COMMANDS = (
    ("run", "V06"),
    ("replay",),
    ("bench", "list"),
    ("annotate", "import", "x"),
    ("log", "seal", "x"),
    ("log", "recover", "x"),
    ("log", "import", "x"),
    ("store", "push", "s3://b/x"),
    ("store", "pull", "s3://b/x"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_writing_commands_refuse_an_address(
    run: Run, address: Address, proxy: Proxy, command: tuple[str, ...], here: Path
) -> None:
    done = run(*command, "--store", address(login="id12:secret12@"))
    assert (done.code, done.out) == (2, "")
    assert "which this command does not write to: give a folder with --store" in done.err
    assert f"iwreplay store push '{address()}'" in done.err
    assert "secret12" not in done.err
    assert list(here.iterdir()) == []
    assert proxy.asked == []


def test_only_what_changed_is_fetched(pushed: Store, address: Address, proxy: Proxy, tmp_path: Path) -> None:
    mirrored(address(), tmp_path / "m", patience=QUICK)
    assert proxy.count("GET", ".arrows") == 2
    proxy.well()
    mirrored(address(), tmp_path / "m", patience=QUICK)
    assert proxy.count("GET", ".arrows") == proxy.count("GET", "/kept/") == 0
    write_episode(pushed, assistant="new")
    push_episodes(pushed.root, address(), patience=QUICK)
    proxy.well()
    assert _ids(mirrored(address(), tmp_path / "m", patience=QUICK)) == ["G99-new-literal-s0", *DONE]
    assert proxy.count("GET", ".arrows") == 1


def test_the_mirror_follows_what_goes_and_what_changes(
    pushed: Store, address: Address, s3, bucket: str, tmp_path: Path
) -> None:
    root = mirrored(address(), tmp_path / "m", patience=QUICK)
    s3.delete_object(Bucket=bucket, Key=f"runs/a/episodes/{DONE[1]}/manifest.json")
    assert _ids(mirrored(address(), root, patience=QUICK)) == DONE[:1]
    for name in objects(s3, bucket):
        s3.delete_object(Bucket=bucket, Key=name)
    other = Store.open_or_make(tmp_path / "other", made_by="test")
    write_episode(other, events=70)
    push_episodes(other.root, address(), patience=QUICK)
    mirrored(address(), root, patience=QUICK)
    assert check(Store.open(root).find(DONE[0]).log).root_hash == check(other.find(DONE[0]).log).root_hash


def test_scores_of_the_mirror_stay_when_it_follows(pushed: Store, address: Address, tmp_path: Path) -> None:
    root = mirrored(address(), tmp_path / "m", patience=QUICK)
    book = root / "episodes" / DONE[0] / "scores.json"
    before = book.read_bytes()
    book.unlink()
    store = iwreplay.open_store(address(), mirror=root)
    computed = store[DONE[0]].scores()
    assert computed
    write_episode(pushed, assistant="new")
    push_episodes(pushed.root, address(), patience=QUICK)
    mirrored(address(), root, patience=QUICK)
    assert book.exists()
    assert len(book.read_bytes()) == len(before)


def test_a_store_at_an_address_opens_in_python(
    pushed: Store, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = iwreplay.open_store(address())
    assert [e.id for e in store] == DONE
    assert store.path == mirror_folder(address())
    assert store.query("SELECT count(*) AS n FROM episodes").to_pylist() == [{"n": 2}]


def test_who_can_not_be_reached_is_not_answered_from_the_mirror(
    pushed: Store, address: Address, proxy: Proxy, tmp_path: Path
) -> None:
    root = mirrored(address(), tmp_path / "m", patience=QUICK)
    before = files(root)
    for kind in ("lost", "cut"):
        proxy.always(kind)
        with pytest.raises(RemoteError, match="4 attempts failed"):
            mirrored(address(), root, patience=QUICK)
    assert files(root) == before


def test_a_mirror_that_broke_off_goes_on(pushed: Store, address: Address, proxy: Proxy, tmp_path: Path) -> None:
    proxy.always("lost", has=".arrows")
    with pytest.raises(RemoteError):
        mirrored(address(), tmp_path / "m", patience=QUICK)
    assert _ids(tmp_path / "m") == []
    proxy.well()
    assert _ids(mirrored(address(), tmp_path / "m", patience=QUICK)) == DONE


def test_a_log_that_was_damaged_in_the_mirror_is_fetched_again(pushed: Store, address: Address, tmp_path: Path) -> None:
    root = mirrored(address(), tmp_path / "m", patience=QUICK)
    log = Store.open(root).find(DONE[0]).log
    whole = log.read_bytes()
    log.write_bytes(whole[:-100])
    mirrored(address(), root, patience=QUICK)
    assert log.read_bytes() == whole


def test_no_other_folder_is_taken_for_a_mirror(pushed: Store, address: Address, tmp_path: Path) -> None:
    before = files(pushed.root)
    with pytest.raises(StoreError, match="is no mirror, and not empty; give another folder with --mirror"):
        mirrored(address(), pushed.root, patience=QUICK)
    assert files(pushed.root) == before
    root = mirrored(address(), tmp_path / "m", patience=QUICK)
    push_episodes(pushed.root, address("elsewhere"), patience=QUICK)
    with pytest.raises(StoreError, match=r"is the mirror of s3://.*/runs/a\?.*, not of s3://.*/elsewhere\?"):
        mirrored(address("elsewhere"), root, patience=QUICK)
    (root / "iw-mirror.json").write_text("{")
    with pytest.raises(StoreDamagedError, match="delete the mirror"):
        mirrored(address(), root, patience=QUICK)


def test_the_commands_push_pull_and_list(run: Run, store: Store, address: Address, tmp_path: Path) -> None:
    done = run("store", "push", address(), "--store", store.root)
    assert done.code == 1, "one is not sealed"
    assert "2 episodes added\nG99-oracle-literal-s1 was left out: it is not sealed" in done.err
    done = run("store", "push", address(), DONE[0], "--store", store.root, "--json")
    assert (done.code, done.json()[0]["outcome"]) == (0, "present")
    listed = run("store", "list", address(), "--json").json()
    assert [(e["episode"], e["status"]) for e in listed] == [(DONE[0], "ended"), (DONE[1], "interrupted")]
    assert DONE[0] in run("store", "list", address()).out
    done = run("store", "pull", address(), "--store", tmp_path / "other", "--json")
    assert [e["outcome"] for e in done.json()] == ["added", "added"]
    assert json.loads((tmp_path / "other" / "iw-store.json").read_text())["iw_store"] == 1
    shutil.rmtree(tmp_path / "other")
    done = run("store", "pull", address(), "nothing", "--store", tmp_path / "other")
    assert (done.code, "unknown episode 'nothing'" in done.err) == (2, True)
