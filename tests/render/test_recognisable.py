"""What a stranger needs to tell things and their states apart, class by class through the whole library."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

import taskpacks
from iwreplay.pose import Pose
from iwreplay.render import Renderer
from iwreplay.render.appearance import liquid_space
from iwreplay.render.text import fit_text
from iwreplay.scene.geometry import joints_at_load
from iwreplay.scene.lettering import screen_faces
from iwreplay.scene.library import Library, Wanted, load_library
from iwreplay.scene.model import CompiledScene, Light, Thing
from iwreplay.vocabulary import AttrValue
from iwreplay.world.state import WorldState
from tests.render import kitchen
from tests.render.kitchen import look

W, H, FOCAL = 160, 120, 133.0
#: a change by less than this in every channel is not seen
_SEEN = 24
#: least number of pixels that change, of the two pictures in which the thing fills about half the height. A light on a
#: machine as wide as the frame has less than a thing that can be held
_SWITCHED, _OPENED = 12, 100


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(taskpacks.root() / "objects")


class _Stand:
    """The things of a class alone, seen from the front and from above behind; on_white: in a white cabinet."""

    def __init__(self, library: Library, cls: str, *, on_white: bool = False) -> None:
        self.things = library.make(Wanted(id="a", cls=cls), where="test")
        shapes = [s for t in self.things for k in t.links for s in k.shapes]
        names = {s.material for s in shapes} | {
            m for s in shapes for table in s.repaint.values() for m in table.values()
        }
        first = self.things[0]
        x, y, z = first.bounds_pos
        cabinet: tuple[Thing, ...] = ()
        if on_white:
            names |= {"board_white"}
            low, behind = z - first.bounds_half[2], y + first.bounds_half[1] + 0.2
            cabinet = (
                kitchen.thing(
                    "cabinet_1",
                    kitchen.shape("box", 2.0, 2.0, 0.02, at=(0, 0, low - 0.02), m="board_white"),
                    kitchen.shape("box", 2.0, 0.02, 2.0, at=(0, behind, 0), m="board_white"),
                ),
            )
        r = 2.2 * max(0.05, float(np.sqrt(sum(h * h for h in first.bounds_half))))
        self.scene = CompiledScene(
            id="stand", format=1, rooms=(), portals=(), things=(*self.things, *cabinet), spawn=(0.0, 0.0, 0.0),
            materials=tuple(library.material(n, where="test") for n in sorted(names)),
            lights=(Light(pos=(x - 1.0, y - 2.0, z + 2.0), intensity=1.0),),
        )  # fmt: skip
        self.cameras: list[Pose] = [
            look((x + dx * r, y + dy * r, z + dz * r), (x, y, z))
            for dx, dy, dz in ((0.35, -0.8, 0.45), (-0.4, 0.5, 0.8))
        ]
        self.renderer = Renderer(self.scene, threads=1)

    def pictures(self, *, opened: bool, **attrs: AttrValue) -> list[npt.NDArray[np.int16]]:
        """Attributes are set on the things that carry them."""
        state = WorldState(self.scene)
        for thing in self.things:
            state.attrs[thing.id].update({k: v for k, v in attrs.items() if k in thing.attrs})
            if opened:
                for joint in (k.joint for k in thing.links if k.joint is not None):
                    state.joints[f"{thing.id}.{joint.name}"] = joint.open_at
        return [
            self.renderer.draw(state, camera=c, focal_px=FOCAL, width=W, height=H).rgb.astype(np.int16)
            for c in self.cameras
        ]


def _changed(a: list[npt.NDArray[np.int16]], b: list[npt.NDArray[np.int16]]) -> int:
    return sum(int((np.abs(p - q).max(axis=2) >= _SEEN).sum()) for p, q in zip(a, b, strict=True))


def _firsts(library: Library) -> list[tuple[str, Thing]]:
    return [(cls, library.make(Wanted(id="a", cls=cls), where="test")[0]) for cls in sorted(library.classes)]


def test_every_class_that_is_switched_looks_another_way_while_it_is_on(library: Library) -> None:
    seen = {}
    for cls, first in _firsts(library):
        if "on" in first.attrs:
            stand = _Stand(library, cls)
            seen[cls] = _changed(stand.pictures(opened=False, on=False), stand.pictures(opened=False, on=True))
    assert len(seen) > 30
    assert {cls: n for cls, n in seen.items() if n < _SWITCHED} == {}


def test_every_class_with_a_door_or_a_lid_looks_another_way_when_it_opens(library: Library) -> None:
    seen = {}
    for cls, first in _firsts(library):
        if joints_at_load([first]):
            stand = _Stand(library, cls)
            seen[cls] = _changed(stand.pictures(opened=False), stand.pictures(opened=True))
    assert len(seen) > 30
    assert {cls: n for cls, n in seen.items() if n < _OPENED} == {}


#: a state as attributes before and after, and the least share of a thing's pixels that change with it
_STATES: dict[str, tuple[dict[str, AttrValue], dict[str, AttrValue], float]] = {
    "broken": ({"broken": False}, {"broken": True}, 0.05),
    "browned": ({"browned": False}, {"browned": True}, 0.08),
    "cooked": ({"cooked": "raw"}, {"cooked": "cooked"}, 0.4),
    "burnt": ({"cooked": "cooked"}, {"cooked": "burnt"}, 0.5),
    "cut": ({"cut": False}, {"cut": True}, 0.08),
    "mouldy": ({"cut": True, "mold_exposed": False}, {"cut": True, "mold_exposed": True}, 0.08),
    "dirty": ({"clean": True}, {"clean": False}, 0.02),
    "used": ({"used": False}, {"used": True}, 0.1),
    "wet": ({"wet": False}, {"wet": True}, 0.015),
    "soaked": ({"soaked": False}, {"soaked": True}, 0.2),
    "running": ({"running": False}, {"running": True}, 0.005),
    "ringing": ({"ringing": False}, {"ringing": True}, 0.05),
}
#: dirt itself is never clean, and a puddle always wet
_ALWAYS_SO = {("broken_glass", "dirty"), ("debris", "dirty"), ("glass_shards", "dirty"), ("spill", "wet")}


@pytest.mark.slow
def test_every_class_shows_its_states_on_a_share_of_itself(library: Library) -> None:
    """Broken, cooked, cut, mouldy, dirty, wet and so on: not a speck somewhere."""
    weak, seen = {}, dict.fromkeys(_STATES, 0)
    for cls, _ in _firsts(library):
        stand: _Stand | None = None
        for name, (before, after, least) in _STATES.items():
            carried = {a for t in library.make(Wanted(id="a", cls=cls), where="test") for a in t.attrs}
            if not set(after) <= carried or (cls, name) in _ALWAYS_SO:
                continue
            stand = stand or _Stand(library, cls)
            there = _changed(stand.pictures(opened=False, exists=False), stand.pictures(opened=False, **before))
            change = _changed(stand.pictures(opened=False, **before), stand.pictures(opened=False, **after))
            seen[name] += 1
            if change < least * there:
                weak[cls, name] = round(change / there, 3)
    assert min(seen.values()) >= 3
    assert weak == {}


#: what is of one piece and one colour by nature
_PLAIN = {"axle", "sheet", "note", "tray", "sponge", "eraser"}


def test_every_class_has_more_to_it_than_a_block(library: Library) -> None:
    """Two materials, three shapes, a round or outlined shape, a face, or parts."""
    blocks = []
    for cls in sorted(library.classes):
        things = library.make(Wanted(id="a", cls=cls), where="test")
        drawn = [s for t in things for k in t.links for s in k.shapes if s.role != "collision"]
        plain = {"box", "cylinder"}
        if (
            len(things) == 1
            and len({s.material for s in drawn}) < 2
            and len(drawn) < 3
            and all(s.kind in plain for s in drawn)
            and not any(k.faces for k in things[0].links)
        ):
            blocks.append(cls)
    assert set(blocks) <= _PLAIN


def test_texts_that_a_class_brings_fit_their_faces(library: Library) -> None:
    bad = []
    for cls in sorted(library.classes):
        for thing in library.make(Wanted(id="a", cls=cls), where="test"):
            for face in (f for k in thing.links for f in k.faces):
                text = thing.attrs.get(f"text:{face.name}")
                if isinstance(text, str) and text and not fit_text(text, face).fits:
                    bad.append((cls, thing.cls, face.name, text))
    assert bad == []


def test_screens_belong_to_what_can_be_switched_and_have_something_dark_behind_them(library: Library) -> None:
    found = 0
    for cls, first in _firsts(library):
        for name in screen_faces(first):
            found += 1
            assert "on" in first.attrs, cls
            assert name in {f.name for k in first.links for f in k.faces}, (cls, name)
            stand = _Stand(library, cls)
            off = stand.pictures(opened=True, on=False, **{f"text:{name}": "WWW"})
            blank = stand.pictures(opened=True, on=False, **{f"text:{name}": "."})
            on = stand.pictures(opened=True, on=True, **{f"text:{name}": "WWW"})
            assert _changed(off, blank) == 0, cls
            assert _changed(off, on) > 60, cls
    assert found > 3


#: what a vessel is filled to one after another, and the least share of its pixels that each step changes
_LEVELS, _LEVEL_SEEN = (0.0, 0.33, 0.66, 1.0), 0.025


@pytest.mark.slow
def test_every_see_through_vessel_shows_how_full_it_is(library: Library) -> None:
    """No label goes all around it, and what is in it has its own colour behind the glass."""
    seen, weak = 0, {}
    for cls, first in _firsts(library):
        space = liquid_space(first)
        if space is None or first.attrs.get("sealed") is None or not _see_through(library, first):
            continue
        seen += 1
        stand = _Stand(library, cls)
        there = _changed(stand.pictures(opened=False, exists=False), stand.pictures(opened=False))
        shots = [
            stand.pictures(opened=True, open=True, sealed=False, contains={"juice": level * space[3]} if level else {})
            for level in _LEVELS
        ]
        changes = [round(_changed(a, b) / there, 3) for a, b in pairwise(shots)]
        if min(changes) < _LEVEL_SEEN:
            weak[cls] = changes
    assert seen > 12
    assert weak == {}


def _see_through(library: Library, thing: Thing) -> bool:
    walls = [s for s in thing.links[0].shapes if s.kind == "lathe" and s.role != "collision"]
    return any(library.material(s.material, where="test").alpha < 0.5 for s in walls)


def _stands(library: Library, attr: str) -> Iterator[tuple[str, _Stand]]:
    """Every class that has an attribute, by its name."""
    for cls, first in _firsts(library):
        if attr in first.attrs:
            yield cls, _Stand(library, cls)


def _inner(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Without the pixels at the edge, which have something of what is behind."""
    inner = mask[1:-1, 1:-1] & mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    return np.pad(inner, 1)


