"""The contract of `iwreplay.ports.Assistant`: subclass `AssistantContract` and give it `make`."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from iwreplay.loop.answers import checked_assistant_act
from iwreplay.ports import Assistant, AssistantView, FrameView, Said

__all__ = ["AssistantContract", "assistant_view"]


def assistant_view(turn: int, *, memory: str | None = None) -> AssistantView:
    """A plausible view with two frames and some dialogue."""
    frames = tuple(
        FrameView(frame_id=f"f{i:06d}", sim_time_s=float(i), pixels=lambda: np.zeros((6, 8, 3), dtype=np.uint8))
        for i in range(2)
    )
    dialogue = tuple(Said(turn=t, speaker="human", text="I don't see any bowl here.") for t in range(1, turn))
    return AssistantView(turn=turn, request="Please help me.", dialogue=dialogue, frames=frames, memory=memory)


class AssistantContract:
    """What the loop relies on, whoever the Assistant is."""

    #: an Assistant that need not answer the same view in the same way (a hosted model)
    deterministic = True
    turns = 6

    def make(self) -> Assistant:
        """A fresh Assistant."""
        raise AssertionError("a subclass makes the Assistant")

    def test_says_who_it_is(self) -> None:
        about = self.make().about()
        assert about.name
        assert about.version
        assert about == self.make().about()
        assert all(isinstance(k, str) and isinstance(v, str) for k, v in about.params.items())
        assert not [k for k in about.params if "key" in k.lower() or "secret" in k.lower() or k.lower() == "token"]

    def test_every_decision_is_within_the_protocol(self) -> None:
        assistant = self.make()
        memory = None
        for turn in range(1, self.turns + 1):
            act = checked_assistant_act(assistant.decide(assistant_view(turn, memory=memory)))
            memory = act.memory
            if act.decision == "done":
                break

    def test_same_views_give_the_same_decisions(self) -> None:
        if not self.deterministic:
            pytest.skip("this Assistant may answer the same view differently")
        one, two = self.make(), self.make()
        for turn in range(1, self.turns + 1):
            assert one.decide(assistant_view(turn)) == two.decide(assistant_view(turn))

    def test_the_view_is_left_as_it_was(self) -> None:
        view = assistant_view(1)
        before = msgspec.structs.asdict(view)
        self.make().decide(view)
        assert msgspec.structs.asdict(view) == before
