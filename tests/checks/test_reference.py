"""The evaluator agrees with the definition by the book on random formulas and random logs."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwreplay.checks import Check, Monitor, compile_check
from iwreplay.checks.index import SceneIndex
from iwreplay.errors import CheckError
from iwreplay.world.state import WorldState
from tests.checks.reference import Reference
from tests.checks.strategies import formulas, stories
from tests.checks.worlds import TOY, Story


def _accepted(candidates: list[Any], story: Story) -> dict[str, Check]:
    """The formulas that are acceptable (a random one may, say, relate a thing to itself)."""
    index = SceneIndex(story.state.scene)
    checks = {}
    for i, f in enumerate(candidates):
        try:
            checks[str(i)] = compile_check(f, task="T", check=str(i), scene=index)
        except CheckError:
            continue
    return checks


def _run(checks: dict[str, Check], story: Story) -> Monitor:
    monitor = Monitor(checks, relations=TOY)
    state = WorldState(story.events[0].scene)  # type: ignore[attr-defined]
    for seq, event in enumerate(story.events):
        state.apply(event)
        monitor.feed(seq, event, state)
    return monitor


def _final_values_agree(rng: Random) -> tuple[int, int]:
    story = stories(rng)
    checks = _accepted([formulas(rng) for _ in range(6)], story)
    reference = Reference(story.events)
    true = 0
    for name, verdict in _run(checks, story).verdicts().items():
        assert verdict.value is reference.value(checks[name].formula), checks[name].formula
        assert len(verdict.evidence) <= 16
        assert all(0 <= seq < len(story.events) for seq in verdict.evidence)
        true += verdict.value
    return len(checks), true


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_formula_has_the_value_that_the_definition_gives(rng: Random) -> None:
    _final_values_agree(rng)


@pytest.mark.parametrize("block", range(8))
def test_so_do_many_more(block: int) -> None:
    counts = [_final_values_agree(Random(seed)) for seed in range(block * 60, block * 60 + 60)]
    checked, true = sum(c for c, _ in counts), sum(t for _, t in counts)
    assert checked > 250, "most random formulas must be acceptable, or this test says little"
    assert 0.1 < true / checked < 0.9


@pytest.mark.parametrize("block", range(4))
def test_the_value_so_far_is_the_value_of_the_prefix(block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        rng = Random(1000 + seed)
        story = stories(rng)
        checks = _accepted([formulas(rng, future=False) for _ in range(4)], story)
        reference = Reference(story.events)
        monitor = Monitor(checks, relations=TOY)
        state = WorldState(story.events[0].scene)  # type: ignore[attr-defined]
        for seq, event in enumerate(story.events):
            state.apply(event)
            monitor.feed(seq, event, state)
            for name, check in checks.items():
                assert monitor.value(name) is reference.at(check.formula, seq, {}), check.formula


@pytest.mark.parametrize("block", range(4))
def test_a_formula_that_looks_ahead_is_right_at_every_step_of_the_past(block: int) -> None:
    """`once(step k and f)` at the end is f at step k."""
    for seed in range(block * 30, block * 30 + 30):
        rng = Random(2000 + seed)
        story = stories(rng)
        candidates = _accepted([formulas(rng) for _ in range(2)], story)
        reference = Reference(story.events)
        for candidate in (c.formula for c in candidates.values()):
            wrapped = {}
            for k in range(len(story.events)):
                at_k: Any = ["not", ["prev", ["true"]]]
                for _ in range(k):
                    at_k = ["prev", at_k]
                wrapped[str(k)] = ["once", ["and", at_k, candidate]]
            monitor = _run(_accepted(list(wrapped.values()), story), story)
            for k in range(len(story.events)):
                assert monitor.value(str(k)) is reference.at(candidate, k, {}), (k, candidate)
