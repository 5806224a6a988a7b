"""Answering a phone and hanging up."""

from __future__ import annotations

from iwreplay.actions.plan import Plan, Run
from iwreplay.actions.refusal import refuse
from iwreplay.actions.scope import Scope, sentence
from iwreplay.world.geometry import grip_point

__all__ = ["answer_phone", "hang_up"]

_PRESS_S = 0.6


def answer_phone(scope: Scope) -> Plan:
    """It stops ringing and the call is on. The phone stays where it is; a full hand is no obstacle."""
    phone = scope.thing("phone")
    scope.need_affordance(phone, "phone", f"answer {scope.the(phone.id)}; it is not a phone")
    if scope.state.attr(phone.id, "ringing") is not True:
        raise refuse("NOT_RINGING", sentence(f"{scope.the(phone.id)} is not ringing."), blocker=phone.id)
    script = scope.script()

    def effect(run: Run) -> None:
        if run.state.attr(phone.id, "ringing") is not True:
            return  # it stopped while the hand was on its way
        run.set(phone.id, "ringing", False)
        run.set(phone.id, "on_call", True)
        run.happened("ring_stopped", obj=phone.id, detail={"answered": True})

    def verify(run: Run) -> str:
        answered = run.state.attr(phone.id, "on_call") is True
        return "" if answered else sentence(f"{scope.the(phone.id)} stopped ringing before I got to it.")

    scope.use(script, phone.id, grip_point(phone, scope.state), hold_s=_PRESS_S, end=(effect,), free_hand=True)
    return Plan(steps=tuple(script.steps), obj=phone.id, verify=verify)


def hang_up(scope: Scope) -> Plan:
    """The call is over."""
    phone = scope.thing("phone")
    scope.need_affordance(phone, "phone", f"hang up {scope.the(phone.id)}; it is not a phone")
    if scope.state.attr(phone.id, "on_call") is not True:
        raise refuse("ALREADY", f"There is no call on {scope.the(phone.id)}.", blocker=phone.id)
    script = scope.script()

    def effect(run: Run) -> None:
        run.set(phone.id, "on_call", False)

    scope.use(script, phone.id, grip_point(phone, scope.state), hold_s=_PRESS_S, end=(effect,), free_hand=True)
    return Plan(steps=tuple(script.steps), obj=phone.id)
