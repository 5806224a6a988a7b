"""The recorded sample episodes: they are whole, score as recorded, fold anywhere and draw their own frames.

After a change of behaviour or looks that is meant, `make samples` records them anew.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from iwreplay.events import EpisodeOpened, FrameCaptured, HumanTurn
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import check, read_log, state_at
from iwreplay.loop import audit_episode, environment_fingerprint, protocol_violations
from iwreplay.vocabulary import FAMILIES
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator
from replayer import reexecute, replay_frames
from tests.tasks.make_samples import FOLDER, MANIFEST, README, SAMPLES, manifest_of, readme_with, table_of

KNOWN: dict[str, Any] = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
_MAX_BYTES, _MAX_BYTES_IN_ALL = 250_000, 3_000_000
_PASSED = frozenset(("G05-oracle", "V06-oracle"))
#: broken off: never scored
_UNSCORED = frozenset(("A04-interrupted", "D09-fault"))


def test_there_are_those_that_the_script_makes() -> None:
    assert sorted(KNOWN) == sorted(SAMPLES) == sorted(p.stem for p in FOLDER.glob("*.arrows"))
    assert sum(p.stat().st_size for p in FOLDER.iterdir()) < _MAX_BYTES_IN_ALL


def test_the_readme_has_the_table_that_the_script_writes() -> None:
    readme = (FOLDER / README).read_text(encoding="utf-8")
    assert readme == readme_with(table_of(KNOWN), readme)
    rows = [line for line in table_of(KNOWN).splitlines() if line.startswith("| `")]
    assert [re.findall(r"`([^`]+)\.arrows`", r)[0] for r in rows] == sorted(SAMPLES)
    assert "make samples" in readme


def test_they_show_every_family_and_every_kind_of_outcome() -> None:
    assert {k["family"] for k in KNOWN.values()} == set(FAMILIES)
    assert {k["end_reason"] for k in KNOWN.values()} >= {"done", "turn_limit", "interrupted", "fault"}
    assert {k["scores"]["pass"] for k in KNOWN.values()} == {1.0, 0.0, None}
    assert KNOWN["D03-one-too-many"]["failed_checks"] == ["regular_cartons_stay"]
    # everything achieved, and a gate broken on the way
    assert KNOWN["A18-wet-chair-first"]["failed_checks"] == ["never_on_the_wet_one"]
    assert KNOWN["A18-wet-chair-first"]["scores"]["mcr"] == 1.0
    with read_log(FOLDER / "F10-silent.arrows") as log:
        live = [e for e in log.events() if isinstance(e, HumanTurn)]
    assert {e.commands for e in live} == {("[NoOp]",)}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_is_small_whole_and_scores_as_recorded(name: str) -> None:
    path = FOLDER / f"{name}.arrows"
    assert path.stat().st_size < _MAX_BYTES
    checked = check(path)
    assert (checked.state, checked.complete, checked.problem) == ("sealed", True, None)
    assert manifest_of(path) == KNOWN[name]
    passed = name in _PASSED
    assert KNOWN[name]["scores"]["pass"] == (None if name in _UNSCORED else float(passed))
    assert (KNOWN[name]["failed_checks"] == []) == passed
    with read_log(path) as log:
        assert protocol_violations(log.events()) == ()
        assert [a for a in audit_episode(log) if a.finding == "broken"] == []


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_folds_at_any_event(name: str) -> None:
    with read_log(FOLDER / f"{name}.arrows") as log:
        folded = WorldState(log.opened().scene)
        for seq, event in log:
            folded.apply(event)
            if seq % 17 == 0 or seq == len(log) - 1:
                assert vars(state_at(log, seq)) | {"scene": None} == vars(folded) | {"scene": None}, seq


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_frames_of_a_sample_are_drawn_again_from_it_alone(name: str) -> None:
    """No physics, and the scene and the shapes that are in the log: the first frame and one from its middle."""
    with read_log(FOLDER / f"{name}.arrows") as log:
        ids = [e.frame_id for e in log.events() if isinstance(e, FrameCaptured)]
        chosen = frozenset((ids[0], ids[len(ids) // 2]))
        drawn = list(replay_frames(log, frames=lambda scene, config: FrameMaker(scene, config=config), only=chosen))
    assert {f.event.frame_id: f.ok for f in drawn} == dict.fromkeys(chosen, True), "see `make samples`"


@pytest.mark.parametrize("name", ["V06-silent"])
def test_a_sample_reexecutes_exactly_where_it_was_recorded(name: str) -> None:
    """Promised for the same machine type and versions only; elsewhere there is nothing to show."""
    with read_log(FOLDER / f"{name}.arrows") as log:
        opened = log.opened()
        assert isinstance(opened, EpisodeOpened)
        if opened.fingerprint != environment_fingerprint():
            pytest.skip("recorded with other versions or on another type of machine")
        again = reexecute(log, simulator=MujocoSimulator, frames=lambda scene, config: FrameMaker(scene, config=config))
    assert again.first is None, f"{again.first}; if that is meant: `make samples`"
    assert again.exact
