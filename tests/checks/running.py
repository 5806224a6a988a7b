"""Runs formulas over stories."""

from __future__ import annotations

from typing import Any

from iwreplay.checks import Monitor, Verdict, compile_check
from iwreplay.checks.index import SceneIndex
from iwreplay.events import Event
from iwreplay.world.state import WorldState
from tests.checks.worlds import TOY, Story


def run(formulas: dict[str, Any], events: list[Event]) -> dict[str, Verdict]:
    """Verdicts of several formulas evaluated together."""
    scene = events[0].scene  # type: ignore[attr-defined]
    state = WorldState(scene)
    index = SceneIndex(scene)
    checks = {k: compile_check(f, task="T01", check=k, scene=index) for k, f in formulas.items()}
    monitor = Monitor(checks, relations=TOY)
    for seq, event in enumerate(events):
        state.apply(event)
        monitor.feed(seq, event, state)
    return monitor.verdicts()


def verdict(formula: Any, story: Story) -> Verdict:
    return run({"f": formula}, story.events)["f"]


def value(formula: Any, story: Story) -> bool:
    return verdict(formula, story).value
