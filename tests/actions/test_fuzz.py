"""Random commands never break anything: no error but the project's own, parents as geometry says, refusals without
a trace."""

from __future__ import annotations

import random

import pytest

from iwreplay.actions.table import PRIMITIVES
from iwreplay.events import StateDelta
from iwreplay.vocabulary import ATTRIBUTES, FAILURE_CODES, HAPPENINGS
from tests.actions.proving import Base, World, assert_parents_agree, assert_public

_CODES = {"OK", *(c for group in FAILURE_CODES.values() for c in group)}
_NAMES = (
    """
blue mug, red mug, glass, bowl, apple, tomato, bread, egg, knife, spatula, frying pan,
plate on the dining table, dirty plate, sponge, cloth, towel, broom, dustpan, debris, key, phone,
kettle, lamp on the desk, power strip, jar, book, hat, bucket, water bottle, oil bottle, tray,
fridge, oven, cooktop, sink, tap, counter, prep counter, dining table, work table, chair, shelf,
trash bin, pedal bin, washing machine, top drawer, bottom drawer, wall cabinet, green cabinet,
side door, window, display table, notice board, side room, workshop, mug, it, unicorn, floor
""".replace("\n", " ")
    .strip()
    .split(", ")
)


def _command(rng: random.Random) -> str:
    row = rng.choice(PRIMITIVES)
    verb = rng.choice(row.verbs)
    count = 0 if verb in row.without_number else rng.randint(row.least(), len(row.args))
    args = [f"{rng.uniform(0.2, 40.0):.1f}" if a.is_number else rng.choice(_NAMES) for a in row.args[:count]]
    return f"[{verb}] {', '.join(args)}"


def _sensible(rng: random.Random, world: World) -> str:
    """Half of the commands go somewhere or use what is in the hand, so that sequences get deep."""
    held = world.engine.perception.proprioception()["holding"]
    if held != "nothing" and rng.random() < 0.5:
        verb = rng.choice(("PutOn", "PutInside", "Drop", "Discard", "Pour", "Soak", "Empty"))
        return f"[{verb}] {held}" + ("" if verb == "Drop" else f", {rng.choice(_NAMES)}")
    return f"[{rng.choice(('Walk', 'Grab', 'Open', 'Close', 'SwitchOn'))}] {rng.choice(_NAMES)}"


def _play(base: Base, seed: int, length: int) -> tuple[World, list[str]]:
    rng = random.Random(seed)
    world = World(base, sighted=seed % 5 != 4)
    codes = []
    for _ in range(length):
        command = _command(rng) if rng.random() < 0.5 else _sensible(rng, world)
        before = world.state.copy()
        outcome = world.execute(command)
        codes.append(outcome.code)
        assert outcome.code in _CODES
        if outcome.ok:
            assert_parents_agree(world.state)
        else:
            assert_public(outcome.sentence)
            assert vars(world.state) == vars(before), command
        if rng.random() < 0.1:
            world.engine.idle(rng.uniform(0.1, 3.0))
    return world, codes


@pytest.mark.parametrize("seed", range(6))
def test_random_sequences(base: Base, seed: int) -> None:
    world, codes = _play(base, seed, 40)
    assert codes.count("OK") >= 4
    _check_events(world)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_long_random_sequences(base: Base, seed: int) -> None:
    world, _ = _play(base, seed, 150)
    _check_events(world)


def _check_events(world: World) -> None:
    times = [e.sim_time_s for e in world.events]
    assert times == sorted(times)
    for event in world.events:
        if isinstance(event, StateDelta):
            assert event.attr in ATTRIBUTES or event.attr.startswith("text:"), event
            assert event.old != event.new, event
    assert {e.what for e in world.events if hasattr(e, "what")} <= set(HAPPENINGS)
