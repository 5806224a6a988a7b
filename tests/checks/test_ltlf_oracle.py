"""The temporal part agrees with flloat, an independent implementation of LTL on finite traces."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest

from tests.checks.running import run
from tests.checks.worlds import Story

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from flloat import ltlf

ATOMS = {
    "a": ["attr", "fridge_1", "open", True],
    "b": ["attr", "oven_1", "open", True],
    "c": ["attr", "mug_1", "clean", True],
}
CHANGES = {"a": ("fridge_1", "open"), "b": ("oven_1", "open"), "c": ("mug_1", "clean")}


def _formula(rng: random.Random, depth: int) -> tuple[Any, Any]:
    """The same random formula in both languages."""
    if depth == 0 or rng.random() < 0.15:
        name = rng.choice("abc")
        return ATOMS[name], ltlf.LTLfAtomic(name)
    op = rng.choice(("and", "or", "not", "implies", "ever", "always", "until", "until"))
    mine, one = _formula(rng, depth - 1)
    if op in ("not", "ever", "always"):
        other = {"not": ltlf.LTLfNot, "ever": ltlf.LTLfEventually, "always": ltlf.LTLfAlways}[op](one)
        return [op, mine], other
    second, two = _formula(rng, depth - 1)
    pair = {"and": ltlf.LTLfAnd, "or": ltlf.LTLfOr, "implies": ltlf.LTLfImplies, "until": ltlf.LTLfUntil}[op]
    return [op, mine, second], pair([one, two])


def _trace(rng: random.Random) -> tuple[Story, list[dict[str, bool]]]:
    """A log of single changes and idle events, and the same as propositional interpretations."""
    story = Story()
    now = {"a": False, "b": False, "c": False}
    trace = [dict(now)]
    for _ in range(rng.randrange(0, 9)):
        name = rng.choice("abcz")
        if name == "z":
            story.frame()
        else:
            now[name] = rng.random() < 0.5
            story.set(*CHANGES[name], now[name])
        trace.append(dict(now))
    return story, trace


@pytest.mark.parametrize("seed", range(150))
def test_value_at_every_step_is_that_of_flloat(seed: int) -> None:
    rng = random.Random(seed)
    story, trace = _trace(rng)
    ours, theirs = _formula(rng, 4)
    formulas = {}
    for k in range(len(trace)):
        at_k: Any = ["not", ["prev", ["true"]]]
        for _ in range(k):
            at_k = ["prev", at_k]
        formulas[str(k)] = ["once", ["and", at_k, ours]]
    verdicts = run(formulas, story.events)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [theirs.truth(trace, k) for k in range(len(trace))]
    assert [verdicts[str(k)].value for k in range(len(trace))] == expected, ours
