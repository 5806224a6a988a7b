"""One event by itself: every field of it in lines, and as JSON with what is heavy left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from iwreplay.cli.output import counted
from iwreplay.events import BodyPosed, EpisodeOpened, Event, PosesSampled, WorldSnapshot

__all__ = ["described", "lean"]

#: kind -> fields that are long, and that a reader of an episode's story does not need
_HEAVY: dict[type[Event], tuple[str, ...]] = {
    EpisodeOpened: ("task", "scene"),
    PosesSampled: ("values",),
    BodyPosed: ("values",),
    WorldSnapshot: ("attrs", "values"),
}
#: columns of a field's name
_NAME = 16


def lean(seq: int, event: Event, *, everything: bool) -> dict[str, Any]:
    """{seq, event, left_out}: the event as JSON has it. Unless `everything`, body vectors, pose values, snapshots'
    attributes and the opening's frozen task and scene are left out, and `left_out` names them."""
    fields = msgspec.to_builtins(event, enc_hook=str)
    heavy = () if everything else _HEAVY.get(type(event), ())
    kept = {name: value for name, value in fields.items() if name not in heavy}
    return {"seq": seq, "event": kept, "left_out": [name for name in heavy if name in fields]}


def described(seq: int, event: Event, *, everything: bool) -> Iterator[str]:
    """Lines "field value". A long or nested value is summed up unless `everything` is wanted."""
    fields = msgspec.to_builtins(event, enc_hook=str)
    yield f"event {seq}: {fields.pop('kind')}"
    for name, value in fields.items():
        yield from _lines(name, value, depth=1, everything=everything)


def _lines(name: str, value: Any, *, depth: int, everything: bool) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict) and value and (everything or depth < 2) and _is_small(value, everything):
        yield f"{pad}{name}"
        for key, inner in value.items():
            yield from _lines(key, inner, depth=depth + 1, everything=everything)
        return
    yield f"{pad}{name:<{_NAME}} {_in_words(value, everything)}"


def _is_small(value: dict[str, Any], everything: bool) -> bool:
    return everything or len(msgspec.json.encode(value)) <= 2000


def _in_words(value: Any, everything: bool) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    if isinstance(value, dict | list | tuple):
        text = msgspec.json.encode(value).decode()
        if everything or len(text) <= 200:
            return text
        return f"({counted(len(value), 'key' if isinstance(value, dict) else 'value')}; --all shows them)"
    return str(value)
