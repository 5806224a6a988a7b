"""Episodes go to an object store and come back the same; what is there is never overwritten or sent twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from iwreplay.app.remoting import list_remote, pull_episodes, push_episodes
from iwreplay.app.scoring import score_episodes
from iwreplay.errors import AmbiguousNameError, RemoteDamagedError, RemoteError, StoreError, UnknownNameError
from iwreplay.log import check, read_log
from iwreplay.remote.manifest import Manifest, decode_manifest, encode_manifest
from iwreplay.store import Episode, ScoreBook, Store, VerdictClaim, kept_verdicts
from tests.catalogue.conftest import write_episode
from tests.objectstore.conftest import QUICK, Address, files, objects
from tests.objectstore.proxy import Proxy
from tests.store.test_verdicts import VERDICT

DONE = ["G99-oracle-literal-s0", "G99-silent-literal-s0"]


def _outcomes(moved: object) -> dict[str, str]:
    return {m.episode: m.outcome for m in moved}  # type: ignore[attr-defined]


def _keep_beside(episode: Episode) -> None:
    """One of everything that may stand beside a log."""
    assert episode.folder is not None
    for name, data in {
        "requests/" + "ab" * 32 + ".json": b'{"a": 1}',
        "frames/f000001.png": b"a picture",
        "seen/f000001.png": b"a picture",
        "pixels/" + "cd" * 32 + ".png": b"pixels",
    }.items():
        path = episode.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (episode.folder / ".scores.json.123").write_bytes(b"left by a writer that was killed")
    (episode.folder / "log.arrows.lock").write_bytes(b"")
    (episode.folder / "link").symlink_to("/etc/hostname")


def _keep_verdict(episode: Episode, **changes: object) -> None:
    with VerdictClaim.of(episode) as claim:
        claim.keep(msgspec.structs.replace(VERDICT, **changes), wall_ns=1)


def test_what_was_pushed_comes_back_the_same(store: Store, address: Address, tmp_path: Path) -> None:
    first = store.find(DONE[0])
    _keep_beside(first)
    _keep_verdict(first)
    pushed = push_episodes(store.root, address(), patience=QUICK)
    assert _outcomes(pushed) == {DONE[0]: "added", DONE[1]: "added", "G99-oracle-literal-s1": "left out"}
    assert "not sealed" in pushed[1].reason or "not sealed" in pushed[2].reason

    pulled = pull_episodes(tmp_path / "other", address(), patience=QUICK)
    assert _outcomes(pulled) == dict.fromkeys(DONE, "added")
    for name in DONE:
        there, here = store.find(name).folder, tmp_path / "other" / "episodes" / name
        assert there is not None
        kept = {n: b for n, b in files(there).items() if not Path(n).name.startswith(".") and n != "link"}
        assert files(here) == kept
        assert len(kept) == (7 if name == DONE[0] else 2)
    assert not (tmp_path / "other" / ".pulling").exists()
    lines = score_episodes(tmp_path / "other", compute=False)
    assert lines
    assert all(line.kept for line in lines)


def test_the_list_tells_what_is_there_and_reads_no_log(store: Store, address: Address, proxy: Proxy) -> None:
    push_episodes(store.root, address(), patience=QUICK)
    proxy.well()
    listed = list_remote(address(), patience=QUICK)
    assert [(e.episode, e.task, e.assistant, e.human, e.status) for e in listed] == [
        (DONE[0], "G99", "oracle", "literal", "ended"),
        (DONE[1], "G99", "silent", "literal", "interrupted"),
    ]
    for e in listed:
        with read_log(store.find(e.episode).log) as log:
            assert (e.root_hash, e.events) == (log.root_hash, len(log))
    assert proxy.count("GET", ".arrows") == 0


def test_what_is_there_is_not_sent_again(store: Store, address: Address, proxy: Proxy, tmp_path: Path) -> None:
    push_episodes(store.root, address(), patience=QUICK)
    proxy.well()
    again = push_episodes(store.root, address(), tuple(DONE), patience=QUICK)
    assert _outcomes(again) == dict.fromkeys(DONE, "present")
    assert proxy.count("PUT") == 0
    pull_episodes(tmp_path / "other", address(), patience=QUICK)
    proxy.well()
    assert _outcomes(pull_episodes(tmp_path / "other", address(), patience=QUICK)) == dict.fromkeys(DONE, "present")
    assert proxy.count("GET", ".arrows") == 0


def test_episodes_are_named_as_in_a_store(store: Store, address: Address, tmp_path: Path) -> None:
    assert _outcomes(push_episodes(store.root, address(), ("G99-si",), patience=QUICK)) == {DONE[1]: "added"}
    push_episodes(store.root, address(), (DONE[0],), patience=QUICK)
    assert [m.episode for m in pull_episodes(tmp_path / "o", address(), ("G99-o",), patience=QUICK)] == DONE[:1]
    with pytest.raises(AmbiguousNameError, match="fits 2 episodes"):
        pull_episodes(tmp_path / "o", address(), ("G99",), patience=QUICK)
    with pytest.raises(UnknownNameError, match=r"unknown episode 'X'.*iwreplay store list 's3://"):
        pull_episodes(tmp_path / "o", address(), ("X",), patience=QUICK)


@pytest.mark.parametrize("damaged", [False, True], ids=["open", "damaged"])
def test_what_is_not_whole_is_left_out_and_refused_by_name(
    store: Store, address: Address, s3, bucket: str, damaged: bool
) -> None:
    wanted = DONE[0] if damaged else "G99-oracle-literal-s1"
    log = store.find(wanted).log
    if damaged:
        data = bytearray(log.read_bytes())
        data[len(data) // 3] ^= 1
        log.write_bytes(data)
    with pytest.raises(StoreError, match="log recover G99" if damaged else "log seal G99"):
        push_episodes(store.root, address(), (wanted,), patience=QUICK)
    assert set(objects(s3, bucket)) <= {"runs/a/iw-store.json"}
    assert _outcomes(push_episodes(store.root, address(), patience=QUICK))[wanted] == "left out"


def test_another_log_of_the_same_name_is_never_overwritten(
    store: Store, address: Address, s3, bucket: str, tmp_path: Path
) -> None:
    push_episodes(store.root, address(), patience=QUICK)
    before = objects(s3, bucket)
    other = Store.open_or_make(tmp_path / "other", made_by="test")
    write_episode(other, events=90)
    write_episode(other, assistant="new", events=80)
    roots = [check(s.find(DONE[0]).log).root_hash for s in (store, other)]
    with pytest.raises(StoreError, match=f"another log called {DONE[0]}.*{roots[0]}.*{roots[1]}") as raised:
        push_episodes(other.root, address(), patience=QUICK)
    assert "another address" in str(raised.value)
    assert objects(s3, bucket) == before, "nothing was pushed"
    with pytest.raises(StoreError, match=f"another log called {DONE[0]}.*{roots[1]}.*{roots[0]}"):
        pull_episodes(other.root, address(), patience=QUICK)
    assert not (other.root / "episodes" / DONE[1]).exists(), "nothing was pulled"


def test_a_log_is_in_no_store_twice(store: Store, address: Address, s3, bucket: str, tmp_path: Path) -> None:
    push_episodes(store.root, address(), patience=QUICK)
    before = objects(s3, bucket)
    renamed = Store.open_or_make(tmp_path / "renamed", made_by="test")
    renamed.take_in("by-another-name", lambda path: shutil.copyfile(store.find(DONE[0]).log, path) and None)
    with pytest.raises(StoreError, match=f"has the log of by-another-name already, as {DONE[0]}"):
        push_episodes(renamed.root, address(), patience=QUICK)
    assert objects(s3, bucket) == before
    with pytest.raises(StoreError, match=f"has the log of {DONE[0]} already, as by-another-name"):
        pull_episodes(renamed.root, address(), patience=QUICK)


def test_scores_and_verdicts_of_both_sides_come_together(store: Store, address: Address, tmp_path: Path) -> None:
    first = store.find(DONE[0])
    _keep_verdict(first)
    push_episodes(store.root, address(), (DONE[0],), patience=QUICK)
    pull_episodes(tmp_path / "other", address(), patience=QUICK)
    there = Store.open(tmp_path / "other").find(DONE[0])

    _keep_verdict(first, iwreplay="mine")
    _keep_verdict(there, iwreplay="theirs")
    for episode, value in ((first, "mine"), (there, "theirs")):
        book = ScoreBook.load(episode)
        key = msgspec.structs.replace(book.entries[0].key, scorer=value)
        book.put(msgspec.structs.replace(book.entries[0], key=key))

    assert _outcomes(push_episodes(store.root, address(), (DONE[0],), patience=QUICK)) == {DONE[0]: "updated"}
    assert _outcomes(push_episodes(tmp_path / "other", address(), patience=QUICK)) == {DONE[0]: "updated"}
    for root in (store.root, tmp_path / "other"):
        assert _outcomes(pull_episodes(root, address(), patience=QUICK)) == {DONE[0]: "updated"}
        assert _outcomes(pull_episodes(root, address(), patience=QUICK)) == {DONE[0]: "present"}
    for episode in (first, there):
        made_by = {v.verdict.iwreplay for v in kept_verdicts(episode) if v.verdict is not None}
        assert made_by == {VERDICT.iwreplay, "mine", "theirs"}
        assert len(list(kept_verdicts(episode))) == 3
        assert {"mine", "theirs"} <= {e.key.scorer for e in ScoreBook.load(episode).entries}
    numbers = {v.replay: v.verdict.iwreplay for v in kept_verdicts(first) if v.verdict is not None}
    assert numbers == {1: VERDICT.iwreplay, 2: "mine", 3: "theirs"}, "no verdict was replaced"


def _manifest(s3, bucket: str, name: str) -> tuple[str, Manifest]:
    key = f"runs/a/episodes/{name}/manifest.json"
    found = decode_manifest(s3.get_object(Bucket=bucket, Key=key)["Body"].read(), episode=name)
    assert isinstance(found, Manifest)
    return key, found


def test_an_object_that_was_cut_is_told_and_mended_by_pushing_again(
    store: Store, address: Address, s3, bucket: str, tmp_path: Path
) -> None:
    push_episodes(store.root, address(), patience=QUICK)
    _, manifest = _manifest(s3, bucket, DONE[0])
    key = f"runs/a/{manifest.object_of(manifest.log)}"
    whole = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    s3.put_object(Bucket=bucket, Key=key, Body=whole[:-7])
    with pytest.raises(RemoteDamagedError, match=f"{len(whole) - 7} bytes came, not {len(whole)}.*--again") as raised:
        pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=QUICK)
    assert manifest.root_hash in str(raised.value)
    assert raised.value.exit_code == 3
    assert not (tmp_path / "other" / "episodes" / DONE[0]).exists()
    push_episodes(store.root, address(), (DONE[0],), again=True, patience=QUICK)
    assert _outcomes(pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=QUICK)) == {DONE[0]: "added"}


def test_a_forged_episode_is_refused_by_its_root_hash(
    store: Store, address: Address, s3, bucket: str, tmp_path: Path
) -> None:
    """Sizes and checksums that fit each other say nothing of what the log is."""
    push_episodes(store.root, address(), patience=QUICK)
    key, first = _manifest(s3, bucket, DONE[0])
    _, second = _manifest(s3, bucket, DONE[1])
    forged = msgspec.structs.replace(first, log=second.log)
    s3.put_object(Bucket=bucket, Key=key, Body=encode_manifest(forged))
    other = s3.get_object(Bucket=bucket, Key=f"runs/a/{second.object_of(second.log)}")["Body"].read()
    s3.put_object(Bucket=bucket, Key=f"runs/a/{first.object_of(first.log)}", Body=other)
    with pytest.raises(RemoteDamagedError, match=f"its root hash is {second.root_hash}, not {first.root_hash}"):
        pull_episodes(tmp_path / "other", address(), (DONE[0],), patience=QUICK)
    assert not (tmp_path / "other" / "episodes" / DONE[0]).exists()


@pytest.mark.parametrize(
    "wrong",
    [
        (lambda raw: raw[:50], "it is damaged"),
        (lambda raw: raw.replace(b'"events":', b'"events":9'), "not what was written"),
        (lambda raw: raw.replace(b'"iw_manifest":1', b'"iw_manifest":2'), "version 2 is newer"),
    ],
    ids=["cut", "changed", "newer"],
)
def test_a_manifest_that_is_not_what_was_written_is_told(
    store: Store, address: Address, s3, bucket: str, wrong: tuple[Callable[[bytes], bytes], str]
) -> None:
    change, said = wrong
    push_episodes(store.root, address(), patience=QUICK)
    key = f"runs/a/episodes/{DONE[0]}/manifest.json"
    s3.put_object(Bucket=bucket, Key=key, Body=change(s3.get_object(Bucket=bucket, Key=key)["Body"].read()))
    with pytest.raises(RemoteDamagedError, match=f"{DONE[0]}/manifest.json.*{said}"):
        list_remote(address(), patience=QUICK)


@pytest.mark.parametrize("path", ["../../x", "/etc/x", "a/../../x", ".hidden", "log.arrows", "a//b", ""])
def test_a_manifest_leads_nowhere_else(store: Store, address: Address, s3, bucket: str, path: str) -> None:
    push_episodes(store.root, address(), patience=QUICK)
    key, manifest = _manifest(s3, bucket, DONE[0])
    evil = msgspec.structs.replace(manifest, files=(msgspec.structs.replace(manifest.log, path=path),))
    s3.put_object(Bucket=bucket, Key=key, Body=encode_manifest(evil))
    with pytest.raises(RemoteDamagedError, match="names what does not belong"):
        list_remote(address(), patience=QUICK)


def test_a_bucket_or_store_that_is_not_there_is_told(store: Store, address: Address, tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match=r"there is no bucket 'nowhere-at-all'.*Make it"):
        list_remote(address(bucket="nowhere-at-all"), patience=QUICK)
    with pytest.raises(RemoteError, match="there is no bucket 'nowhere-at-all'"):
        push_episodes(store.root, address(bucket="nowhere-at-all"), patience=QUICK)
    with pytest.raises(RemoteError, match=r"no episode store: no iw-store.json.*iwreplay store push 's3://"):
        pull_episodes(tmp_path / "x", address(), patience=QUICK)
    assert not (tmp_path / "x").exists()


def test_a_mounted_folder_is_an_object_store_too(store: Store, tmp_path: Path) -> None:
    there = f"file://{tmp_path}/shared%20disk/runs"
    push_episodes(store.root, there)
    assert _outcomes(push_episodes(store.root, there, tuple(DONE))) == dict.fromkeys(DONE, "present")
    assert _outcomes(pull_episodes(tmp_path / "other", there)) == dict.fromkeys(DONE, "added")
    assert not list((tmp_path / "shared disk").rglob("*.part"))
