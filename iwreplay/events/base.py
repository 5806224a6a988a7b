"""What every event has.

Events are inert: frozen, keyword-only, tagged by ``kind``; no clock, uuid or callable in them.
``seq`` and wall time belong to the log's envelope, not to the event.
"""

from __future__ import annotations

import msgspec

from iwreplay.vocabulary import Phase

__all__ = ["Event"]


# gc=False: events are trees of plain data, which can hold no reference cycle for the collector to look for
class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", gc=False):
    """Base of all events. A field that this version does not know is refused on reading, never dropped."""

    #: simulated seconds since the start of the episode, >= 0, never decreasing along a log
    sim_time_s: float
    #: 0 before live interaction, then 1, 2, ... (one Assistant decision each)
    turn: int
    #: scene_init, warmup, closed_loop or end
    phase: Phase
