"""Pictures of scenes: from their stances, from above, as maps, and a gallery of all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from iwreplay.actions.naming import public_name
from iwreplay.app.pictures import write_picture
from iwreplay.app.scenes import compiled_scene
from iwreplay.errors import RenderError, UnknownNameError
from iwreplay.events import EpisodeConfig
from iwreplay.frames import png_bytes
from iwreplay.frames.cameras import from_above, rooms_open
from iwreplay.frames.floorplan import draw_map
from iwreplay.frames.maker import FrameMaker
from iwreplay.frames.obstacles import Obstacles
from iwreplay.frames.pages import Pixels, jpeg_bytes
from iwreplay.frames.sheet import SheetPage
from iwreplay.frames.viewpoints import before_thing, checked_camera, room_views, start_view
from iwreplay.pose import Pose, Vec3
from iwreplay.render import focal_from_fovy
from iwreplay.scene.loader import scene_ids
from iwreplay.scene.model import CompiledScene
from iwreplay.world.state import WorldState

__all__ = ["Rendered", "SceneWish", "draw_gallery", "render_scene"]

#: of pictures that nobody asked another size for, and of the field of view of the wearer's eyes
_SIZE, _FOVY_DEG = (640, 480), 60.0
#: what the camera of a gallery sees: rooms are small, and one stands with the back to the wall
_GALLERY_FOVY_DEG = 72.0
_GALLERY_CELLS, _GALLERY_COLUMNS, _GALLERY_PX = 9, 3, 300
_GALLERY_BYTES = 150_000
#: endings of names that are meant as one picture, and never as a folder
_OTHER_PICTURES = (".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".pdf")
#: views that are no stance
_START, _TOP, _MAP = "start", "top", "map"


class SceneWish(msgspec.Struct, frozen=True, kw_only=True):
    """Which pictures of a scene; without stance, camera or view, the start, every room, top and map."""

    task: str | None = None
    #: "start", a room, a thing, each with ".2" and so on for another place there
    stance: str | None = None
    #: camera and what it looks at, metres in the world
    camera: tuple[Vec3, Vec3] | None = None
    #: top or map
    view: str | None = None
    size: tuple[int, int] | None = None
    #: a folder, or a file that ends in .png for one picture
    out: Path


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """Pictures of one scene."""

    scene: str
    task: str | None
    files: tuple[str, ...]


class _Scene:
    """A scene at its start, with what draws it."""

    def __init__(self, scene: CompiledScene, title: str) -> None:
        self.scene, self.title = scene, title
        self.state = WorldState(scene)
        self.obstacles = Obstacles(scene)
        self.maker = FrameMaker(scene, config=EpisodeConfig(max_turns=1, max_actions=1))

    def seen_from(self, camera: Pose, *, size: tuple[int, int], fovy_deg: float = _FOVY_DEG) -> Pixels:
        """Without a wearer."""
        focal = focal_from_fovy(fovy_deg, height=size[1])
        return self.maker.draw_empty(self.state, camera=camera, focal_px=focal, width=size[0], height=size[1]).rgb

    def above(self, size: tuple[int, int]) -> Pixels:
        c = from_above(self.scene, width=size[0], height=size[1])
        opened = rooms_open(self.scene, self.state)
        return self.maker.draw_empty(opened, camera=c.pose, focal_px=c.focal_px, width=size[0], height=size[1]).rgb

    def map(self, size: tuple[int, int] | None) -> Pixels:
        names = {t.id: public_name(t) for t in self.scene.things}
        return draw_map(self.maker, self.state, title=self.title, names=names, size=size)

    def stance(self, name: str) -> Pose:
        """UnknownNameError for a name that is none; RenderError when one can't stand there."""
        if name == _START:
            return start_view(self.scene)
        base, _, number = name.rpartition(".")
        wanted, n = (base, int(number)) if base and number.isascii() and number.isdigit() else (name, 1)
        room = next((r for r in self.scene.rooms if r.id == wanted), None)
        if room is not None:
            views = room_views(self.scene, self.state, self.obstacles, room=room)
            if not 1 <= n <= len(views):
                raise RenderError(f"room {room.id} has {len(views)} free corners to look from, none of number {n}")
            return views[n - 1]
        thing = next((t for t in self.scene.things if t.id == wanted), None)
        if thing is None or n < 1:
            rooms = ", ".join(r.id for r in self.scene.rooms)
            hint = f"Give {_START}, a room ({rooms}), or a thing: iwreplay scene show {self.scene.id}."
            raise UnknownNameError("stance", name, hint=hint)
        return before_thing(self.scene, self.state, self.obstacles, thing=thing, number=n)


