"""An episode in one line a turn: what the Assistant said, what the Human did, what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iwreplay.cli.timeline import quoted, turns_text, value_text
from iwreplay.errors import LogError

if TYPE_CHECKING:
    from iwreplay.app.stories import Turn

__all__ = ["BRIEF_TEXT_AT", "brief"]

#: column at which the text of a line begins
BRIEF_TEXT_AT = 13


def brief(turns: Iterator[Turn]) -> Iterator[str]:
    """Lines "turn text | text ...". Turns in which nothing at all was said or done share a line. What is intact of a
    damaged log comes before its LogError."""
    idle: list[Turn] = []
    try:
        for turn in turns:
            if turn.is_idle:
                idle.append(turn)
                continue
            yield from _idle(idle)
            idle.clear()
            parts = list(_parts(turn))
            if parts:
                yield f"{_name(turn):<{BRIEF_TEXT_AT}}{' | '.join(parts)}"
    except LogError:
        yield from _idle(idle)
        raise
    yield from _idle(idle)


def _idle(turns: list[Turn]) -> Iterator[str]:
    if turns:
        named = turns_text(turns[0].turn, turns[-1].turn)
        yield f"{named:<{BRIEF_TEXT_AT}}Assistant silent | Human does nothing"


def _name(turn: Turn) -> str:
    return f"turn {turn.turn}" if turn.turn else "warmup"


def _parts(turn: Turn) -> Iterator[str]:
    if turn.decision is not None:
        why = f" (its model's answer was {turn.silenced})" if turn.silenced else ""
        yield f"Assistant {turn.decision}{why}" + (f": {quoted(turn.words)}" if turn.words else "")
    if turn.commands:
        yield "; ".join(_command(c.text, c.by_itself, c.refused) for c in turn.commands)
    for speaker, words in turn.said:
        yield f"{speaker[:1].upper()}{speaker[1:]} says: {quoted(words)}"
    for script in turn.scripts:
        yield f"{script} happens"
    if turn.changes:
        yield ", ".join(f"{c.thing}.{c.attr}: {value_text(c.old)} -> {value_text(c.new)}" for c in turn.changes)
    for title, checks in (("now true", turn.now_true), ("now false", turn.now_false)):
        if checks:
            yield f"{title}: {', '.join(checks)}"
    if turn.ended is not None:
        yield f"ended by {turn.ended}"


def _command(text: str, by_itself: bool, refused: str) -> str:
    return f"{text}{' (by itself)' if by_itself else ''}{f' REFUSED {refused}' if refused else ''}"
