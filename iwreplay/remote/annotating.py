"""What people say of episodes, on an object store: records in objects that are only ever added.

    URI/annotations/<sha256>.jsonl    records, a line each, named by its bytes

The same record may be in several of them: they are a set, wherever they come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from iwreplay.annotations import Record, read_records, record_id, write_records
from iwreplay.canonical import sha256_hex
from iwreplay.errors import AnnotationError, RemoteDamagedError
from iwreplay.remote.store import RemoteStore
from iwreplay.remote.together import together
from iwreplay.store import Store
from iwreplay.store.annotations import add_annotations, kept_annotations

__all__ = ["pull_annotations", "push_annotations"]

_FOLDER, _SUFFIX = "annotations", ".jsonl"


def push_annotations(store: Store, remote: RemoteStore, roots: Collection[str]) -> Counter[str]:
    """Puts the records about these logs there that are not there yet, in one object; how many, by root hash."""
    ledger = kept_annotations(store)
    mine = [r for r in ledger.records.values() if r.root_hash in roots]
    if not mine:
        return Counter()
    there = _there(remote)
    new = [r for r in mine if record_id(r) not in there]
    if new:
        data = write_records(new, form="jsonl").encode()
        name = f"{_FOLDER}/{sha256_hex(data)}{_SUFFIX}"
        together(lambda n: remote.files.put(n, data), (name,), stopped=remote.files.stopped)
    return Counter(r.root_hash for r in new)


def pull_annotations(store: Store, remote: RemoteStore, roots: Collection[str]) -> Counter[str]:
    """Takes the records about these logs into a store that are not in it yet; how many, by root hash. AnnotationError
    when they contradict what is in it, RemoteDamagedError when they are not what was written."""
    records = [r for r in _there(remote).values() if r.root_hash in roots]
    new, _ = add_annotations(store, lambda _: records)
    return Counter(r.root_hash for r in new)


def _there(remote: RemoteStore) -> dict[str, Record]:
    """Every record there, by its id."""
    files = remote.files
    (names,) = together(lambda _: files.objects(_FOLDER), (None,), stopped=files.stopped)
    wanted = [n for n in names if n.endswith(_SUFFIX)]
    found: dict[str, Record] = {}
    for name, data in zip(
        wanted, together(lambda n: files.read(f"{_FOLDER}/{n}"), wanted, stopped=files.stopped), strict=True
    ):
        found |= {record_id(r): r for r in _records(remote, name, data)}
    return found


def _records(remote: RemoteStore, name: str, data: bytes | None) -> list[Record]:
    hint = "Delete that object and push again from the store that it came from."
    where = f"{_FOLDER}/{name}"
    if data is None or sha256_hex(data) != name.removesuffix(_SUFFIX):
        raise RemoteDamagedError(remote.shown, where, "it is not what was written", hint=hint)

    def nothing(*_: object) -> str:
        raise AnnotationError("a record there names its log by its root hash")

    try:
        return [r for _, r in read_records(data, form="jsonl", root_of=nothing, seq_of=nothing)]  # type: ignore[arg-type]
    except AnnotationError as e:
        raise RemoteDamagedError(remote.shown, where, str(e), hint=hint) from e
