"""An episode to look at: who played, what happened, the world at any event, scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from iwreplay.app.episodes import Listed, event_at, look_at, world_at
from iwreplay.app.scoring import ScoreLine, score_episodes
from iwreplay.events import Event
from iwreplay.log import read_log
from iwreplay.store import Episode
from iwreplay.world.state import WorldState, fold

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OpenEpisode"]


class OpenEpisode:
    """One episode. What became of it is read from its log when it is first asked for, and remembered."""

    def __init__(self, place: Episode, *, store: Path, keep: bool) -> None:
        """`keep`: scores that are computed are kept beside the log."""
        self._place, self._store, self._keep = place, store, keep

    def __repr__(self) -> str:
        return f"<episode {self.id}>"

    @property
    def id(self) -> str:
        return self._place.id

    @property
    def path(self) -> Path:
        """File of the log."""
        return self._place.log

    @cached_property
    def summary(self) -> Listed:
        """What became of it. Verifies the whole log; damage is in the answer, not raised."""
        return look_at(self._place)

    @property
    def task(self) -> str | None:
        """Id of the task; None when the log can't tell."""
        return self.summary.task

    @property
    def assistant(self) -> str | None:
        """Name of the Assistant; None when the log can't tell."""
        return self.summary.assistant

    @property
    def human(self) -> str | None:
        """Name of the Human; None when the log can't tell."""
        return self.summary.human

    @property
    def status(self) -> str:
        """ended, interrupted, fault, unfinished, incomplete, damaged or unreadable."""
        return self.summary.status

    @property
    def end_reason(self) -> str | None:
        """done, turn_limit, action_limit, fault or interrupted; None without an end."""
        return self.summary.end_reason

    @property
    def turns(self) -> int | None:
        """Turns of live interaction; None without an end."""
        return self.summary.turns

    @property
    def actions(self) -> int | None:
        """Commands in live interaction, refused ones included; None without an end."""
        return self.summary.actions

    def __len__(self) -> int:
        """Intact events."""
        return self.summary.events

    def events(self, *kinds: type[Event]) -> Iterator[tuple[int, Event]]:
        """(seq, event) in order, of these kinds only if any are named. LogCorruptError after the last intact event of
        a damaged log."""
        with read_log(self.path) as log:
            if not kinds:
                yield from log
                return
            for chunk in log.chunks():
                yield from chunk.select(kinds)

    def event(self, seq: int) -> Event:
        """One event. UnknownNameError when the log has none of that number."""
        with read_log(self.path) as log:
            return event_at(log, self._place, seq=seq)

    def state_at(self, seq: int) -> WorldState:
        """The world just after event `seq`. UnknownNameError when the log has none of that number."""
        return world_at(self._place, seq=seq)

    def states(self, *kinds: type[Event]) -> Iterator[tuple[int, Event, WorldState]]:
        """(seq, event, world just after it) in order, of these kinds only if any are named. Each world is one of its
        own, that can be kept."""
        with read_log(self.path) as log:
            for seq, event, state in fold(log):
                if not kinds or isinstance(event, kinds):
                    yield seq, event, state.copy()

    def table(self) -> pa.Table:
        """The log as it is stored: a row an event, with the columns that FORMAT.md names."""
        with read_log(self.path) as log:
            return log.table()

    def score(self, scorer: str) -> ScoreLine:
        """What a scorer says: `value`, `status`, `reason`, `evidence` (numbers of events), `details`. The value is None
        when the episode is unscorable. UnknownNameError when there is no such scorer.

        A score that is kept for the same log and scorer is used; one that is computed is kept, where that may be."""
        return self._scores((scorer,))[0]

    def scores(self) -> dict[str, ScoreLine]:
        """What every scorer says, by its name."""
        return {line.scorer: line for line in self._scores(())}

    def _scores(self, scorers: tuple[str, ...]) -> tuple[ScoreLine, ...]:
        return score_episodes(self._store, (self.id,), scorers=scorers, keep=self._keep)
