"""A new task file: a small task that loads, with comments that say what to put in its place."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from string import Template

from iwreplay.actions.naming import public_name
from iwreplay.app.scenes import find_scene
from iwreplay.app.tasks import list_tasks
from iwreplay.errors import IwreplayError, SceneError, TaskError, UnknownNameError
from iwreplay.scene.loader import compile_scene, load_scene
from iwreplay.scene.model import CompiledScene, Surface, Thing
from iwreplay.taskpack.loader import load_task, validate_task
from iwreplay.vocabulary import FAMILIES

__all__ = ["new_task"]

_LETTERS = dict(zip(FAMILIES, "GPADVF", strict=True))
#: heights of a surface that a hand gets to, metres
_LOW_M, _HIGH_M = 0.4, 1.3
#: room for the two things of the skeleton, metres
_WIDE_M, _DEEP_M = 0.5, 0.2
#: and above them, so that they are seen from where one stands
_ABOVE_M = 0.45
_MOST_TRIED = 60
#: nobody puts mugs on these
_UNFIT = frozenset(("heat_source", "machine", "seat", "open"))

_FILE = Template(
    """# $id: what the Assistant must see, remember or work out, in one sentence.
#
# docs/tasks.md leads through a task from its idea to its checks. This file loads as it is; replace every part of it.
#
#   iwreplay scene show $scene          what the scene has, and what its places are called
#   iwreplay scene show --task FILE     the same with the things of this file in it
#   iwreplay tasks check FILE           runs everything below and says what does not hold

format = 1
id = "$id"
family = "$family"
title = "The blue mug"
scene = "$scene"
# what the wearer says at the start; both participants hear it
request = "Please tell me which mug to take."
# capabilities that the points below measure (docs/tasks.md, section 6)
tests = ["C1"]

# carried out before the Assistant comes in; what happened there can be asked about later
warmup = ["[Walk] $place"]

# what the Human might do alone; it must not pass
no_help = ["[Grab] red mug"]

# -- the things that the task adds to its scene (section 2); a thing of the scene is changed by its id, without cls

[[things]]
id = "mug_blue"
cls = "mug"
adjectives = ["blue"]
paint = { body = "ceramic_blue" }
at = "$at"
pos = [$x1, $y1]

[[things]]
id = "mug_red"
cls = "mug"
adjectives = ["red"]
paint = { body = "ceramic_red" }
at = "$at"
pos = [$x2, $y2]

# -- the Human (section 3); the restriction is its family's, and for prevention an intent makes it err

[human]
role = "A person who asks before choosing."
restriction = "$family"

# -- the oracle (section 4): one table a turn, what is said and the commands that the literal Human makes of it

[[oracle]]
say = "Pick up the blue mug."
do = ["[Grab] blue mug"]

# -- what must be true (section 5; docs/checks.md has the formulas)

# an objective is false at the start and counted
[[objectives]]
id = "blue_mug_in_hand"
text = "The blue mug is in the hand."
formula = ["held", "mug_blue"]

# a gate must have held at every moment of live interaction: an order, or a prohibition
[[gates]]
id = "red_mug_never_taken"
text = "The red mug is never picked up."
formula = ["hist", ["not", ["held", "mug_red"]]]

# a keep is true at the start, and must be true again at the end
[[keeps]]
id = "red_mug_stays"
text = "The red mug is where it was."
formula = ["baseline", "mug_red"]

# -- capability points (section 6): what the Assistant was able to do, whether or not the episode passed

[[points]]
id = "mugs_told_apart"
capability = "C1"
text = "The blue mug was the first to be picked up."
formula = ["held", "mug_blue"]
reached = ["once", ["event", { verb = "grab", obj = ["class", "mug"] }]]

# -- near misses (section 7): the oracle with one thing wrong fails exactly what it names; at least two

[[near_misses]]
id = "red_mug"
text = "The wrong mug is taken."
fails = ["blue_mug_in_hand", "red_mug_never_taken", "red_mug_stays"]
oracle = [{ say = "Pick up the red mug.", do = ["[Grab] red mug"] }]

