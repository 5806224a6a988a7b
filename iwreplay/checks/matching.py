"""Which events an event formula matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iwreplay.checks.language import compare
from iwreplay.events import AssistantDecision, Contact, Event, Happened, PhaseChanged, PrimitiveOutcome, ScriptedEvent

__all__ = ["EventSpec", "Key", "key_of", "kind_with"]

#: what events are looked up by: ("verb", primitive) or ("kind", name)
Key = tuple[str, str]
Ids = frozenset[str] | None


@dataclass(frozen=True, slots=True)
class EventSpec:
    """A grounded event formula: None is any, a set is any of those ids."""

    key: Key
    obj: Ids = None
    dest: Ids = None
    tool: Ids = None
    code: str | None = None
    ok: bool | None = None
    #: scripted event, decision or phase, by kind
    word: str | None = None
    #: (field, comparison, value)
    detail: tuple[tuple[str, str, Any], ...] = ()

    def find(self, event: Event, field: str) -> str | None:
        """None when `event` does not match; else the id in its `field` ("obj", "dest", "tool"), "" when it has none."""
        if isinstance(event, PrimitiveOutcome):
            if self.code is not None and event.code != self.code:
                return None
            if self.ok is not None and event.ok != self.ok:
                return None
            return self._ids(event.obj, event.dest, event.tool, field)
        if isinstance(event, Happened):
            if any(k not in event.detail or not compare(event.detail[k], cmp, v) for k, cmp, v in self.detail):
                return None
            return self._ids(event.obj, event.dest, event.tool, field)
        if isinstance(event, Contact):
            found = self._ids(event.a, event.b, "", field)
            return self._ids(event.b, event.a, "", field) if found is None else found
        return "" if self.word is None or self.word == _word(event) else None

    def _ids(self, obj: str, dest: str, tool: str, field: str) -> str | None:
        if self.obj is not None and obj not in self.obj:
            return None
        if self.dest is not None and dest not in self.dest:
            return None
        if self.tool is not None and tool not in self.tool:
            return None
        return dest if field == "dest" else tool if field == "tool" else obj


#: kinds of event that are one key each; those of a primitive and of a happening are many
_ONE_KEY: dict[type[Event], Key] = {
    Contact: ("kind", "contact"),
    ScriptedEvent: ("kind", "scripted_event"),
    AssistantDecision: ("kind", "assistant_decision"),
    PhaseChanged: ("kind", "phase_changed"),
}
_KIND_OF = {key: kind for kind, key in _ONE_KEY.items()}


def key_of(event: Event) -> Key | None:
    """The key under which formulas about `event` are found; None for events that no formula can name."""
    if isinstance(event, PrimitiveOutcome):
        return ("verb", event.primitive)
    if isinstance(event, Happened):
        return ("kind", event.what)
    return _ONE_KEY.get(type(event))


def kind_with(key: Key) -> type[Event]:
    """The one kind of event that has this key."""
    return PrimitiveOutcome if key[0] == "verb" else _KIND_OF.get(key, Happened)


def _word(event: Event) -> str:
    if isinstance(event, ScriptedEvent):
        return event.script
    if isinstance(event, AssistantDecision):
        return event.decision
    assert isinstance(event, PhaseChanged)
    return event.phase
