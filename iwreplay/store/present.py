"""Which version of a user's scorer counts in a store: the one that scored last.

    DIR/scorers/<name>.json

Scores of built-in scorers are shown when they are of this build. A user's scorer is a file that may be anywhere, so the
store keeps the hash that it had when it was used last; kept scores of other versions are not shown beside it.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from iwreplay.errors import StoreDamagedError, StoreError
from iwreplay.store.directory import write_whole

__all__ = ["PresentScorer", "keep_present", "present_scorers"]

_FOLDER = "scorers"
_VERSION = 1


class PresentScorer(msgspec.Struct, frozen=True, kw_only=True):
    """A user's scorer as it was used last in a store."""

    scorer: str
    scorer_hash: str
    #: as its file says
    scorer_version: int
    #: of this record
    version: int = _VERSION


def keep_present(root: Path, scorer: PresentScorer) -> None:
    """Notes that this version counts from now on in the store at `root`. StoreError when it can't be written."""
    path = root / _FOLDER / f"{scorer.scorer}.json"
    try:
        data = msgspec.json.encode(scorer) + b"\n"
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(exist_ok=True)
        write_whole(path, data, durable=False)
    except OSError as e:
        raise StoreError(
            f"the scorer {scorer.scorer} can't be noted in {path}: {e.strerror}. "
            "Where nothing may be written, score a copy of the store"
        ) from e


def present_scorers(root: Path) -> dict[str, str]:
    """Hash of each user's scorer, by name, as it was used last. StoreDamagedError for a note that can't be read."""
    found = {}
    for path in sorted((root / _FOLDER).glob("*.json")):
        try:
            scorer = msgspec.json.decode(path.read_bytes(), type=PresentScorer)
        except (msgspec.MsgspecError, OSError) as e:
            raise StoreDamagedError(
                f"the note of a scorer {path} can't be read ({e}); delete it and score with that scorer again, "
                "nothing else is lost"
            ) from e
        if scorer.version > _VERSION:
            raise StoreDamagedError(
                f"the note of a scorer {path} has version {scorer.version}, newer than {_VERSION}, the newest that "
                "this build reads; upgrade iwreplay, or delete it and score with that scorer again"
            )
        found[scorer.scorer] = scorer.scorer_hash
    return found