[[near_misses]]
id = "nothing_taken"
text = "The right mug is only looked at."
fails = ["blue_mug_in_hand"]
oracle = [{ say = "Look at the blue mug.", do = ["[LookAt] blue mug"] }]

# -- what must be known, and what could be guessed (section 8)

[[evidence]]
see = "mug_blue"
source = "warmup"
before = "blue_mug_in_hand"

[[choices]]
text = "which mug is taken"
of = ["mug_blue", "mug_red"]
"""
)


def new_task(task_id: str, *, family: str, scene: str, out: Path | None = None) -> Path:
    """Writes a commented task file that loads, by default ID.toml in the folder that one is in; the file.

    TaskError for an id that does not go with the family or that a task has, and for a file that is there already;
    UnknownNameError for a family or scene that is none; SceneError for a scene with no room for two mugs.
    """
    if family not in FAMILIES:
        raise UnknownNameError("family", family, known=FAMILIES)
    task_id = task_id.upper()
    if not re.fullmatch(r"[GPADVF]\d{2}", task_id) or task_id[0] != _LETTERS[family]:
        raise TaskError(f"id: {task_id!r} is no task of family {family}: it is {_LETTERS[family]} and two digits")
    if any(t.id == task_id for t in list_tasks()[0]):
        raise TaskError(f"id: there is a task {task_id} already: iwreplay tasks show {task_id}")
    found = find_scene(scene)
    if isinstance(found, Path):
        raise TaskError(f"scene: {scene} is a file; a task names a scene of the pack (iwreplay scene list)")
    path = out or Path(f"{task_id.lower()}.toml")
    if path.exists():
        raise TaskError(f"{path} is there already; nothing was written. Another file: --out FILE")
    text = _filled(task_id, family=family, scene=found)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    return path


def _filled(task_id: str, *, family: str, scene: str) -> str:
    """The first placement of the two mugs that holds together."""
    tried = 0
    with tempfile.TemporaryDirectory(prefix="iwreplay-new-") as folder:
        file = Path(folder) / f"{task_id.lower()}.toml"
        for values in islice(_placements(compile_scene(load_scene(scene))), _MOST_TRIED):
            tried += 1
            text = _FILE.substitute(values, id=task_id, family=family, scene=scene)
            file.write_text(text, encoding="utf-8")
            try:
                validate_task(load_task(file))
            except IwreplayError:
                continue
            return text
    raise SceneError(
        f"scene {scene} has no free surface for two mugs among {tried} that were tried; name another scene"
    )


def _placements(scene: CompiledScene) -> Iterator[dict[str, str]]:
    """Tables and the like that have a name of their own, the tops of the largest first."""
    names = Counter(public_name(t) for t in scene.things)
    found = [
        (thing, surface)
        for thing in scene.things
        if thing.fixed and names[public_name(thing)] == 1 and not _UNFIT.intersection(thing.affordances)
        for surface in (s for link in thing.links for s in link.surfaces)
        if surface.clearance >= _ABOVE_M
        and _LOW_M <= thing.pose[2] + surface.pos[2] <= _HIGH_M
        and 2 * surface.half[0] >= _WIDE_M
        and 2 * surface.half[1] >= _DEEP_M
    ]
    found.sort(key=lambda f: (f[1].name != "top", -f[1].half[0] * f[1].half[1]))
    for x in (0.0, -0.55, 0.55):
        for thing, surface in found:
            yield _placed(thing, surface, x * surface.half[0])


def _placed(thing: Thing, surface: Surface, x: float) -> dict[str, str]:
    y = -0.4 * surface.half[1]
    return {
        "place": public_name(thing),
        "at": f"{thing.id}.{surface.name}",
        "x1": f"{x - 0.1:.2f}",
        "x2": f"{x + 0.1:.2f}",
        "y1": f"{y:.2f}",
        "y2": f"{y:.2f}",
    }
