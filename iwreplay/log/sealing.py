"""Compaction and seal: an open log becomes a whole one, in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from iwreplay.errors import LogWriteError
from iwreplay.log.chain import BatchFrames, Chain
from iwreplay.log.files import WritableFile, create_file, replace_file
from iwreplay.log.format import EOS, SEAL_BYTES, SEAL_EVENTS, BatchMeta, IndexEntry, Recovered, SealMeta
from iwreplay.log.messages import MessageWriter, schema_message, trailer
from iwreplay.log.parity import parity_of
from iwreplay.log.reader import read_log

__all__ = ["compact"]


def compact(path: Path, *, recovered: Recovered | None, open_file: Callable[[Path], WritableFile] = create_file) -> str:
    """Rewrites an open log as a sealed one and puts it in its place; gives the root hash.

    The caller holds the writer's lock. Every batch is verified while it is copied. The new file is written beside,
    synced, and renamed over the old one: a crash at any point leaves one of the two, whole. Raises LogCorruptError
    for a damaged log and LogWriteError when the disk refuses; the open log is untouched then.
    """
    beside = path.with_name(path.name + ".sealing")
    beside.unlink(missing_ok=True)
    try:
        file = open_file(beside)
        try:
            root = _write(path, file, beside, recovered)
            file.sync()
        finally:
            file.close()
        replace_file(beside, path)
    except (OSError, ValueError) as e:
        beside.unlink(missing_ok=True)
        raise LogWriteError(
            f"sealing {path} failed: {e}; the open log is intact, seal it again with room to spare"
        ) from e
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return root


def _write(path: Path, file: WritableFile, beside: Path, recovered: Recovered | None) -> str:
    messages, chain = MessageWriter(compress=True), Chain()
    first_message, prev = schema_message(recovered)
    file.write(first_message)
    offset = len(first_message)
    index: list[IndexEntry] = []
    for batch, snapshots in _regrouped(path):
        first = chain.count
        chain.add_batch(BatchFrames.of(batch))
        meta = BatchMeta(first=first, count=batch.num_rows, prev=prev, head=chain.root, snapshots=snapshots)
        raw, prev = messages.batch(batch, meta)
        file.write(raw)
        index.append(IndexEntry(offset, len(raw), first, batch.num_rows, prev, snapshots))
        offset += len(raw)
    with beside.open("rb") as written:
        parity = parity_of(written, offset)
    seal = SealMeta(events=chain.count, root=chain.root, prev=prev, batches=tuple(index))
    raw, digest = messages.seal(seal, parity)
    file.write(raw)
    file.write(EOS)
    file.write(trailer(seal_digest=digest, seal_offset=offset, eos_end=offset + len(raw) + len(EOS)))
    return chain.root


def _regrouped(path: Path) -> Iterator[tuple[pa.RecordBatch, tuple[int, ...]]]:
    """Batches of up to SEAL_EVENTS events or about SEAL_BYTES, with the seqs of their snapshots."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    with read_log(path) as log:
        snapshots: list[int] = []
        for loaded, _ in log.verified_batches(envelope=True):
            held.append(loaded.batch)
            rows += loaded.span.count
            size += loaded.batch.nbytes
            snapshots += loaded.meta.snapshots
            if rows >= SEAL_EVENTS or size >= SEAL_BYTES:
                *full, rest = _split(held)
                if size >= SEAL_BYTES or rest.num_rows == SEAL_EVENTS:
                    full, rest = [*full, rest], rest.slice(0, 0)
                yield from ((b, _within(b, snapshots)) for b in full)
                held, rows, size = ([rest], rest.num_rows, rest.nbytes) if rest.num_rows else ([], 0, 0)
        if held:
            yield from ((b, _within(b, snapshots)) for b in _split(held))


def _split(held: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = pa.Table.from_batches(held).combine_chunks().to_batches(max_chunksize=SEAL_EVENTS)
    return batches


def _within(batch: pa.RecordBatch, snapshots: list[int]) -> tuple[int, ...]:
    first = batch.column("seq")[0].as_py()
    return tuple(s for s in snapshots if first <= s < first + batch.num_rows)
