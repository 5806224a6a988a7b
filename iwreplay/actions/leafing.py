"""Turning the pages of a document: open at the first, then one further each time; closed, it shows its cover again."""

from __future__ import annotations

from iwreplay.actions.plan import Effect, Plan, Run
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.scene.model import Thing
from iwreplay.scene.pages import pages_of, turned_to
from iwreplay.world.geometry import grip_point

__all__ = ["close_document", "page_shown", "turn_page"]

_TURN_S = 0.8


def page_shown(scope: Scope, thing: Thing) -> int:
    """The number of the page that it is open at, 0 while it is closed or has no pages."""
    page = scope.state.attr(thing.id, "page") if "pages" in thing.affordances else 0
    return page if isinstance(page, int) else 0


def turn_page(scope: Scope, thing: Thing) -> Plan:
    """To the next page. Raises RefusedError with ALREADY at the last one."""
    page, last = page_shown(scope, thing), len(pages_of(thing))
    if page >= last:
        text = f"{scope.the(thing.id)} is open at its last page already, page {last}."
        raise refuse("ALREADY", sentence(text), blocker=thing.id)
    return _turned(scope, thing, page + 1)


def close_document(scope: Scope, thing: Thing) -> Plan:
    """Closed; it opens at its first page again."""
    return _turned(scope, thing, 0)


def _turned(scope: Scope, thing: Thing, page: int) -> Plan:
    script = scope.script()
    point = grip_point(thing, scope.state)
    scope.use(script, thing.id, point, hold_s=_TURN_S, end=(_shows(thing, page),), free_hand=True)
    return Plan(steps=tuple(script.steps), obj=thing.id)


def _shows(thing: Thing, page: int) -> Effect:
    def effect(run: Run) -> None:
        for attr, value in turned_to(thing.props, page).items():
            run.set(thing.id, attr, value)

    return effect
