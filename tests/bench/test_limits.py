"""Limits of a run hold until others are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwreplay.app.run_folder import RunFolder
from iwreplay.errors import StoreDamagedError
from recorder.benchmark import Limits
from recorder.models.metering import Budget, Spent


def test_what_is_given_takes_the_place_of_what_was_kept_and_the_rest_holds() -> None:
    kept = Limits(run=Budget(cost_usd=5.0, tokens=100), episode=Budget(tokens=9), per_minute={"lab": 30.0, "own": 1.0})
    given = Limits(run=Budget(tokens=200), per_minute={"lab": 60.0})
    assert kept.changed_by(Limits()) == kept
    assert kept.changed_by(given) == Limits(
        run=Budget(cost_usd=5.0, tokens=200), episode=Budget(tokens=9), per_minute={"lab": 60.0, "own": 1.0}
    )


def test_limits_are_kept_and_damage_is_no_permission(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    assert folder.limits() == Limits()
    folder.make()
    kept = Limits(run=Budget(tokens=200), per_minute={"lab": 60.0})
    folder.keep_limits(kept)
    assert folder.limits() == kept
    (folder.path / "limits.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreDamagedError, match=r"limits\.json.*give the limits of the run again"):
        folder.limits()


def test_an_unknown_price_is_not_nothing() -> None:
    unknown = Spent(calls=1, tokens=5, cost_usd=None, unpriced=1)
    assert unknown.and_also(unknown).cost_usd is None
    known = Spent(calls=1, tokens=5, cost_usd=0.25)
    assert Spent().and_also(unknown).and_also(known) == Spent(calls=2, tokens=10, cost_usd=0.25, unpriced=1)
    assert Budget(cost_usd=0.25).used_up_by(unknown) is None
    assert Budget(cost_usd=0.25).used_up_by(known) == "$0.2500 of $0.2500"
