"""Makes the golden log of format version 1: ``python -m tests.log.make_golden_v1 FOLDER``.

Run once; what it made is committed and never made again (an existing file is an error). The events are those of
`tests.log.samples.every_kind` as it was then.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.log import LogWriter, read_log
from tests.log.samples import every_kind

__all__ = ["make", "twin"]

WALL_NS = 1_760_000_000_000_000_000


def make(folder: Path) -> None:
    """An open log in three batches, the sealed one made from the same events, and the JSON twin of both."""
    for name, sealed in (("open.arrows", False), ("sealed.arrows", True)):
        with LogWriter.create(folder / name) as log:
            for i, event in enumerate(every_kind()):
                log.append(event, wall_ns=WALL_NS + i)
                if i in (9, 17):
                    log.commit()
            if sealed:
                log.seal()
    (folder / "open.arrows.lock").unlink()
    text = msgspec.json.format(msgspec.json.encode(twin(folder / "sealed.arrows")), indent=1)
    (folder / "twin.json").write_bytes(text + b"\n")


def twin(path: Path) -> dict[str, Any]:
    """A log as JSON: version, root hash, and every event with seq, wall time and its array."""
    with read_log(path) as log:
        return {
            "format_version": log.format_version,
            "root_hash": log.root_hash,
            "events": [
                {"seq": seq, "wall_ns": log.wall_ns(seq), "event": msgspec.to_builtins(event)} for seq, event in log
            ],
        }


if __name__ == "__main__":
    make(Path(sys.argv[1]))
