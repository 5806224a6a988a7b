"""What the planners of primitives read: the unchanged world, questions to the motion planner, public words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from iwreplay.actions.grammar import Command
from iwreplay.actions.grounding import Grounded, ground
from iwreplay.actions.perception import Perception
from iwreplay.actions.plan import Effect, Run, Script
from iwreplay.actions.refusal import RefusedError, refuse
from iwreplay.events import EpisodeConfig
from iwreplay.motion.model import Approach, Refusal, Route
from iwreplay.motion.planner import Planner
from iwreplay.ports import Simulator
from iwreplay.pose import Vec3, inverse, transform_point
from iwreplay.processes.support import ancestors, closed_around
from iwreplay.scene.model import Thing
from iwreplay.vocabulary import WEARER
from iwreplay.world.geometry import grip_point, thing_box, thing_of
from iwreplay.world.state import WorldState
from iwreplay.world.support import FLOOR

__all__ = ["NEAR_M", "Scope", "not_near", "sentence"]

#: how far an interaction walks by itself, more along furniture that the wearer stands at: so near that it is at it
NEAR_M = 1.5
_AT_M = 0.6
#: what lies on the floor and is no higher is stepped on
_FLAT_M = 0.04


def sentence(text: str) -> str:
    """The same text with a capital first letter."""
    return text[:1].upper() + text[1:]


def not_near(why: Refusal) -> Refusal:
    """For an interaction, every reason why the hand doesn't get there is UNREACHABLE, but for a seated wearer's."""
    return why if why.code == "POSTURE" else Refusal("UNREACHABLE", why.sentence, why.blocker)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """One command on one moment of the world. Nothing here changes anything."""

    command: Command
    state: WorldState
    #: asked for overlaps and rays only
    sim: Simulator
    planner: Planner
    perception: Perception
    config: EpisodeConfig

    # ------------------------------------------------------------------ arguments

    def entity(self, name: str, *, rooms: bool = False) -> Grounded:
        """The argument `name`, grounded. Raises RefusedError with a grounding code."""
        return ground(self.command.entities[name], state=self.state, perception=self.perception, rooms=rooms)

    def thing(self, name: str) -> Thing:
        """The thing that the argument `name` names."""
        return thing_of(self.state, self.entity(name).id)

    def given(self, name: str) -> bool:
        """Whether an optional argument was given."""
        return name in self.command.entities or name in self.command.numbers

    def number(self, name: str, default: float) -> float:
        """A numeric argument, or `default`."""
        return self.command.numbers.get(name, default)

    def held_argument(self, name: str = "held") -> Thing:
        """The argument that must name what is in the hand. Raises RefusedError with NOT_HELD or a grounding code."""
        found = ground(
            self.command.entities[name], state=self.state, perception=self.perception, held=self.held, rooms=False
        )
        if found.id != self.held:
            have = f"I am holding {self.the(self.held)}" if self.held else "my hand is empty"
            raise refuse("NOT_HELD", f"I am not holding {self.the(found.id)}; {have}.", blocker=found.id)
        return thing_of(self.state, found.id)

    # ------------------------------------------------------------------ the wearer

    @property
    def held(self) -> str:
        """Id of the thing in the hand, or ""."""
        return str(self.state.attr(WEARER, "held") or "")

    @property
    def held_thing(self) -> Thing | None:
        """The thing in the hand."""
        return thing_of(self.state, self.held) if self.held else None

    @property
    def seat(self) -> str:
        """Id of the seat that the wearer sits on, or ""."""
        return str(self.state.attr(WEARER, "sitting") or "")

    def script(self) -> Script:
        """An empty script from the present body."""
        return Script(self.state.body)

    # ------------------------------------------------------------------ words

    def the(self, thing: str) -> str:
        """ "the blue mug", "the left chair" """
        return self.perception.describe(self.state, thing)

    def no_affordance(self, thing: str, what: str) -> RefusedError:
        """ "I can't cut the table." """
        return refuse("NO_AFFORDANCE", f"I can't {what}.", blocker=thing)

    # ------------------------------------------------------------------ preconditions

    def need_standing(self) -> None:
        """Raises RefusedError with POSTURE while sitting."""
        if self.seat:
            raise refuse("POSTURE", "I am sitting; I have to stand up first.", blocker=self.seat)

    def need_off(self, thing: Thing) -> None:
        """Raises RefusedError with POSTURE while the wearer sits on the thing, or on something that it carries."""
        if self.seat and thing.id in (self.seat, *(p.thing for p in ancestors(self.state, self.seat))):
            text = f"I am sitting on {self.the(self.seat)}; I have to stand up first."
            raise refuse("POSTURE", text, blocker=self.seat)

    def stands_on(self, thing: Thing) -> bool:
        """Whether the wearer's feet are on a thing that lies flat on the floor: a mat, a cloth."""
        box = thing_box(thing, self.state)
        x, y, _ = transform_point(inverse(box.pose), (self.state.body[0], self.state.body[1], box.pose[2]))
        flat = box.pose[2] + box.half[2] < _FLAT_M and box.half[2] < _FLAT_M
        return flat and not self.seat and abs(x) < box.half[0] and abs(y) < box.half[1]

    def need_free_hand(self) -> None:
        """Raises RefusedError with HAND_FULL."""
        if self.held:
            raise refuse("HAND_FULL", f"My hand is full: I am holding {self.the(self.held)}.", blocker=self.held)

    def need_affordance(self, thing: Thing, affordance: str, what: str) -> None:
        """Raises RefusedError with NO_AFFORDANCE: "I can't `what`." """
        if affordance not in thing.affordances:
            raise self.no_affordance(thing.id, what)

    def need_uncovered(self, thing: str) -> None:
        """Raises RefusedError with CLOSED when the thing is shut away."""
        shut = closed_around(self.state, thing)
        if shut:
            text = f"{self.the(thing)} is inside {self.the(shut)}, which is closed."
            raise refuse("CLOSED", sentence(text), blocker=shut)

    def tool(self, affordance: str) -> Thing | None:
        """The held thing when it has the affordance."""
        held = self.held_thing
        return held if held is not None and affordance in held.affordances else None

    # ------------------------------------------------------------------ motion

    def walk_m(self, thing: str) -> float:
        """How far a command that needs `thing` walks by itself. Along the bench or table that the wearer stands at, and
        around it, that is as far as its sides are long."""
        owners = [p.thing for p in ancestors(self.state, thing) if p.thing in self.state.poses]
        for one in (thing_of(self.state, t) for t in (thing, *owners)):
            if one.fixed and one.id != FLOOR and any(k.surfaces for k in one.links):
                box = thing_box(one, self.state)
                x, y, _ = transform_point(inverse(box.pose), (self.state.body[0], self.state.body[1], box.pose[2]))
                if math.hypot(max(0.0, abs(x) - box.half[0]), max(0.0, abs(y) - box.half[1])) <= _AT_M:
                    return NEAR_M + 2.0 * (box.half[0] + box.half[1])
        return NEAR_M

    def approach(
        self, thing: str, point: Vec3, *, free_hand: bool = False, accept: Callable[[Approach], bool] | None = None
    ) -> Approach:
        """A stance and a reach to `point` on `thing`, the best that `accept` takes; `free_hand`: with the left hand
        when the right one is full. Raises RefusedError (UNREACHABLE and the like)."""
        self.need_uncovered(thing)
        left = free_hand and bool(self.held)
        found = self.planner.approach(self.state, thing, point, max_walk_m=self.walk_m(thing), left=left, accept=accept)
        if isinstance(found, Refusal):
            raise RefusedError(not_near(found))
        return found

    def carried(self, thing: str) -> bool:
        """Whether the thing is in the hand, or rests on or in what is."""
        return any(p.how == "held" for p in ancestors(self.state, thing))

    def use(
        self,
        script: Script,
        thing: str,
        point: Vec3,
        *,
        end: tuple[Effect, ...] = (),
        during: Callable[[Run, float], None] | None = None,
        hold_s: float = 0.0,
        rub_m: float = 0.0,
        free_hand: bool = False,
    ) -> Script:
        """Walks up, reaches `point` and has the effects there; with a thing that is carried, right in the hand.

        `hold_s` seconds (with `during`) pass at the point before the effects, the hand still or rubbing `rub_m` to
        either side; it goes back afterwards. `free_hand`: what is held has no part in it, so a full right hand leaves
        it to the left.
        """
        if self.carried(thing):
            return script.hold(max(hold_s, 0.8), during=during, end=end)
        approach = self.approach(thing, point, free_hand=free_hand)
        if hold_s > 0.0:
            script.go_and_reach(approach)
            if rub_m > 0.0:
                script.rub(point, rub_m, hold_s, end=end)
            else:
                script.hold(hold_s, during=during, end=end)
        else:
            script.go_and_reach(approach, end=end)
        return script.retract(holding=bool(self.held))

    def approach_grip(self, thing: Thing) -> Approach:
        """To where a hand takes it."""
        return self.approach(thing.id, grip_point(thing, self.state))

    def near_route(self, target: str, point: Vec3) -> Route:
        """A short walk to use a thing without reaching for it. Raises RefusedError with UNREACHABLE or POSTURE."""
        self.need_standing()
        return self._short(self.planner.route_to(self.state, target, point=point), target)

    def seat_route(self, seat: str, point: Vec3) -> Route:
        """A short walk to where one sits down at `point` on a seat. Raises RefusedError with UNREACHABLE or POSTURE."""
        self.need_standing()
        return self._short(self.planner.route_to_seat(self.state, seat, point), seat)

    def _short(self, found: Route | Refusal, target: str) -> Route:
        if isinstance(found, Refusal):
            raise RefusedError(not_near(found))
        if found.length_m > self.walk_m(target):
            text = f"{self.the(target)} is too far away; I have to walk there first."
            raise refuse("UNREACHABLE", sentence(text), blocker=target)
        return found
