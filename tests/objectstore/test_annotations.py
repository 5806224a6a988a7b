"""What annotators say goes along with the episodes: a set of records, of which each side gets what it has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.annotations import Label, record_id
from iwreplay.app.remoting import mirrored, pull_episodes, push_episodes
from iwreplay.errors import RemoteDamagedError
from iwreplay.log import check
from iwreplay.store import Store
from iwreplay.store.annotations import add_annotations, kept_annotations
from tests.objectstore.conftest import QUICK, Address, objects
from tests.objectstore.proxy import Proxy
from tests.objectstore.test_push_and_pull import DONE


def _say(store: Store, name: str, *, annotator: str) -> str:
    root = check(store.find(name).log).root_hash
    assert root is not None
    record = Label(root_hash=root, annotator=annotator, label="R1", seq=len(annotator))
    add_annotations(store, lambda _: (record,))
    return record_id(record)


def _said(store: Store) -> set[str]:
    return set(kept_annotations(store).records)


def test_annotations_go_both_ways(store: Store, address: Address, s3, bucket: str, tmp_path: Path) -> None:
    first = _say(store, DONE[0], annotator="anna")
    unsealed = _say(store, "G99-oracle-literal-s1", annotator="anna")
    pushed = {m.episode: m for m in push_episodes(store.root, address(), patience=QUICK)}
    assert (pushed[DONE[0]].annotations, pushed[DONE[1]].annotations) == (1, 0)
    pulled = {m.episode: m for m in pull_episodes(tmp_path / "other", address(), patience=QUICK)}
    assert (pulled[DONE[0]].annotations, pulled[DONE[1]].annotations) == (1, 0)
    other = Store.open(tmp_path / "other")
    assert _said(other) == {first}, "nothing about what was not pushed"

    second = _say(other, DONE[0], annotator="ben")
    (moved,) = push_episodes(other.root, address(), (DONE[0],), patience=QUICK)
    assert (moved.outcome, moved.annotations) == ("updated", 1)
    (moved,) = pull_episodes(store.root, address(), (DONE[0],), patience=QUICK)
    assert (moved.outcome, moved.annotations) == ("updated", 1)
    assert _said(store) == {first, second, unsealed}
    before = objects(s3, bucket)
    for root in (store.root, other.root):
        assert push_episodes(root, address(), (DONE[0],), patience=QUICK)[0].outcome == "present"
        assert pull_episodes(root, address(), (DONE[0],), patience=QUICK)[0].outcome == "present"
    assert objects(s3, bucket) == before
    assert sum(n.startswith("runs/a/annotations/") for n in before) == 2
    assert _said(Store.open(mirrored(address(), tmp_path / "m", patience=QUICK))) == {first, second}


def test_annotations_that_are_not_what_was_written_are_told(
    store: Store, address: Address, s3, bucket: str, proxy: Proxy
) -> None:
    _say(store, DONE[0], annotator="anna")
    push_episodes(store.root, address(), patience=QUICK)
    (key,) = (n for n in objects(s3, bucket) if "/annotations/" in n)
    body = objects(s3, bucket)[key]
    s3.put_object(Bucket=bucket, Key=key, Body=body.replace(b"anna", b"anne"))
    with pytest.raises(RemoteDamagedError, match=r"annotations/.*it is not what was written"):
        pull_episodes(store.root.parent / "other", address(), patience=QUICK)
    assert not (store.root.parent / "other" / "annotations").exists()
