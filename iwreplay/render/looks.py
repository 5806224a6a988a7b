"""How wet, dirt, heat, mould and cracks look on any material: what a class does not show by itself, everything shows.

A class that has a shape or a repaint for an attribute shows it in its own way, and none of this is added. Integer
arithmetic only, so that the texels are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from iwreplay.render.textures import TEXTURE_PX, Ints, cloud, noise, random_bytes, texel_grid
from iwreplay.scene.geometry import Box, aabb_of, shape_half
from iwreplay.scene.model import Shape, Thing
from iwreplay.vocabulary import AttrValue

__all__ = ["PLAIN", "Look", "chars", "look_of", "marked_shapes", "shape_look", "shown_by_class", "stained", "tinted"]

Rgb = tuple[int, int, int]

#: a surface's top lies so near to where things stand on it
_TOP_M = 0.03
#: how large stains are
_STAIN_M = 0.035
#: what would not be seen on a dark material (mean of its texels) has another colour on it
_DARK = 110
#: and water on a light one is seen by its shade
_LIGHT = 150
_ON_LIGHT = {"drops": "shaded drops"}
_ON_DARK: dict[str, Rgb] = {"cracks": (236, 238, 240), "dirty": (184, 166, 128), "used": (150, 138, 112)}


@dataclass(frozen=True)
class Look:
    """What is on a material. Numbers: 0 none, more is more."""

    #: 1 wet, 2 soaked
    wet: int = 0
    #: 1 used, 2 dirty
    dirt: int = 0
    #: 1 browned, 2 cooked, 3 burnt
    roast: int = 0
    mould: bool = False
    cracks: bool = False
    #: water goes into it and does not stand on it in drops, whatever it is made of
    drinks: bool = False
    #: furniture: blots and pools lie apart from each other on it
    large: bool = False


PLAIN = Look()


def shown_by_class(thing: Thing) -> frozenset[str]:
    """Attributes that some shape of the thing has a `when` or a `repaint` for."""
    drawn = [s for link in thing.links for s in link.shapes if s.role != "collision"]
    return frozenset(a for s in drawn for a in (*s.when, *s.repaint))


def look_of(thing: Thing, attrs: Mapping[str, AttrValue], *, shown: frozenset[str]) -> Look:
    """What the attributes put on a thing beyond what its class shows. What is swept up is dirt itself, never dirty."""

    def is_now(name: str, value: AttrValue = True) -> bool:
        return name not in shown and attrs.get(name) == value

    roast = 3 if is_now("cooked", "burnt") else 2 if is_now("cooked", "cooked") else 1 if is_now("browned") else 0
    if roast == 1 and attrs.get("cooked") == "burnt":
        roast = 0  # its class paints it black, brown on that would take it back
    wet = 2 if is_now("soaked") else 1 if is_now("wet") else 0
    dirt = 0 if "sweepable" in thing.affordances else 2 if is_now("clean", False) else 1 if is_now("used") else 0
    return Look(
        wet=wet,
        dirt=dirt,
        roast=roast,
        mould=is_now("mold_exposed"),
        cracks=is_now("broken"),
        drinks=wet > 0 and "soak" in thing.affordances,
        large=wet + dirt > 0 and "wipe" in thing.affordances and "grab" not in thing.affordances,
    )


def chars(shape: Shape, attrs: Mapping[str, AttrValue]) -> bool:
    """Whether a shape is black because its thing is burnt: one whose class says nothing of how it looks then."""
    return attrs.get("cooked") == "burnt" and "cooked" not in shape.when and "cooked" not in shape.repaint


def shape_look(shape: Shape, attrs: Mapping[str, AttrValue], look: Look, *, marked: bool) -> Look:
    """What is on one shape of a thing with this look. marked: whether wet and dirt show on it."""
    worn = look if marked else PLAIN
    return replace(worn, roast=3) if chars(shape, attrs) else worn


def marked_shapes(thing: Thing) -> frozenset[int]:
    """Of furniture that is wiped, the shapes of its base that carry a surface, by number; else none: all are marked."""
    if "wipe" not in thing.affordances or "grab" in thing.affordances:
        return frozenset()
    base = thing.links[0]
    found = set()
    for k, shape in enumerate(base.shapes):
        if shape.role == "collision" or shape.kind == "lathe":
            continue
        top = aabb_of(Box(shape.pose, shape_half(shape)))[5]
        if any(abs(top - s.pos[2]) < _TOP_M for s in base.surfaces):
            found.add(k)
    return frozenset(found)


def tinted(rgb: Rgb, look: Look, *, hard: bool) -> Rgb:
    """A colour under a look: darker when wet (what is hard only a little), browner when cooked, black when burnt."""
    r, g, b = rgb
    if look.roast == 2:
        r, g, b = (r * 5 + 132 * 5) // 10, (g * 5 + 82 * 5) // 10, (b * 5 + 40 * 5) // 10
    if look.roast == 3:
        r, g, b = (r + 30 * 6) // 7, (g + 25 * 6) // 7, (b + 22 * 6) // 7
    share = 226 if hard and look.wet else (256, 168, 118)[look.wet]
    return (r * share >> 8, g * share >> 8, b * share >> 8)


def stained(texels: npt.NDArray[np.uint8], look: Look, *, period_m: float, hard: bool) -> npt.NDArray[np.uint8]:
    """Texels (TEXTURE_PX, TEXTURE_PX, 3) with stains on them. period_m: side of the square that they cover.

    hard: water stands on it in drops.
    """
    out = texels.astype(np.int64)
    for name in _names(look, hard=hard):
        dark, light = out.mean() < _DARK, out.mean() > _LIGHT
        for share, colour in _stain(_ON_LIGHT.get(name, name) if light else name, _cells(period_m), look.large):
            rgb = _ON_DARK[name] if name in _ON_DARK and dark else colour
            for k in range(3):
                out[..., k] = (out[..., k] * (256 - share) + rgb[k] * share) >> 8
    return out.astype(np.uint8)


def _names(look: Look, *, hard: bool) -> tuple[str, ...]:
    names = []
    if look.roast:
        names.append(("browned", "cooked", "burnt")[look.roast - 1])
    if look.dirt:
        names.append(("used", "dirty")[look.dirt - 1])
    if look.mould:
        names.append("mould")
    if look.cracks:
        names.append("cracks")
    if look.wet:
        names.append("drops" if hard else "damp")
    return tuple(names)


def _cells(period_m: float) -> int:
    """Stains across a tile, a power of two."""
    cells = 4
    while cells < 64 and cells * _STAIN_M * 1.5 < period_m:
        cells *= 2
    return cells


@lru_cache(maxsize=128)
def _stain(name: str, cells: int, large: bool) -> tuple[tuple[Ints, Rgb], ...]:
    """Share of the stain in every texel, 0..256, and its colour, one layer over another."""
    u, v = texel_grid()
    if name == "cracks":
        return ((_cracks(u, v, cells=min(8, cells)), (26, 24, 24)),)
    if name in ("drops", "shaded drops"):
        rgb = (170, 204, 228) if name == "drops" else (66, 122, 166)
        return _drops(u, v, cells=cells, pool_rgb=rgb, apart=5 if large else 0)
    spots = _with_a_spot_in_the_corner(
        cloud(u, v, cells=cells, seed={"dirty": 301, "used": 302, "mould": 303}.get(name, 304))
    )
    if name == "dirty":
        # blots with soft edges, and crumbs
        least = 150 if large else 124
        crumbs = noise(u, v, cells=(min(128, cells * 8),) * 2, seed=305)
        return (
            (np.clip((spots - least) * 6, 0, 190), (88, 66, 38)),
            (np.where((crumbs > 222) & (spots > least - 14), 150, 0), (66, 48, 26)),
        )
    if name == "used":
        return ((np.clip((spots - 140) * 10, 0, 170), (112, 92, 62)),)
    if name == "mould":
        # small furry rounds: grey-green, with a pale rim around a dark middle
        rounds = _with_a_spot_in_the_corner(cloud(u, v, cells=min(64, cells * 4), seed=303))
        fuzz = noise(u, v, cells=(128, 128), seed=341)
        return (
            (np.clip((rounds - 146) * 14, 0, 200), (206, 214, 196)),
            (np.clip((rounds - 160) * 14, 0, 190) + np.where(rounds > 146, fuzz // 4, 0), (78, 116, 84)),
        )
    if name == "browned":
        return ((np.clip((spots - 94) * 3, 0, 205), (140, 78, 30)),)
    if name == "cooked":
        return ((np.clip((spots - 126) * 5, 0, 140), (96, 54, 24)),)
    if name == "burnt":
        return ((np.clip((spots - 120) * 6, 0, 200), (12, 10, 10)),)
    # damp: cloth, darker in patches
    return ((np.clip((spots - 120) * 4, 0, 90), (40, 44, 50)),)


def _with_a_spot_in_the_corner(spots: Ints) -> Ints:
    """The same tile, moved so that its strongest place is where coordinates begin: in the middle of a shape. What is
    small has a stain too then."""
    row, column = divmod(int(spots.argmax()), spots.shape[1])
    return np.roll(spots, (-row, -column), axis=(0, 1))


def _drops(u: Ints, v: Ints, *, cells: int, pool_rgb: Rgb, apart: int) -> tuple[tuple[Ints, Rgb], ...]:
    """Water that stands on a surface: pools with a dark shore, drops with a dark edge, and the light on both. apart:
    more is fewer of them, and deeper ones."""
    pools = _with_a_spot_in_the_corner(cloud(u, v, cells=min(16, cells), seed=332)) - apart
    drops = noise(u, v, cells=(min(64, cells * 4),) * 2, seed=331) - apart
    pool, edge = pools >= 150, (drops > 204) & (drops <= 214)
    return (
        (np.where(pool, 70 + 8 * apart, 0), pool_rgb),
        (np.where(((pools > 144) & ~pool) | edge, 110, 0), (40, 54, 66)),
        (np.clip((drops - 214) * 16, 0, 170), (236, 244, 250)),
        (np.where((pools > 160) & (pools < 164), 130, 0), (246, 250, 252)),
    )


def _cracks(u: Ints, v: Ints, *, cells: int) -> Ints:
    """Lines between the cells around scattered points, thinner and thicker."""
    side = TEXTURE_PX // cells
    near, second = np.full_like(u, 1 << 40), np.full_like(u, 1 << 40)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            cx, cy = u // side + dx, v // side + dy
            px = cx * side + random_bytes(cx % cells, cy % cells, seed=351) * side // 256
            py = cy * side + random_bytes(cx % cells, cy % cells, seed=352) * side // 256
            d = (u - px) * (u - px) + (v - py) * (v - py)
            second = np.minimum(second, np.maximum(near, d))
            near = np.minimum(near, d)
    # difference of squared distances: about twice the side of a cell times the distance to the line
    width = side + noise(u, v, cells=(16, 16), seed=353) * side // 128
    return np.where(second - near < 2 * width, 236, 0)
