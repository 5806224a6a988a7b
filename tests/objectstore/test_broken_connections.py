"""Connections that are cut, stall, drip or damage, and servers that fail: mended where asking again helps, else one
clear error that names the address; nothing half-written here, nothing half visible there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from iwreplay.app.remoting import list_remote, pull_episodes, push_episodes
from iwreplay.errors import RemoteDamagedError, RemoteError, StoreError
from iwreplay.remote import Patience
from iwreplay.store import Store
from tests.objectstore.conftest import QUICK, Address, files
from tests.objectstore.proxy import Proxy
from tests.objectstore.test_push_and_pull import DONE

ROOT = Path(__file__).resolve().parents[2]
#: gives up on a connection on which nothing moves
HASTY = Patience(attempts=2, pause_s=0.01, connect_s=2.0, request_s=1.0)


@pytest.fixture
def pushed(store: Store, address: Address, proxy: Proxy) -> Store:
    """The store, with its episodes at the address."""
    push_episodes(store.root, address(), patience=QUICK)
    proxy.well()
    return store


def _whole(root: Path, store: Store) -> None:
    for name in DONE:
        folder = store.find(name).folder
        assert folder is not None
        assert files(root / "episodes" / name) == files(folder)
    assert not list(root.rglob("*.part"))


#: what is wrong for a moment, and with which objects
PASSING = [
    *((kind, at, has) for kind, at in (("cut", 100), ("cut", 0), ("lost", 0), ("status", 503), ("status", 500))
      for has in (".arrows", "/kept/", ".json")),
    # what is damaged in a manifest or marker is told, not asked for again
    ("damage", 60, ".arrows"),
    ("damage", 60, "/kept/"),
]  # fmt: skip


@pytest.mark.parametrize("wrong", PASSING, ids=str)
def test_a_pull_gets_over_what_passes(
    pushed: Store, address: Address, proxy: Proxy, tmp_path: Path, wrong: tuple[str, int, str]
) -> None:
    kind, at, has = wrong
    proxy.always(kind, at, method="GET", has=has, times=2)
    pull_episodes(tmp_path / "other", address(), patience=QUICK)
    _whole(tmp_path / "other", pushed)


@pytest.mark.parametrize("wrong", [("lost", 0), ("status", 503), ("status", 500)], ids=str)
def test_a_push_gets_over_what_passes(
    store: Store, address: Address, proxy: Proxy, tmp_path: Path, wrong: tuple[str, int]
) -> None:
    proxy.always(*wrong, method="PUT", times=3)
    push_episodes(store.root, address(), patience=QUICK)
    pull_episodes(tmp_path / "other", address(), patience=QUICK)
    _whole(tmp_path / "other", store)


@pytest.mark.parametrize(
    "wrong",
    [
        ("cut", 100, RemoteError, "4 attempts failed|100 bytes came"),
        ("lost", 0, RemoteError, "4 attempts failed.*repeat the command"),
        ("status", 503, RemoteError, "4 attempts failed.*repeat the command"),
        ("damage", 99, RemoteDamagedError, "its SHA-256 is .*, not"),
        ("status", 403, RemoteError, "access is denied.*AWS_ACCESS_KEY_ID"),
        ("status", 404, RemoteError, "it is not there"),
    ],
    ids=lambda w: f"{w[0]}-{w[1]}",
)
def test_a_pull_that_can_not_be_done_leaves_nothing_half(
    pushed: Store, address: Address, proxy: Proxy, tmp_path: Path, wrong: tuple[str, int, type[RemoteError], str]
) -> None:
    kind, at, error, said = wrong
    method = "GET" if kind in ("cut", "damage") else ""
    proxy.always(kind, at, method=method, has=".arrows")
    other = tmp_path / "other"
    with pytest.raises(error, match=said) as raised:
        pull_episodes(other, address(), (DONE[0],), patience=QUICK)
    assert str(raised.value).startswith(address()), "it names the address"
    assert "made-up-secret" not in str(raised.value)
    asked = [a for a in proxy.asked if a.path.partition("?")[0].endswith(".arrows")]
    assert 1 <= len(asked) <= (2 if at in (403, 404) else 8), "asked a bounded number of times"
    assert list((other / "episodes").iterdir()) == []
    assert not list(other.rglob("*.arrows"))

    proxy.well()
    pull_episodes(other, address(), patience=QUICK)
    _whole(other, pushed)


def test_a_pull_goes_on_where_it_was(pushed: Store, address: Address, proxy: Proxy, tmp_path: Path) -> None:
    folder = pushed.find(DONE[0]).folder
    assert folder is not None
    for n in range(5):
        (folder / "requests").mkdir(exist_ok=True)
        (folder / "requests" / f"{n:064d}.json").write_text(f'{{"n": {n}}}')
    push_episodes(pushed.root, address(), (DONE[0],), patience=QUICK)
    proxy.well()
    proxy.always("lost", has=".arrows")
    with pytest.raises(RemoteError):
        pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=QUICK)
    came = sum("/kept/" in a.path and a.method == "GET" for a in proxy.asked)
    assert came == 6, "what is beside the log came"
    proxy.well()
    pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=QUICK)
    assert sum("/kept/" in a.path for a in proxy.asked) == 0, "and is not asked for again"
    assert files(tmp_path / "other" / "episodes" / DONE[0]) == files(folder)


@pytest.mark.parametrize("has", [".arrows", "manifest.json", "/kept/", ".json"])
@pytest.mark.parametrize("wrong", [("lost", 0), ("status", 500), ("status", 403)], ids=str)
def test_a_push_that_can_not_be_done_is_not_seen(
    store: Store, address: Address, proxy: Proxy, has: str, wrong: tuple[str, int]
) -> None:
    proxy.always(*wrong, method="PUT", has=has)
    with pytest.raises(RemoteError, match="access is denied" if wrong[1] == 403 else "4 attempts failed"):
        push_episodes(store.root, address(), patience=QUICK)
    sent = [a.path for a in proxy.asked if a.method == "PUT" and "manifest.json" in a.path]
    proxy.well()
    if has == ".json":
        with pytest.raises(RemoteError, match="no episode store"):
            list_remote(address(), patience=QUICK)
    else:
        assert list_remote(address(), patience=QUICK) == ()
        assert not sent or has == "manifest.json"
    push_episodes(store.root, address(), patience=QUICK)
    other = store.root.parent / "other"
    pull_episodes(other, address(), patience=QUICK)
    _whole(other, store)


def test_a_push_goes_on_where_it_was(store: Store, address: Address, proxy: Proxy) -> None:
    proxy.always("lost", method="PUT", has="manifest.json")
    with pytest.raises(RemoteError):
        push_episodes(store.root, address(), (DONE[0],), patience=QUICK)
    assert proxy.count("PUT", ".arrows") == 1
    proxy.well()
    push_episodes(store.root, address(), (DONE[0],), patience=QUICK)
    assert proxy.count("PUT", ".arrows") == 0, "the log was there"
    assert proxy.count("PUT", "manifest.json") == 1


@pytest.mark.parametrize("times", [1, 10**9], ids=["once", "always"])
def test_a_connection_on_which_nothing_moves_is_given_up(
    pushed: Store, address: Address, proxy: Proxy, tmp_path: Path, times: int
) -> None:
    proxy.always("stall", has=".arrows", times=times)
    if times == 1:
        pull_episodes(tmp_path / "other", address(), patience=HASTY)
        _whole(tmp_path / "other", pushed)
        return
    with pytest.raises(RemoteError, match=r"2 attempts failed: .*([Tt]imeout|too slow)"):
        pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=HASTY)
    once = Patience(attempts=1, connect_s=2.0, request_s=1.0)
    with pytest.raises(RemoteError, match="1 attempts failed"):
        push_episodes(pushed.root, address(), (DONE[0],), again=True, patience=once)


def test_a_slow_server_is_waited_for(pushed: Store, address: Address, proxy: Proxy, tmp_path: Path) -> None:
    proxy.always("drip", 512, method="GET")
    pull_episodes(tmp_path / "other", address(), patience=QUICK)
    _whole(tmp_path / "other", pushed)


def test_the_seconds_can_be_given_in_the_address(pushed: Store, address: Address, proxy: Proxy) -> None:
    proxy.always("stall")
    with pytest.raises(RemoteError, match="last 1 seconds"):
        list_remote(address(options="&request_timeout=1"), patience=Patience(attempts=1))


def test_nobody_there(store: Store, address: Address, proxy: Proxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nowhere = f"s3://bucket/runs?endpoint_override=127.0.0.1:{port}&scheme=http"
    for work in (
        lambda: list_remote(nowhere, patience=QUICK),
        lambda: push_episodes(store.root, nowhere, patience=QUICK),
    ):
        with pytest.raises(
            RemoteError, match=r"4 attempts failed.*Is the address right, and the network there"
        ) as raised:
            work()
        assert str(raised.value).startswith(nowhere)


def test_a_full_disk_here_is_not_taken_for_a_fault_there(
    pushed: Store, address: Address, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open_or_make(tmp_path / "other", made_by="test")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("iwreplay.remote.files.os.fsync", full)
    with pytest.raises(StoreError, match="No space left on device") as raised:
        pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=QUICK)
    assert not isinstance(raised.value, RemoteError)
    assert proxy.count("GET", "/kept/") + proxy.count("GET", ".json") < 8, "and not asked for again"
    monkeypatch.undo()
    assert list((tmp_path / "other" / "episodes").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("command", ["push", "pull"])
def test_ctrl_c_ends_at_once_and_the_work_goes_on_later(
    store: Store, address: Address, proxy: Proxy, tmp_path: Path, command: str
) -> None:
    if command == "pull":
        push_episodes(store.root, address(), patience=QUICK)
        proxy.well()
    proxy.always("stall", has=".arrows")
    root = store.root if command == "push" else tmp_path / "other"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "iwreplay", "store", command, address(), DONE[0], "--store", str(root)],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not [a for a in proxy.asked if a.path.partition("?")[0].endswith(".arrows")]:
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    proxy.well()
    if command == "push":
        assert list_remote(address(), patience=QUICK) == ()
        push_episodes(store.root, address(), patience=QUICK)
    else:
        assert list((root / "episodes").iterdir()) == []
    pull_episodes(tmp_path / "other", address(), patience=QUICK)
    _whole(tmp_path / "other", store)
