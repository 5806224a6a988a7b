"""A Human that is a person: reads what a Human may know, and types commands of the action language."""

from __future__ import annotations

from collections.abc import Callable

from iwreplay.actions.grammar import MAX_COMMANDS, parse_command
from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.table import by_verb
from iwreplay.events import Participant, PrimitiveOutcome
from iwreplay.loop import AnswerError
from iwreplay.loop.answers import checked_human_act
from iwreplay.loop.limits import NOOP
from iwreplay.ports import HumanAct, HumanView
from recorder.console import Completion, Console
from recorder.humans.hosted import command_list
from recorder.humans.literal import refusal_in_words

__all__ = ["INTERFACE_VERSION", "PersonHuman", "command_completions"]

#: raised whenever a person is shown something else, or is understood in another way
INTERFACE_VERSION = "1"
_SAY = "say:"
_HOW = (
    "Type what you do, one command a line, like [Walk] table. An empty line ends your turn; with nothing before it you "
    "do nothing. say: ... tells the Assistant something. ? lists the commands, Tab completes, Ctrl-C ends the episode."
)
_WRITTEN = (
    "A command is a verb in square brackets, then what it is about, separated by commas. Things are called what they "
    'are, in plain words: "blue mug", "left drawer", "bottle on the shelf". One command after the other is carried '
    "out, up to the first that can't be. [NoOp], alone, does nothing. The commands:"
)


class PersonHuman:
    """Asks the person at a console. A line that is no command is told at once and costs nothing; one that is a command
    is taken as it is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._introduced = False
        #: lines of the dialogue that the person knows
        self._heard = 0
        #: frame id -> where it is
        self._kept: dict[str, str] = {}

    def about(self) -> Participant:
        return Participant(name="person", version=INTERFACE_VERSION, params=self._console.facts())

    def act(self, view: HumanView) -> HumanAct:
        """KeyboardInterrupt when the person leaves."""
        self._present(view)
        names: list[tuple[str, ...]] = []

        def known() -> tuple[str, ...]:
            # worked out when first asked for
            if not names:
                names.append(view.names())
            return names[0]

        commands: list[str] = []
        said: list[str] = []
        while True:
            prompt = "then> " if commands else "> "
            line = self._console.ask(prompt, complete=lambda typed: command_completions(typed, known)).strip()
            reply = " ".join(said) or None
            if not line and view.intent is not None and not commands:
                return HumanAct(commands=(view.intent,), reply=reply, from_intent=True)
            if not line or (_is_idle(line) and not commands):
                return HumanAct(commands=tuple(commands), reply=reply)
            if line == "?":
                self._console.tell(f"{_WRITTEN}\n{command_list()}")
            elif line.casefold().startswith(_SAY):
                self._take_reply(line[len(_SAY) :].strip(), said)
            else:
                self._take_command(line, commands)

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        """The sentence of a refusal: what was not done, the Assistant must hear."""
        for outcome in outcomes:
            self._console.tell(f"{'done' if outcome.ok else 'not done'}: {outcome.command}")
        return refusal_in_words(outcomes)

    def _take_reply(self, words: str, said: list[str]) -> None:
        try:
            checked_human_act(HumanAct(reply=" ".join([*said, words])), intent=None)
        except AnswerError as no:
            self._console.tell(no.detail)
            return
        said += [words] if words else []

    def _take_command(self, line: str, commands: list[str]) -> None:
        if _is_idle(line):
            self._console.tell(f"{NOOP} stands alone, and there are commands already; an empty line ends your turn.")
        elif len(commands) == MAX_COMMANDS:
            self._console.tell(f"A turn has at most {MAX_COMMANDS} commands; an empty line ends it.")
        else:
            try:
                parse_command(line)
            except RefusedError as no:
                self._console.tell(no.refusal.sentence)
            else:
                commands.append(line)

    def _present(self, view: HumanView) -> None:
        console = self._console
        for frame in view.frames:
            if frame.frame_id not in self._kept:
                self._kept[frame.frame_id] = console.keep(frame.pixels(), name=frame.frame_id)
        if view.frames:
            console.show(view.frames[-1].pixels())
        if not self._introduced:
            # below the picture, where it is read
            console.tell(f"\nYou are the Human. {view.role}\nWhat holds for you: {view.restriction}\n{_HOW}")
            self._introduced = True
        lines = ["", f"Turn {view.turn}. You asked: {view.request}"]
        lines += [f"You see: {self._kept[view.frames[-1].frame_id]}"] if view.frames else []
        new, self._heard = view.dialogue[self._heard :], len(view.dialogue)
        lines += [f"The {line.speaker} said: {line.text}" for line in new if line.speaker not in ("assistant", "human")]
        lines += [f"You feel: {'; '.join(f'{name}: {value}' for name, value in view.proprioception.items())}"]
        lines += [f"Did not work: {sentence}" for sentence in view.failures]
        says = "nothing" if view.instruction is None else view.instruction
        lines += [f"The Assistant says: {says}"]
        if view.intent is not None:
            lines += [f"You are about to do: {view.intent}   (Enter does it, {NOOP} does nothing)"]
        console.tell("\n".join(lines))


def _is_idle(line: str) -> bool:
    return line.casefold().replace(" ", "") == NOOP.casefold()


def command_completions(typed: str, names: Callable[[], tuple[str, ...]]) -> tuple[Completion, ...]:
    """What a command that is being typed may become: a verb of the table, or one of the names where a name belongs."""
    line = typed.lstrip()
    verb, closed, rest = line.removeprefix("[").partition("]")
    if not closed:
        found = [
            Completion(f"[{known}] " if row.args and known not in row.without_number else f"[{known}]", len(line))
            for known, row in by_verb.values()
            if known.casefold().startswith(verb.strip().casefold())
        ]
        spoken = _SAY.startswith(line.casefold()) and not line.startswith("[")
        return (*found, *([Completion(f"{_SAY} ", len(line))] if spoken else []))
    parts = rest.split(",")
    row = by_verb[verb.strip().lower()][1] if verb.strip().lower() in by_verb else None
    if row is None or len(parts) > len(row.args) or row.args[len(parts) - 1].is_number:
        return ()
    more = ", " if len(parts) < row.least() else ""
    piece = parts[-1].lstrip()
    gap = "" if parts[-1] != piece else " "
    starting = [n for n in names() if n.startswith(piece.lower())]
    within = [n for n in names() if n not in starting and f" {piece.lower()}" in n]
    return tuple(Completion(f"{gap}{name}{more}", len(piece)) for name in (*starting, *within))
