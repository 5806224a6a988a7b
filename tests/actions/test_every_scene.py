"""What a scene holds to be used can be used where it stands, by command from where the wearer would stand for it.

A run of the usual tests tries one scene; which one, changes with every change of the scenes' and classes' data. All
of them, with everything that can be done: `make test-slow`, or
`python -m pytest -m slow tests/actions/test_every_scene.py`; `python -m tests.actions.sweeping` prints what is refused.
"""

from __future__ import annotations

import zlib

import pytest

from iwreplay.scene.loader import data_root, scene_ids
from tests.actions.sweeping import KINDS, Refused, Sweep

#: what is refused with good reason: something lies on the seat; no socket is near the place where a device is kept (it
#: is carried to one); a thing is locked in; a display is off
GOOD_REASONS = {("sit", "OCCUPIED"), ("switch", "TOO_FAR"), ("grab", "LOCKED")}
GOOD_SENTENCES = ("wall socket is too far away; I have to walk there first.", "; nothing can be seen on it now.")
AT_ONCE = 1


def _turn() -> tuple[str, ...]:
    """The scenes whose turn it is."""
    folders = [data_root() / name for name in ("scenes", "objects")]
    files = sorted(
        (f for folder in folders for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name
    )
    number = 0
    for file in files:
        number = zlib.crc32(file.read_bytes(), number)
    ids = scene_ids()
    return tuple(ids[(number + k * len(ids) // AT_ONCE) % len(ids)] for k in range(AT_ONCE))


def _without_reason(refused: list[Refused]) -> list[str]:
    return [
        str(r)
        for r in refused
        if (r.kind, r.outcome.code) not in GOOD_REASONS and not r.outcome.sentence.endswith(GOOD_SENTENCES)
    ]


@pytest.mark.parametrize("scene_id", _turn())
def test_what_is_there_to_be_opened_filled_or_sat_on_can_be(scene_id: str) -> None:
    sweep = Sweep(scene_id)
    assert _without_reason(sweep.run(("open", "fill", "sit"))) == []
    assert [m for m in sweep.met if any(one.is_harmful for one in m[1])] == []
    assert sweep.tried["open"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("scene_id", scene_ids())
def test_everything_in_every_scene_can_be_used(scene_id: str) -> None:
    sweep = Sweep(scene_id)
    assert _without_reason(sweep.run(KINDS)) == []
    assert [m for m in sweep.met if any(one.is_harmful for one in m[1])] == []


def test_the_sweep_finds_what_is_refused() -> None:
    sweep = Sweep("family_kitchen")
    vase = next(t for t in sweep.things if t.id == "vase_1")
    sweep.things = tuple(t for t in sweep.things if t.id in ("vase_1", "cabinet_2"))
    sweep.number = {t.id: n for n, t in enumerate(sweep.things)}
    sweep.base.state.attrs[vase.id]["worn"] = True
    found = sweep.run(("grab",))
    assert [(r.thing, r.outcome.code) for r in found] == [("vase_1", "NOT_GRABBABLE")]
    assert sweep.tried["grab"] == 1