def test_what_is_burnt_is_black_all_over(library: Library) -> None:
    seen, bright = 0, {}
    for cls, stand in _stands(library, "cooked"):
        seen += 1
        gone = stand.pictures(opened=False, exists=False)
        burnt = stand.pictures(opened=False, cooked="burnt")
        coloured = there = 0
        for empty, shown in zip(gone, burnt, strict=True):
            thing = _inner(np.abs(empty - shown).max(axis=2) > _SEEN)
            there += int(thing.sum())
            coloured += int((shown[thing].max(axis=1) > 110).sum())
        if coloured > 0.04 * there:
            bright[cls] = round(coloured / there, 3)
    assert seen > 10
    assert bright == {}


def test_mould_leaves_to_be_seen_what_it_is_on(library: Library) -> None:
    seen, hidden = 0, {}
    for cls, stand in _stands(library, "mold_exposed"):
        seen += 1
        fresh = stand.pictures(opened=False, cut=True, mold_exposed=False)
        there = _changed(stand.pictures(opened=False, exists=False), fresh)
        change = _changed(fresh, stand.pictures(opened=False, cut=True, mold_exposed=True))
        if change > 0.7 * there:
            hidden[cls] = round(change / there, 3)
    assert seen > 15
    assert hidden == {}


#: of what is cloth, the least share of its pixels that are not of its one main colour: folds, hems, stripes, checks
_OF_ONE_COLOUR = {
    "blanket": 0.12, "cloth": 0.3, "hand_towel": 0.08, "napkin": 0.05, "rag": 0.3, "sweater": 0.12, "tablecloth": 0.06,
    "towel": 0.3, "wiping_cloth": 0.3,
}  # fmt: skip


