"""What a participant may answer (rules 4 and 5), and how an answer becomes an event."""

from __future__ import annotations

from iwreplay.actions.grammar import MAX_COMMAND_CHARS, MAX_COMMANDS
from iwreplay.errors import ParticipantError
from iwreplay.loop.limits import MAX_TEXT_CHARS, NOOP
from iwreplay.ports import AssistantAct, HumanAct

__all__ = ["AnswerError", "checked_assistant_act", "checked_human_act", "checked_report"]


class AnswerError(ParticipantError):
    """A participant that could not answer says why: `code` and `detail` go into the log word by word."""

    def __init__(self, code: str, detail: str) -> None:
        self.code, self.detail = code, detail
        super().__init__(f"{code}: {detail}")


def _outside(what: str) -> AnswerError:
    return AnswerError("PROTOCOL", what)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _text(value: object, where: str) -> str | None:
    """A spoken text: None, or a string with something in it."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise _outside(f"{where} must be text or nothing, not {type(value).__name__}")
    if len(value) > MAX_TEXT_CHARS:
        raise _outside(f"{where} has {len(value)} characters; at most {MAX_TEXT_CHARS} are allowed")
    if not _is_unicode(value):
        raise _outside(f"{where} holds a lone surrogate, which no log can store: {value[:80]!a}")
    return value.strip() or None


def checked_assistant_act(act: object) -> AssistantAct:
    """The act with its text trimmed; AnswerError("PROTOCOL") for anything that rule 4 does not allow."""
    if not isinstance(act, AssistantAct):
        raise _outside(f"the Assistant must answer with an AssistantAct, not {type(act).__name__}")
    text = _text(act.text, "the Assistant's text")
    memory = _text(act.memory, "the Assistant's memory")
    if act.decision not in ("silent", "interrupt", "done"):
        raise _outside(f"decision {act.decision!r} is none of silent, interrupt, done")
    if act.decision == "interrupt" and text is None:
        raise _outside("an interrupt must carry text; to say nothing, be silent")
    if act.decision == "silent" and text is not None:
        raise _outside(f"a silent turn must not carry text, got {text[:80]!r}; to speak, interrupt")
    return AssistantAct(decision=act.decision, text=text, memory=memory)


def checked_human_act(act: object, *, intent: str | None) -> HumanAct:
    """The act with NoOp removed and texts trimmed; AnswerError("PROTOCOL") for what rule 5 does not allow.

    `intent` is the command that was shown as the Human's own intent: only that one may be marked `from_intent`.
    """
    if not isinstance(act, HumanAct):
        raise _outside(f"the Human must answer with a HumanAct, not {type(act).__name__}")
    reply = _text(act.reply, "the Human's reply")
    if not isinstance(act.commands, tuple) or not all(isinstance(c, str) for c in act.commands):
        raise _outside("the Human's commands must be a tuple of strings")
    commands = tuple(c.strip() for c in act.commands)
    if len(commands) > MAX_COMMANDS:
        raise _outside(f"{len(commands)} commands in one turn; at most {MAX_COMMANDS} are allowed")
    for command in commands:
        if not command or "\n" in command or len(command) > MAX_COMMAND_CHARS or not _is_unicode(command):
            raise _outside(
                f"command {command[:80]!a} is empty, over {MAX_COMMAND_CHARS} characters, or has a line break or "
                "a lone surrogate"
            )
    idle = [c for c in commands if c.casefold().replace(" ", "") == NOOP.casefold()]
    if idle and len(commands) > 1:
        raise _outside(f"{NOOP} stands alone; it came with {len(commands) - 1} other commands")
    if idle:
        commands = ()
    if act.from_intent and commands != ((intent,) if intent is not None else None):
        raise _outside(f"from_intent allows exactly the intended command {intent!r}, got {commands!r}")
    return HumanAct(commands=commands, reply=reply, from_intent=act.from_intent)


def checked_report(report: object) -> str | None:
    """What the Human says after its commands."""
    return _text(report, "the Human's report")
