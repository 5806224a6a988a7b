"""Answers of models that could not be used, counted from a log: an Assistant that is silent because nobody understands
it looks like one that had nothing to say. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from iwreplay.events import AssistantDecision, Event, ModelCall

__all__ = ["Unheard", "unheard"]

_UNUSABLE = ("malformed", "refused")


class Unheard(msgspec.Struct, frozen=True, kw_only=True):
    """What could not be used."""

    #: turns in which the Assistant was silent because its model could not be understood, or refused
    silenced_turns: int = 0
    #: calls, of both roles; those that were mended then are in them
    malformed_calls: int = 0
    refused_calls: int = 0

    def and_also(self, other: Unheard) -> Unheard:
        """Both together."""
        return Unheard(
            silenced_turns=self.silenced_turns + other.silenced_turns,
            malformed_calls=self.malformed_calls + other.malformed_calls,
            refused_calls=self.refused_calls + other.refused_calls,
        )

    def __str__(self) -> str:
        turns = f"{self.silenced_turns} turn{'' if self.silenced_turns == 1 else 's'}"
        return f"silenced in {turns} (calls: {self.malformed_calls} malformed, {self.refused_calls} refused)"


def unheard(events: Iterable[Event]) -> Unheard:
    """Of the events of a log, or of those of them that are calls and decisions."""
    found, last = Unheard(), False
    for event in events:
        if isinstance(event, ModelCall):
            last = event.outcome in _UNUSABLE if event.role == "assistant" else last
            one = Unheard(
                malformed_calls=int(event.outcome == "malformed"), refused_calls=int(event.outcome == "refused")
            )
            found = found.and_also(one)
        elif isinstance(event, AssistantDecision):
            found = found.and_also(Unheard(silenced_turns=int(last)))
            last = False
    return found
