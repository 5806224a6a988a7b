"""An Assistant that is a hosted model: it is told what an Assistant may know, and decides in JSON."""

from __future__ import annotations

import json

from iwreplay.events import ModelCall, Participant
from iwreplay.loop.answers import AnswerError, checked_assistant_act
from iwreplay.ports import AnswerSchema, AssistantAct, AssistantView, Model
from recorder.models.consulting import Consultant, Guard, Keep, Part, Pictures, Sampling, Unusable
from recorder.models.objects import MalformedError, find_object, optional_text
from recorder.prompts import PROMPT_VERSION, load_prompt

__all__ = ["ModelAssistant", "arm_name", "decision_schema", "read_decision"]

_DECISIONS = ("silent", "interrupt", "done")


class ModelAssistant:
    """Decides as its model says. A model that will not answer, or can't be understood after it was asked to mend its
    answer, says nothing in that turn: that is its outcome, and its calls tell why."""

    def __init__(self, model: Model, *, sampling: Sampling, guard: Guard, keep: Keep, memory: bool = False) -> None:
        """memory: the memory arm, in which it has a notebook."""
        self._memory = memory
        shape = '{"decision": "silent" or "interrupt" or "done", "text": "what you say, or null"'
        places = {
            "memory": load_prompt("assistant_memory").text if memory else "",
            "answer": shape + (', "memory": "your notebook, whole"}' if memory else "}"),
        }
        self._prompt = load_prompt("assistant").filled(places)
        self._asked: Consultant[AssistantAct] = Consultant(
            model,
            role="assistant",
            sampling=sampling,
            answer=decision_schema(memory=memory),
            read=lambda text: read_decision(text, memory=memory),
            guard=guard,
            keep=keep,
        )

    def about(self) -> Participant:
        asked = self._asked
        params = {**asked.sampling.facts(), "memory": "on" if self._memory else "off", **self._prompt.facts()}
        return Participant(name=arm_name(asked.model.name, memory=self._memory), version=PROMPT_VERSION, params=params)

    def take_calls(self) -> tuple[ModelCall, ...]:
        return self._asked.take_calls()

    def decide(self, view: AssistantView) -> AssistantAct:
        """AnswerError as of the Consultant."""
        # what a Human says it has seen for itself; it was scanned before it got here
        said_aloud = [line.text for line in view.dialogue if line.speaker in ("assistant", "human")]
        said = self._asked.ask(
            turn=view.turn,
            system=lambda _: self._prompt.text,
            frames=view.frames,
            compose=lambda pictures: _composed(view, pictures),
            spoken="\n".join([*said_aloud, view.memory or ""]),
        )
        if isinstance(said, Unusable):
            return AssistantAct(decision="silent", memory=view.memory)
        return said


def arm_name(model: str, *, memory: bool) -> str:
    """What it is called: the two arms are two Assistants, and are never counted together."""
    return f"{model}+memory" if memory else model


def decision_schema(*, memory: bool) -> AnswerSchema:
    """The form of a decision, as JSON Schema."""
    properties = {
        "decision": {"type": "string", "enum": list(_DECISIONS)},
        "text": {"type": ["string", "null"]},
        **({"memory": {"type": ["string", "null"]}} if memory else {}),
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return AnswerSchema(name="decision", schema=schema)


def read_decision(text: str, *, memory: bool) -> AssistantAct:
    """The decision that an answer holds; MalformedError when it holds none, or one that contradicts itself."""
    found = find_object(text, having="decision")
    decision = found["decision"]
    if not isinstance(decision, str) or decision.strip().lower() not in _DECISIONS:
        raise MalformedError(f"the decision is one of {', '.join(_DECISIONS)}, not {json.dumps(decision)[:80]}")
    act = AssistantAct(
        decision=decision.strip().lower(),
        text=optional_text(found.get("text"), "text"),
        memory=optional_text(found.get("memory"), "memory") if memory else None,
    )
    if act.decision == "interrupt" and act.text is None:
        raise MalformedError("who interrupts says something: text is empty")
    if act.decision == "silent" and act.text is not None:
        raise MalformedError("who is silent says nothing, but there is a text; to say it, interrupt")
    try:
        return checked_assistant_act(act)
    except AnswerError as e:
        raise MalformedError(e.detail) from None


def _composed(view: AssistantView, pictures: Pictures) -> tuple[Part, ...]:
    """The turn as a message: pictures with their times, the request, the dialogue, the notebook."""
    parts: list[Part] = []
    for n, (frame, image) in enumerate(pictures, start=1):
        parts += [f"Picture {n} of {len(pictures)}, {frame.sim_time_s:.1f} s after the beginning:", image]
    lines = [f"The wearer asked: {view.request}", ""]
    if view.dialogue:
        lines += ["What was said since:"]
        lines += [f"- turn {line.turn}, {_speaker(line.speaker)}: {line.text}" for line in view.dialogue]
        lines += [""]
    if view.memory is not None:
        lines += ["Your notebook:", view.memory, ""]
    lines += [f"This is turn {view.turn}. What do you decide?"]
    return (*parts, "\n".join(lines))


def _speaker(speaker: str) -> str:
    return {"assistant": "you", "human": "the wearer"}.get(speaker, speaker)