def render_scene(wanted: str | None, wish: SceneWish) -> Rendered:
    """Draws a scene, with the things of a task in it if one is named, and writes PNG files.

    UnknownNameError for a scene, task or stance; SceneError or TaskError for one that does not hold together;
    RenderError for a camera or size that makes no picture; PictureWriteError when the disk refuses.
    """
    # a picture may be what shows why something can't be reached
    scene, title, task = compiled_scene(wanted, task=wish.task, usable=False)
    stage = _Scene(scene, f"{title} (with the things of {task})" if task else title)
    size = wish.size or _SIZE
    pictures: dict[str, Callable[[], Pixels]] = {}

    def stand(name: str) -> None:
        camera = stage.stance(name)
        pictures[name] = lambda: stage.seen_from(camera, size=size)

    if wish.camera is not None:
        eye, toward = wish.camera
        camera = checked_camera(scene, stage.state, stage.obstacles, eye=eye, toward=toward)
        pictures["camera"] = lambda: stage.seen_from(camera, size=size)
    if wish.stance is not None:
        stand(wish.stance)
    if wish.camera is None and wish.stance is None and wish.view is None:
        stand(_START)
        for room in scene.rooms:
            for n in range(1, 1 + min(2, len(room_views(scene, stage.state, stage.obstacles, room=room)))):
                stand(room.id if n == 1 else f"{room.id}.{n}")
    if wish.view == _TOP or not pictures or (wish.view is None and len(pictures) > 1):
        pictures[_TOP] = lambda: stage.above(size)
    if wish.view == _MAP or (wish.view is None and len(pictures) > 1):
        pictures[_MAP] = lambda: stage.map(wish.size)
    if wish.view == _MAP:
        pictures.pop(_TOP, None)
    return Rendered(scene=scene.id, task=task, files=_written(pictures, wish.out))


def _written(pictures: dict[str, Callable[[], Pixels]], out: Path) -> tuple[str, ...]:
    if out.suffix.lower() == ".png":
        if len(pictures) != 1:
            raise RenderError(
                f"{len(pictures)} pictures do not go into one file {out}; give a folder, or --stance, --from or --view"
            )
        paths = [out]
    elif out.suffix.lower() in _OTHER_PICTURES:
        raise RenderError(f"{out}: pictures of scenes are PNG files; give a name that ends in .png, or a folder")
    else:
        paths = [out / f"{name}.png" for name in pictures]
    for path, drawn in zip(paths, pictures.values(), strict=True):
        write_picture(path, png_bytes(drawn()))
    return tuple(map(str, paths))


def draw_gallery(
    folder: Path, page: Path, *, progress: Callable[[int, int], None] = lambda done, of: None
) -> tuple[str, ...]:
    """One small contact sheet for every scene (JPEG, at most 150 kB), and a page in Markdown that shows them all. The
    same scenes give the same files."""
    files, parts = [], []
    known = scene_ids()
    for k, name in enumerate(known):
        scene, title, _ = compiled_scene(name, usable=False)
        sheet = folder / f"{name}.jpg"
        write_picture(sheet, jpeg_bytes(_contact_sheet(_Scene(scene, title)), most_bytes=_GALLERY_BYTES))
        files.append(str(sheet))
        rooms = ", ".join(r.nouns[0] for r in scene.rooms)
        parts.append(f"## {title}\n\n`{name}`: {rooms}.\n\n![{title}]({_beside(sheet, page)})\n")
        progress(k + 1, len(known))
    head = (
        "# Gallery\n\nEvery scene from above and from stances in its rooms, as `iwreplay scene render` draws it.\n"
        "This page and its pictures are made by `make gallery`.\n"
    )
    write_picture(page, "\n".join([head, *parts]).encode())
    return (*files, str(page))


def _beside(sheet: Path, page: Path) -> str:
    try:
        return sheet.relative_to(page.parent).as_posix()
    except ValueError:
        return sheet.as_posix()


def _contact_sheet(stage: _Scene) -> Pixels:
    """From above, from the start, and from the corners of rooms: the best corner of each, then the second best."""
    size = (_GALLERY_PX, _GALLERY_PX * 3 // 4)
    views = [(r, room_views(stage.scene, stage.state, stage.obstacles, room=r)) for r in stage.scene.rooms]
    cells: list[tuple[str, Pose]] = [("start", start_view(stage.scene))]
    for rank in range(4):
        cells += [(r.nouns[0], corners[rank]) for r, corners in views if len(corners) > rank]
    cells = cells[: _GALLERY_CELLS - 1]
    page = SheetPage(aspect=size[0] / size[1], cells=len(cells) + 1, columns=_GALLERY_COLUMNS, cell_px=_GALLERY_PX)
    page.add(stage.above(size), "from above")
    for label, camera in cells:
        page.add(stage.seen_from(camera, size=size, fovy_deg=_GALLERY_FOVY_DEG), label)
    return page.pixels()
