"""`iwreplay score --diff OLD NEW`: what changes between two scorers, in text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from iwreplay.cli.output import counted, exit_with, note, print_json, print_table, progress, say
from iwreplay.cli.timeline import line_of

if TYPE_CHECKING:
    from iwreplay.app.score_diff import Difference, Flip, Number, Side
    from iwreplay.events import Event

__all__ = ["show_difference"]

_DAMAGED = 3
#: events shown for one side of a flip
_MAX_EVENTS = 6
_SHORT = 12


def show_difference(compare: Callable[[Callable[[int, int], None]], Difference], *, json: bool) -> None:
    """Prints what `compare` finds, which tells how far it is. Exit code 1 when a user's scorer failed, 3 when a log is
    damaged."""
    with progress("scoring") as tell:
        found = compare(tell)
    if json:
        print_json(_as_json(found))
    else:
        _print(found)
    exit_with(ValueError(f"{episode}, {scorer}: {why}") for episode, scorer, why in found.errors)
    if found.damaged:
        note(f"damaged: {', '.join(found.damaged)}")
        raise typer.Exit(_DAMAGED)


def _print(found: Difference) -> None:
    say(f"old: {_side(found.old)}")
    say(f"new: {_side(found.new)}")
    for flip in found.flips:
        say()
        say(f"{flip.episode} ({flip.family}, {flip.assistant}): {_value(flip.old)} -> {_value(flip.new)}")
        for line in _events(flip):
            say(line)
    if found.one_sided:
        say()
        say("only one side has a value:")
        for one in found.one_sided:
            say(f"  {one.episode}: {_value(one.old)} -> {_value(one.new)}; {one.status}: {one.reason}")
    if found.numbers:
        say()
        print_table(
            ("assistant", "number", "old", "new", "change", "episodes"), [_row(n) for n in _worth_showing(found)]
        )
    if not found.flips and not found.one_sided:
        note(f"nothing changed: {_counted(found)}")
    else:
        note(f"{counted(len(found.flips), 'episode')} of {found.episodes} flipped; {_counted(found)}")


def _counted(found: Difference) -> str:
    other = len(found.other_evidence)
    parts = [
        f"{counted(found.same, 'episode')} with the same value{f' ({other} by other events)' if other else ''}",
        *([f"{len(found.one_sided)} with a value on one side"] if found.one_sided else []),
        *([f"{found.neither} with none"] if found.neither else []),
    ]
    return ", ".join(parts)


def _side(side: Side) -> str:
    version = f", version {side.version}" if side.version is not None else ""
    kept = ", as kept" if side.kept_only else ""
    return f"{side.scorer}@{side.scorer_hash[:_SHORT]} ({side.named}{version}{kept})"


def _events(flip: Flip) -> Iterator[str]:
    if not flip.only_old and not flip.only_new:
        yield "  both rest on the same events:" if flip.both else "  neither names an event"
        yield from _lines(" ", flip.both)
        return
    yield from _lines("-", flip.only_old)
    yield from _lines("+", flip.only_new)


def _lines(mark: str, events: Iterable[tuple[int, Event]]) -> Iterator[str]:
    every = list(events)
    for seq, event in every[:_MAX_EVENTS]:
        yield f"  {mark} {_timeline(seq, event)}"
    if len(every) > _MAX_EVENTS:
        yield f"  {mark} and {counted(len(every) - _MAX_EVENTS, 'more event')}"


def _timeline(seq: int, event: Event) -> str:
    line = line_of(seq, event, everything=True)
    assert line is not None, "with everything, every event has a line"
    return line


def _worth_showing(found: Difference) -> Iterator[Number]:
    """An average that neither side has, because a family has no episode, is told in JSON only."""
    return (n for n in found.numbers if n.old is not None or n.new is not None)


def _row(n: Number) -> tuple[object, ...]:
    scored = str(n.old_scored) if n.old_scored == n.new_scored else f"{n.old_scored} -> {n.new_scored}"
    return (n.assistant, n.number, n.old, n.new, n.change, scored)


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _as_json(found: Difference) -> dict[str, Any]:
    def events(of: Iterable[tuple[int, Event]]) -> list[dict[str, Any]]:
        return [{"seq": seq, "timeline": _timeline(seq, event).strip()} for seq, event in of]

    plain: dict[str, Any] = msgspec.structs.asdict(found)
    return {
        **plain,
        "flips": [
            {
                **msgspec.structs.asdict(f),
                "only_old": events(f.only_old),
                "only_new": events(f.only_new),
                "both": events(f.both),
            }
            for f in found.flips
        ],
        "numbers": [{**msgspec.structs.asdict(n), "change": n.change} for n in found.numbers],
        "errors": [{"episode": e, "scorer": s, "reason": why} for e, s, why in found.errors],
    }
