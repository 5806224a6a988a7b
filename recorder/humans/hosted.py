"""A Human that is a hosted model: it acts under its family's restriction, in commands of the action language."""

from __future__ import annotations

from iwreplay.actions.grammar import parse_turn
from iwreplay.actions.table import NUMBER_RANGES, PRIMITIVES, Arg, Primitive
from iwreplay.errors import ParticipantError
from iwreplay.events import ModelCall, Participant, PrimitiveOutcome
from iwreplay.loop.answers import AnswerError, checked_human_act
from iwreplay.ports import AnswerSchema, HumanAct, HumanView, Model
from recorder.humans.literal import refusal_in_words
from recorder.models.consulting import Consultant, Guard, Keep, Part, Pictures, Sampling, Unusable
from recorder.models.objects import MalformedError, find_object, optional_text
from recorder.prompts import PROMPT_VERSION, load_prompt

__all__ = ["TURN_SCHEMA", "ModelHuman", "command_list", "read_turn"]

TURN_SCHEMA = AnswerSchema(
    name="turn",
    schema={
        "type": "object",
        "properties": {
            "commands": {"type": "array", "items": {"type": "string"}},
            "reply": {"type": ["string", "null"]},
        },
        "required": ["commands", "reply"],
        "additionalProperties": False,
    },
)
_SIGHTED, _BLIND = "what you see, in pictures (the oldest first)", "no picture, since you can't see"
_TOO_MUCH = "no picture, since none fits into what you can be sent"


class ModelHuman:
    """Acts as its model says. A model that will not act, or can't be understood, spoils the episode: it says nothing
    about the Assistant.

    What it intends by itself (Prevention) it does without being asked, until the Assistant interrupts: the script is
    not its choice.
    """

    def __init__(self, model: Model, *, sampling: Sampling, guard: Guard, keep: Keep) -> None:
        self._prompt = load_prompt("human").filled({"commands": command_list()})
        #: what it did, which is no secret to it
        self._done: list[str] = []
        self._asked: Consultant[HumanAct] = Consultant(
            model, role="human", sampling=sampling, answer=TURN_SCHEMA, read=read_turn, guard=guard, keep=keep
        )

    def about(self) -> Participant:
        params = {**self._asked.sampling.facts(), **self._prompt.facts()}
        return Participant(name=self._asked.model.name, version=PROMPT_VERSION, params=params)

    def take_calls(self) -> tuple[ModelCall, ...]:
        return self._asked.take_calls()

    def act(self, view: HumanView) -> HumanAct:
        """AnswerError as of the Consultant, and "REFUSED" or "MALFORMED" for a model that does not act."""
        if view.instruction is None and view.intent is not None:
            return HumanAct(commands=(view.intent,), from_intent=True)
        told = [line.text for line in view.dialogue if line.speaker in ("assistant", "human")]

        def system(pictures: Pictures) -> str:
            senses = _SIGHTED if pictures else _TOO_MUCH if view.frames else _BLIND
            return self._prompt.fill({"role": view.role, "restriction": view.restriction, "senses": senses})

        said = self._asked.ask(
            turn=view.turn,
            system=system,
            frames=view.frames,
            compose=lambda pictures: _composed(view, pictures),
            spoken="\n".join([*told, view.instruction or "", *self._done]),
        )
        if isinstance(said, Unusable):
            raise AnswerError(said.code, said.detail)
        self._done += said.commands
        return said

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        """The sentence of a refusal: what it has not done, the Assistant must hear."""
        return refusal_in_words(outcomes)


def command_list() -> str:
    """The action language in a line for each primitive, for a model to read."""
    return "\n".join(f"- {_verbs(row)}{_arguments(row)}" for row in PRIMITIVES)


def _verbs(row: Primitive) -> str:
    *others, last = (f"[{verb}]" for verb in row.verbs)
    return f"{', '.join(others)} or {last}" if others else last


def _arguments(row: Primitive) -> str:
    if not row.args:
        return ""
    alone = "".join(f"; [{verb}] stands alone" for verb in row.without_number)
    return f", then: {', '.join(_argument(a) for a in row.args)}{alone}"


def _argument(arg: Arg) -> str:
    notes = []
    if arg.is_number:
        lo, hi, unit = NUMBER_RANGES[arg.kind]
        notes.append(f"{unit} from {lo:g} to {hi:g}")
    if arg.optional:
        notes.append("may be left out")
    name = "what you hold" if arg.kind == "held" else arg.name
    return f"{name} ({', '.join(notes)})" if notes else name


def read_turn(text: str) -> HumanAct:
    """The commands and the reply that an answer holds, in JSON or as the action language writes a turn.
    MalformedError when it holds neither, or what rule 5 does not allow."""
    try:
        if text.lstrip().startswith("["):
            turn = parse_turn(text)
            return checked_human_act(HumanAct(commands=turn.commands, reply=turn.reply), intent=None)
        found = find_object(text, having="commands")
        commands = found["commands"]
        if isinstance(commands, str):
            commands = [line for line in commands.splitlines() if line.strip()]
        if not isinstance(commands, list) or not all(isinstance(c, str) for c in commands):
            raise MalformedError('commands is a list of texts: ["[Walk] table"]')
        reply = optional_text(found.get("reply"), "reply")
        return checked_human_act(HumanAct(commands=tuple(commands), reply=reply), intent=None)
    except ParticipantError as e:
        raise MalformedError(e.detail if isinstance(e, AnswerError) else str(e)) from None


def _composed(view: HumanView, pictures: Pictures) -> tuple[Part, ...]:
    """The turn as a message."""
    parts: list[Part] = []
    for n, (frame, image) in enumerate(pictures, start=1):
        parts += [f"What you saw, {n} of {len(pictures)}, {frame.sim_time_s:.1f} s after the beginning:", image]
    lines = [f"You asked: {view.request}", ""]
    # what the Assistant says now stands at the end
    said = [line for line in view.dialogue if line.speaker != "assistant" or line.turn < view.turn]
    if said:
        lines += ["What was said since:"]
        lines += [f"- turn {line.turn}, {_speaker(line.speaker)}: {line.text}" for line in said]
        lines += [""]
    lines += ["Your body:", *(f"- {name}: {value}" for name, value in view.proprioception.items()), ""]
    if view.failures:
        lines += ["What did not work in the last turn:", *(f"- {sentence}" for sentence in view.failures), ""]
    now = (
        "The Assistant says nothing now." if view.instruction is None else f"The Assistant says now: {view.instruction}"
    )
    lines += [now, "What do you do?"]
    return (*parts, "\n".join(lines))


def _speaker(speaker: str) -> str:
    return {"assistant": "the Assistant", "human": "you"}.get(speaker, speaker)
