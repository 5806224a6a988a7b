"""The literal Human: does what it is told, word by word. The embedded default, so that every task validates without
any model. It never infers, never plans, never repairs (rules 15 to 19)."""

from __future__ import annotations

from iwreplay.events import Participant, PrimitiveOutcome
from iwreplay.ports import HumanAct, HumanView
from recorder.humans.grammar import interpret

__all__ = ["GRAMMAR_VERSION", "LiteralHuman", "refusal_in_words"]

#: raised whenever a sentence may give other commands than before
GRAMMAR_VERSION = "5"
#: earlier utterances of the Assistant that "it" may refer back to
_REMEMBERED = 3


class LiteralHuman:
    """Stateless: everything that it does is a function of its view."""

    def about(self) -> Participant:
        return Participant(name="literal", version=GRAMMAR_VERSION)

    def act(self, view: HumanView) -> HumanAct:
        """Told something: its commands, or a question back. Told nothing: the next of its intent, or nothing."""
        if view.instruction is None:
            if view.intent is None:
                return HumanAct()
            return HumanAct(commands=(view.intent,), from_intent=True)
        said = [line.text for line in view.dialogue if line.speaker == "assistant" and line.turn < view.turn]
        holding = view.proprioception.get("holding", "")
        understood = interpret(
            view.instruction, holding="" if holding == "nothing" else holding, earlier=said[-_REMEMBERED:]
        )
        return HumanAct(commands=understood.commands, reply=understood.reply)

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        """The sentence of the refusal; nothing when everything worked."""
        return refusal_in_words(outcomes)


def refusal_in_words(outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
    """What was refused, in the first person; None when everything worked."""
    failed = next((o for o in outcomes if not o.ok), None)
    if failed is None:
        return None
    sentence = failed.sentence.strip() or "I don't know why."
    if sentence.startswith(("I ", "I'm ", "I've ", "My ")):
        return sentence
    return f"I could not do that: {sentence[0].lower()}{sentence[1:]}"
