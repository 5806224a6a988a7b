"""The contract of `iwreplay.ports.Human`: subclass `HumanContract` and give it `make`."""

from __future__ import annotations

import msgspec
import pytest

from iwreplay.events import PrimitiveOutcome
from iwreplay.loop.answers import checked_human_act, checked_report
from iwreplay.loop.views import RESTRICTIONS
from iwreplay.ports import Human, HumanView, Said

__all__ = ["HumanContract", "human_view", "outcome"]


def human_view(turn: int = 1, *, instruction: str | None = None, intent: str | None = None) -> HumanView:
    """A plausible view."""
    said = () if instruction is None else (Said(turn=turn, speaker="assistant", text=instruction),)
    return HumanView(
        turn=turn,
        role="You are at home.",
        restriction=RESTRICTIONS["guidance"],
        request="Please help me.",
        instruction=instruction,
        dialogue=said,
        frames=(),
        proprioception={"holding": "nothing", "posture": "stand", "room": "kitchen"},
        failures=(),
        intent=intent,
    )


def outcome(*, ok: bool, sentence: str = "", code: str = "") -> PrimitiveOutcome:
    """An outcome of [Grab] mug."""
    return PrimitiveOutcome(
        sim_time_s=1.0,
        turn=1,
        phase="closed_loop",
        action=0,
        command="[Grab] mug",
        verb="Grab",
        primitive="grab",
        ok=ok,
        code="OK" if ok else code,
        sentence=sentence,
        refused=not ok,
        started_s=1.0,
        duration_s=0.0,
    )


class HumanContract:
    """What the loop relies on, whoever the Human is."""

    deterministic = True
    instructions: tuple[str | None, ...] = (
        "Walk to the sink.",
        "Take the mug, then put it on the table.",
        "Stop!",
        "Hmm, well ... flurb the gnargle?",
        "",
        None,
    )

    def make(self) -> Human:
        """A fresh Human."""
        raise AssertionError("a subclass makes the Human")

    def test_says_who_it_is(self) -> None:
        about = self.make().about()
        assert about.name
        assert about.version
        assert about == self.make().about()

    def test_every_act_is_within_the_protocol(self) -> None:
        human = self.make()
        for turn, instruction in enumerate(self.instructions, start=1):
            checked_human_act(human.act(human_view(turn, instruction=instruction)), intent=None)

    def test_an_intent_is_used_as_it_is_or_not_at_all(self) -> None:
        act = self.make().act(human_view(intent="[Grab] red bottle"))
        checked_human_act(act, intent="[Grab] red bottle")

    def test_reports_are_text_or_nothing(self) -> None:
        human = self.make()
        human.act(human_view(instruction="Take the mug."))
        checked_report(human.report((outcome(ok=True),)))
        checked_report(human.report((outcome(ok=False, code="HAND_FULL", sentence="My hand is full."),)))

    def test_same_views_give_the_same_acts(self) -> None:
        if not self.deterministic:
            pytest.skip("this Human may answer the same view differently")
        for instruction in self.instructions:
            view = human_view(instruction=instruction)
            assert self.make().act(view) == self.make().act(view)

    def test_the_view_is_left_as_it_was(self) -> None:
        view = human_view(instruction="Walk to the sink.")
        before = msgspec.structs.asdict(view)
        self.make().act(view)
        assert msgspec.structs.asdict(view) == before
