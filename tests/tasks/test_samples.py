"""The recorded sample episodes: they are whole, score as recorded, fold anywhere and draw their own frames.

After a change of behaviour or looks that is meant, `make samples` records them anew.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from iwreplay.events import EpisodeOpened, FrameCaptured
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import check, read_log, state_at
from iwreplay.loop import audit_episode, environment_fingerprint, protocol_violations
from iwreplay.world.state import WorldState
from recorder.simulators.mujoco_backend import MujocoSimulator
from replayer import reexecute, replay_frames
from tests.tasks.make_samples import FOLDER, MANIFEST, SAMPLES, manifest_of

KNOWN: dict[str, Any] = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
_MAX_BYTES = 250_000


def test_there_are_those_that_the_script_makes() -> None:
    assert sorted(KNOWN) == sorted(SAMPLES) == sorted(p.stem for p in FOLDER.glob("*.arrows"))
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([A-Z]\d\d-[a-z-]+)\.arrows`", readme)) == set(SAMPLES)
    assert "make samples" in readme


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_sample_is_small_whole_and_scores_as_recorded(name: str) -> None:
    path = FOLDER / f"{name}.arrows"
    assert path.stat().st_size < _MAX_BYTES
    checked = check(path)
    assert (checked.state, checked.complete, checked.problem) == ("sealed", True, None)
    assert manifest_of(path) == KNOWN[name]
    passed = name in ("G05-oracle", "V06-oracle")
    assert KNOWN[name]["scores"]["pass"] == float(passed)
    assert (KNOWN[name]["failed_checks"] == []) == passed
    assert KNOWN["D03-one-too-many"]["failed_checks"] == ["regular_cartons_stay"]
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
