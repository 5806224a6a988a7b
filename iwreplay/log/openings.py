"""The first event of a log, read without reading again what earlier logs had: many logs share a task and a scene, and
those are nearly all of it. What is worked out for a task or a scene is kept with the object, so sharing saves that too.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import force_setattr

from iwreplay.canonical import canonical_bytes
from iwreplay.events import EpisodeOpened
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack

__all__ = ["read_shared", "share"]


class _Outline(EpisodeOpened, frozen=True, kw_only=True, tag="episode_opened"):
    """An opening whose task and scene are left as they are written."""

    task: msgspec.Raw  # type: ignore[assignment]
    scene: msgspec.Raw  # type: ignore[assignment]


_OUTLINE = msgspec.json.Decoder(_Outline)
_FIELDS = tuple(name for name in EpisodeOpened.__struct_fields__ if name not in ("task", "scene"))
#: tasks and scenes of the latest openings, by their canonical JSON
_TASKS: dict[bytes, TaskPack] = {}
_SCENES: dict[bytes, CompiledScene] = {}
_MOST = 16


def read_shared(line: bytes) -> EpisodeOpened | None:
    """The opening that is written in `line`, with the very task and scene of earlier ones; None when it has others, or
    is not what such an event is written as."""
    try:
        outline = _OUTLINE.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    task, scene = _TASKS.get(bytes(outline.task)), _SCENES.get(bytes(outline.scene))
    # what an outline is written as has task and scene as they were read, and those are canonical as they are known
    if task is None or scene is None or canonical_bytes(outline) + b"\n" != line:
        return None
    return EpisodeOpened(task=task, scene=scene, **{name: getattr(outline, name) for name in _FIELDS})


def share(event: EpisodeOpened, line: bytes) -> bool:
    """Keeps task and scene of an opening for later logs, and gives it those of earlier ones that are the same to the
    byte. False when the line is not what this event is written as."""
    if canonical_bytes(event) + b"\n" != line:
        return False
    outline = _OUTLINE.decode(line)
    for kept, name in ((_TASKS, "task"), (_SCENES, "scene")):
        written = bytes(getattr(outline, name))
        known = kept.get(written)
        if known is not None:
            force_setattr(event, name, known)
            continue
        if len(kept) >= _MOST:
            kept.clear()
        kept[written] = getattr(event, name)
    return True
