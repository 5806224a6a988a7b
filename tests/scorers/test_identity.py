"""The scorer hash changes with what judges, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scorers import SCORERS, identity, modules_of, scorer_hash


def test_hashes_are_distinct_and_repeatable() -> None:
    hashes = [scorer_hash(s) for s in SCORERS]
    assert len(set(hashes)) == len(SCORERS)
    assert hashes == [scorer_hash(s) for s in SCORERS]
    assert all(len(h) == 64 for h in hashes)


def test_it_rests_on_the_check_language_and_the_relations() -> None:
    modules = modules_of(SCORERS[0])
    for name in ("scorers.outcome", "iwreplay.checks.operators", "iwreplay.world.relations", "iwreplay.world.state",
                 "iwreplay.world.support", "iwreplay.pose", "iwreplay.scene.convex"):  # fmt: skip
        assert name in modules
    assert "scorers.capability" not in modules, "pass does not rest on another scorer"
    assert not any(m.startswith(("iwreplay.log", "iwreplay.render", "iwreplay.events")) for m in modules)


def test_the_version_is_part_of_it() -> None:
    assert scorer_hash(replace(SCORERS[0], version=2)) != scorer_hash(SCORERS[0])


@pytest.mark.parametrize(
    ("module", "changes"),
    [("iwreplay.checks.operators", True), ("iwreplay.world.relations", True), ("scorers.capability", False)],
)
def test_a_change_of_source_changes_the_hash_of_what_rests_on_it(
    monkeypatch: pytest.MonkeyPatch, module: str, changes: bool
) -> None:
    before = scorer_hash(SCORERS[0])
    real: Any = identity._source
    monkeypatch.setattr(identity, "_source", lambda name: real(name) + ("\n# changed\n" if name == module else ""))
    assert (scorer_hash(SCORERS[0]) != before) is changes