@pytest.mark.parametrize("cls", sorted(_OF_ONE_COLOUR))
def test_cloth_has_folds_and_patterns(library: Library, cls: str) -> None:
    """Seen from the front: more than one even tone."""
    stand = _Stand(library, cls)
    gone, shown = stand.pictures(opened=False, exists=False)[0], stand.pictures(opened=False)[0]
    there = _inner(np.abs(gone - shown).max(axis=2) > _SEEN)
    pixels = shown[there]
    other = (np.abs(pixels - np.median(pixels, axis=0)).max(axis=1) >= _SEEN).mean()
    assert other >= _OF_ONE_COLOUR[cls]
    assert any(s.kind == "cloth" for t in stand.things for k in t.links for s in k.shapes)


def test_a_sweater_has_a_neck_and_two_sleeves(library: Library) -> None:
    """From above: a dark opening in a ring of another colour, elbows that stand out at its sides, cuffs before it."""
    stand = _Stand(library, "sweater")
    camera = look((0.0, -0.02, 0.4), (0.0, 0.0, 0.0))
    frame = stand.renderer.draw(WorldState(stand.scene), camera=camera, focal_px=180.0, width=W, height=H)
    per_m = 180.0 / (0.4 - 0.036)

    def pixel(x: float, y: float) -> tuple[int, int]:
        return round(H / 2 - y * per_m) - 1, round(W / 2 + x * per_m)

    def bright(x: float, y: float) -> int:
        return int(frame.rgb[pixel(x, y)].astype(int).sum())

    body = bright(0.08, 0.07)
    assert bright(0.0, 0.066) < 0.75 * body
    for x, y in ((0.042, 0.066), (-0.042, 0.066), (0.028, 0.003), (-0.028, 0.003)):
        assert bright(x, y) > 1.2 * body, (x, y)
    assert all(frame.ids[pixel(x, -0.03)] == 0 for x in (-0.125, 0.125))
    assert all(frame.ids[pixel(x, -0.095)] == -1 for x in (-0.125, 0.125))


#: of a clear vessel in a white cabinet, the least share of its pixels that are told from the white
_BEFORE_WHITE = 0.18


def test_clear_glass_can_be_told_in_a_white_cabinet(library: Library) -> None:
    seen, faint = 0, {}
    for cls, first in _firsts(library):
        if not _see_through(library, first) or "contains" not in first.attrs:
            continue
        seen += 1
        stand = _Stand(library, cls, on_white=True)
        gone = stand.pictures(opened=False, exists=False)[0]
        shown = stand.pictures(opened=False, contains={})[0]
        change = np.abs(gone - shown).max(axis=2)
        share = float((change >= _SEEN).sum() / (change >= 3).sum())
        if share < _BEFORE_WHITE:
            faint[cls] = round(share, 3)
    assert seen > 15
    assert faint == {}
