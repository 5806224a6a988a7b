"""What became of the episodes of a run, as records of its journal, and where the run stands. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from recorder.models.metering import Spent
from recorder.models.unheard import Unheard

__all__ = ["Begun", "Ended", "Lost", "Progress", "RunRecord", "progress_of"]


class Begun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="begun"):
    """An episode was given its folder."""

    cell: str
    episode: str


class Ended(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="ended"):
    """An episode is whole: it counts for its cell, whether it is valid or not."""

    cell: str
    episode: str
    root_hash: str
    #: see `iwreplay.store.STATUSES`
    status: str
    end_reason: str
    valid: bool
    #: None when it is not valid
    passed: bool | None
    mcr: float | None
    turns: int
    actions: int
    #: why it is not valid, or ""
    detail: str
    spent: Spent = Spent()
    unheard: Unheard = Unheard()
    # as runs had it before prices could be unknown
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    @property
    def took(self) -> Spent:
        """What its models took."""
        return self.spent if self.spent.calls else Spent(calls=self.calls, tokens=self.tokens, cost_usd=self.cost_usd)


class Lost(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="lost"):
    """An episode that was begun will never be whole: its recorder was killed or stopped. It is begun again."""

    cell: str
    episode: str
    #: "killed": the run was begun again without it; "worker": its worker was lost; "stopped": the run was
    #: stopped, or its budget was spent
    why: str


RunRecord = Begun | Ended | Lost


class Progress(msgspec.Struct, kw_only=True):
    """Where a run stands."""

    #: cell -> its episode
    ended: dict[str, Ended]
    #: cell -> id of the episode that was begun for it, and of which nothing more is known
    open: dict[str, str]
    #: cell -> workers lost over it
    losses: dict[str, int]

    def take(self, record: RunRecord) -> None:
        """The next record of the journal."""
        if isinstance(record, Begun):
            self.open[record.cell] = record.episode
            return
        began = self.open.pop(record.cell, None)
        if isinstance(record, Lost):
            self.losses[record.cell] = self.losses.get(record.cell, 0) + (record.why == "worker")
        elif record.cell not in self.ended or record.episode == began:
            # one that ends without having begun is told twice, and counts once
            self.ended[record.cell] = record


def progress_of(records: Iterable[RunRecord]) -> Progress:
    """Folds a journal."""
    at = Progress(ended={}, open={}, losses={})
    for record in records:
        at.take(record)
    return at
