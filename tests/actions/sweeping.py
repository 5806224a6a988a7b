"""Every affordance of every thing in a scene, tried by command from where the wearer would stand for it.

`python -m tests.actions.sweeping [SCENE ...] [--only KIND]` prints what is refused, and how many arms touch something
on their way. What is refused for a good reason is named in `tests/actions/test_every_scene.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple
from unittest import mock

import iwreplay.actions.scope as scope_module
from iwreplay.actions.grounding import Grounded
from iwreplay.events import PrimitiveOutcome
from iwreplay.motion.arms import Met, met_on_the_way
from iwreplay.motion.model import Approach, Refusal
from iwreplay.motion.planner import Planner
from iwreplay.pose import Vec3
from iwreplay.processes.plumbing import room_l
from iwreplay.processes.power import has_power
from iwreplay.processes.support import closed_around, parent_of
from iwreplay.scene.loader import compile_scene, load_scene, scene_ids
from iwreplay.scene.model import Thing
from iwreplay.scene.pages import pages_of
from iwreplay.vocabulary import WEARER
from recorder.simulators.mujoco_backend import MujocoSimulator
from tests.actions.proving import Base, World

KINDS = ("open", "grab", "switch", "fill", "sit", "read")
#: vessels tried at each tap, things held while sitting
_VESSELS, _HELD = 3, 2


class Refused(NamedTuple):
    """One command that was not carried out."""

    kind: str
    thing: str
    command: str
    outcome: PrimitiveOutcome

    def __str__(self) -> str:
        o = self.outcome
        return f"{self.kind:6} {self.thing:24} {self.command:34} {o.code:12} {o.sentence} [{o.blocker}]"


class Sweep:
    """One scene, its doors between rooms open; every trial begins anew."""

    def __init__(self, scene_id: str, base: Base | None = None) -> None:
        self.base = base or Base(compile_scene(load_scene(scene_id)), MujocoSimulator())
        self.things = self.base.scene.things
        self.number = {t.id: n for n, t in enumerate(self.things)}
        self.tried: Counter[str] = Counter()
        #: commands that moved an arm, and those on whose way it met something: command -> what
        self.reaches = 0
        self.met: list[tuple[str, tuple[Met, ...]]] = []
        world = World(self.base)
        for t in self.things:
            if t.cls == "door" and world.attr(t.id, "open") is False:
                world.set(t.id, open=True)
        world.settle(1.2)
        self.base.state, self.base.snapshot = world.state.copy(), world.sim.snapshot()

    # ------------------------------------------------------------------ commands by number

    def word(self, thing: str, part: str = "") -> str:
        """What names a thing in a command of the sweep."""
        return f"thing {self.number[thing]} {part.replace('_', ' ')}".strip()

    def _ground(self, words: tuple[str, ...], **_: object) -> Grounded:
        return Grounded(self.things[int(words[1])].id, part="_".join(words[2:]))

    def run(self, kinds: tuple[str, ...] = KINDS) -> list[Refused]:
        """Everything of these kinds; what was refused."""
        out: list[Refused] = []
        real = scope_module.Scope.approach

        def watched(scope: scope_module.Scope, thing: str, point: Vec3, **options: object) -> Approach:
            found = real(scope, thing, point, **options)  # type: ignore[arg-type]
            self.reaches += 1
            hit = met_on_the_way(scope.sim, scope.state, found, target=thing, point=point)
            if hit:
                self.met.append((f"{self.base.scene.id} {scope.command.text} {thing}", hit))
            return found

        with (
            mock.patch.object(scope_module, "ground", self._ground),
            mock.patch.object(scope_module.Scope, "approach", watched),
        ):
            for kind in kinds:
                out.extend(getattr(self, f"_{kind}")())
        return out

    def _all(self, affordance: str) -> Iterator[tuple[Thing, World]]:
        for t in self.things:
            if affordance in t.affordances and self.base.state.attr(t.id, "exists") is not False:
                yield t, self._beside(t)

    def _beside(self, thing: Thing) -> World:
        """A fresh world with the wearer where it stands for a thing, and what shuts the thing away open."""
        world = World(self.base)
        self._uncover(world, thing.id)
        return self._go(world, thing.id)

    def _uncover(self, world: World, thing: str) -> None:
        while shut := closed_around(world.state, thing):
            world.set(shut, open=True)
            world.settle(0.1)

    @staticmethod
    def _go(world: World, thing: str) -> World:
        planner: Planner = world.engine._planner
        route = planner.route_to(world.state, thing)
        if not isinstance(route, Refusal):
            world.stand(route.stance.x, route.stance.y, route.stance.yaw)
            if world.state.attr(WEARER, "held"):
                world.settle(0.1)
        return world

    def _try(self, kind: str, thing: str, world: World, *commands: str) -> Iterator[Refused]:
        """The commands in order, up to the first that is refused."""
        for command in commands:
            self.tried[kind] += 1
            outcome = world.execute(command)
            if not outcome.ok:
                yield Refused(kind, thing, command, outcome)
                return

    # ------------------------------------------------------------------ kinds

    def _open(self) -> Iterator[Refused]:
        for t, world in self._all("open"):
            if pages_of(t):
                continue
            for attr in ("locked", "running"):
                if world.attr(t.id, attr) is True:
                    world.set(t.id, **{attr: False})
            name = self.word(t.id)
            swing = [f"[Open] {name}", f"[Close] {name}"]
            yield from self._try("open", t.id, world, *(swing[::-1] if world.attr(t.id, "open") is True else swing))

    def _grab(self) -> Iterator[Refused]:
        for t, world in self._all("grab"):
            if t.fixed:
                continue
            parent = parent_of(world.state, t.id)
            if parent.how in ("held", "worn"):
                continue
            if world.attr(t.id, "plugged"):
                world.set(t.id, plugged="")
            back = f"[Drop] {self.word(t.id)}"
            if parent.thing:
                verb = "PutOn" if parent.how == "on" else "PutIn"
                back = f"[{verb}] {self.word(t.id)}, {self.word(parent.thing, parent.part)}"
            yield from self._try("grab", t.id, world, f"[Grab] {self.word(t.id)}", back)

    def _switch(self) -> Iterator[Refused]:
        for t, world in self._all("switch"):
            name = self.word(t.id)
            if world.attr(t.id, "open") is True and "machine" in t.affordances:
                world.set(t.id, open=False)
                world.settle(0.1)
            if world.attr(t.id, "on") is True or world.attr(t.id, "running") is True:
                yield from self._try("switch", t.id, world, f"[SwitchOff] {name}")
                continue
            first = []
            if not has_power(world.state, t.id) and "plug" in t.affordances and not world.attr(t.id, "plugged"):
                first.append(f"[PlugIn] {name}")
            yield from self._try("switch", t.id, world, *first, f"[SwitchOn] {name}", f"[SwitchOff] {name}")

    def _fill(self) -> Iterator[Refused]:
        vessels = [t for t in self.things if {"liquid_container", "grab"} <= set(t.affordances) and not t.fixed]
        vessels = self._some(vessels, _VESSELS)
        for tap in (t for t in self.things if "water_source" in t.affordances):
            for vessel in vessels:
                world = self._beside(vessel)
                if world.attr(vessel.id, "plugged"):
                    world.set(vessel.id, plugged="")
                world.set(vessel.id, contains={})
                for attr, value in (("open", True), ("sealed", False)):
                    if attr in world.state.attrs[vessel.id]:
                        world.set(vessel.id, **{attr: value})
                grabbed = list(self._try("grab", vessel.id, world, f"[Grab] {self.word(vessel.id)}"))
                if grabbed or room_l(world.state, vessel.id) <= 0.0:
                    continue
                self._go(world, tap.id)
                name = self.word(tap.id)
                on = () if world.attr(tap.id, "on") is True else (f"[SwitchOn] {name}",)
                yield from self._try("fill", tap.id, world, *on, f"[Fill] {self.word(vessel.id)}, {name}")

    def _sit(self) -> Iterator[Refused]:
        loose = [t for t in self.things if "grab" in t.affordances and not t.fixed]
        held = self._some([t for t in loose if parent_of(self.base.state, t.id).how in ("on", "floor")], _HELD)
        for t, world in self._all("seat"):
            name = self.word(t.id)
            yield from self._try("sit", t.id, world, f"[Sit] {name}", "[StandUp]")
            for thing in held:
                if parent_of(self.base.state, thing.id).thing == t.id:
                    continue
                full = self._beside(thing)
                if not full.execute(f"[Grab] {self.word(thing.id)}").ok:
                    continue
                self._go(full, t.id)
                yield from self._try("sit", f"{t.id}+{thing.id}", full, f"[Sit] {name}", "[StandUp]")

    def _read(self) -> Iterator[Refused]:
        for t in self.things:
            if any(self.base.state.attr(t.id, f"text:{f.name}") for k in t.links for f in k.faces):
                yield from self._try("read", t.id, self._beside(t), f"[Read] {self.word(t.id)}")

    @staticmethod
    def _some(things: list[Thing], n: int) -> list[Thing]:
        """At most n, from the smallest to the largest."""
        ranked = sorted(things, key=lambda t: (max(t.bounds_half), t.id))
        if len(ranked) <= n:
            return ranked
        return [ranked[k * (len(ranked) - 1) // (n - 1)] for k in range(n)]


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.actions.sweeping", description=__doc__)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="all without any")
    parser.add_argument("--only", choices=KINDS, action="append", help="one kind of trial, may be given again")
    args = parser.parse_args(argv)
    tried: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    reaches = met = 0
    for scene_id in args.scenes or scene_ids():
        sweep = Sweep(scene_id)
        found = sweep.run(tuple(args.only or KINDS))
        arms = f"{len(sweep.met)} of {sweep.reaches} arms touch something"
        _say(f"{scene_id}: {sum(sweep.tried.values())} commands, {len(found)} refused, {arms}")
        for r in found:
            _say(f"    {r}")
        for text, what in sweep.met:
            _say(f"    arm    {text}: {', '.join(f'{m.thing} {m.depth_m * 100:.1f} cm of {m.part}' for m in what)}")
        tried += sweep.tried
        refused += Counter(r.kind for r in found)
        reaches, met = reaches + sweep.reaches, met + len(sweep.met)
    for kind in tried:
        _say(f"{kind}: {tried[kind]} commands, {refused[kind]} refused")
    _say(f"arms: {met} of {reaches} touch something")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
