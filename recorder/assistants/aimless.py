"""The random Assistant: plain orders about what is in the scene, drawn by lot. What it achieves, chance achieves."""

from __future__ import annotations

from iwreplay.canonical import canonical_bytes, sha256_hex
from iwreplay.events import Participant
from iwreplay.ports import AssistantAct, AssistantView, Rng

__all__ = ["RandomAssistant"]

#: one sentence for everything that commonly moves a task on; {x} is a name
_SENTENCES = (
    "Walk to the {x}.",
    "Pick up the {x}.",
    "Put it on the {x}.",
    "Put it in the {x}.",
    "Open the {x}.",
    "Close the {x}.",
    "Turn on the {x}.",
    "Turn off the {x}.",
    "Read the {x}.",
    "Throw it away in the {x}.",
)


class RandomAssistant:
    """Says one of its sentences with one of `names` in every turn, and never that it is done."""

    def __init__(self, names: tuple[str, ...], *, rng: Rng) -> None:
        """`names` are public names of things; at least one."""
        assert names, "there must be something to speak of"
        self._names = names
        self._rng = rng

    def about(self) -> Participant:
        return Participant(
            name="random", version="1", params={"names_sha256": sha256_hex(canonical_bytes(self._names))}
        )

    def decide(self, view: AssistantView) -> AssistantAct:
        sentence = _SENTENCES[self._rng.randrange(len(_SENTENCES))]
        name = self._names[self._rng.randrange(len(self._names))]
        return AssistantAct(decision="interrupt", text=sentence.format(x=name), memory=view.memory)
