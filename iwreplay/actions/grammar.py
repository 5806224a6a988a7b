"""From text to a command: the grammar of the action language, and nothing about the world.

command := "[" VERB "]" (arg ("," arg)*)?      VERB: letters, any case
arg     := number | entity                      which one is decided by the position
number  := "-"? digits ("." digits)?
entity  := 1 to 8 words of letters, digits, "'" and "-"
turn    := command ("\\n" command)* | "[NoOp]", then optionally a line "say:" with a reply
"""

from __future__ import annotations

import math
import re

import msgspec

from iwreplay.actions.refusal import RefusedError
from iwreplay.actions.table import NUMBER_RANGES, PRIMITIVES, Arg, Primitive, by_verb
from iwreplay.errors import ParticipantError
from iwreplay.motion.model import Refusal

__all__ = ["MAX_COMMANDS", "MAX_COMMAND_CHARS", "Command", "Turn", "entity_words", "parse_command", "parse_turn"]

#: longest command, in characters
MAX_COMMAND_CHARS = 400
#: most commands in one turn
MAX_COMMANDS = 32
_MAX_REPLY = 4000
_MAX_WORDS = 8

_COMMAND = re.compile(r"\[([^\[\]]*)\](.*)", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*'?")
_FORBIDDEN = re.compile(r"[_#/\\]")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command that follows the grammar; its entities are not looked up yet."""

    text: str
    #: the surface verb as the table writes it
    verb: str
    primitive: Primitive
    #: argument name -> the words of an entity, lower case
    entities: dict[str, tuple[str, ...]]
    #: argument name -> number
    numbers: dict[str, float]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What a Human wrote in its turn."""

    commands: tuple[str, ...]
    reply: str | None


def parse_command(text: str) -> Command:
    """Parses one command; raises RefusedError with PARSE, UNKNOWN_VERB, ARITY, BAD_NUMBER or FORBIDDEN_REF."""
    if len(text) > MAX_COMMAND_CHARS:
        raise RefusedError(Refusal("PARSE", f"A command has at most {MAX_COMMAND_CHARS} characters."))
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        raise RefusedError(
            Refusal("PARSE", "A command is written as a verb in square brackets, then what it is about.")
        )
    verb_text, rest = found.group(1).strip(), found.group(2).strip()
    if not (verb_text.isascii() and verb_text.isalpha()):
        raise RefusedError(Refusal("PARSE", "The verb in the brackets has letters only."))
    if verb_text.lower() == "noop":
        raise RefusedError(Refusal("PARSE", "A turn without any command is written [NoOp], alone."), verb=verb_text)
    known = by_verb.get(verb_text.lower())
    if known is None:
        some = ", ".join(row.verbs[0] for row in PRIMITIVES)
        raise RefusedError(Refusal("UNKNOWN_VERB", f"I don't know how to {verb_text}. I know: {some}."), verb=verb_text)
    verb, row = known
    try:
        return _arguments(text, verb=verb, row=row, rest=rest)
    except RefusedError as refused:
        raise RefusedError(refused.refusal, verb=verb_text, primitive=row.canonical) from None


def _arguments(text: str, *, verb: str, row: Primitive, rest: str) -> Command:
    parts = [p.strip() for p in rest.split(",")] if rest else []
    if len(parts) == 1 and verb in row.without_number:
        raise RefusedError(Refusal("BAD_NUMBER", f"The command [{verb}] takes no angle; it always turns half round."))
    most = 0 if verb in row.without_number else len(row.args)
    if not row.least() <= len(parts) <= most:
        raise RefusedError(Refusal("ARITY", _arity_sentence(verb, row)))
    entities: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, float] = {}
    for arg, part in zip(row.args, parts, strict=False):
        if arg.is_number:
            numbers[arg.name] = _number(part, verb=verb, arg=arg)
        else:
            entities[arg.name] = entity_words(part)
    return Command(text=text, verb=verb, primitive=row, entities=entities, numbers=numbers)


def _arity_sentence(verb: str, row: Primitive) -> str:
    if not row.args or verb in row.without_number:
        return f"The command [{verb}] stands alone, without arguments."
    words = [f"{a.name} (may be left out)" if a.optional else a.name for a in row.args]
    return f"The command [{verb}] needs: {', '.join(words)}."


def _number(part: str, *, verb: str, arg: Arg) -> float:
    lo, hi, unit = NUMBER_RANGES[arg.kind]
    if not _NUMBER.fullmatch(part):
        raise RefusedError(
            Refusal("BAD_NUMBER", f"The command [{verb}] takes a plain number of {unit}, not '{part[:40]}'.")
        )
    value = float(part)
    too_small = arg.kind == "distance" and abs(value) < 0.05
    if not math.isfinite(value) or not lo <= value <= hi or too_small:
        least = "at least 0.05 either way, " if arg.kind == "distance" else ""
        raise RefusedError(
            Refusal("BAD_NUMBER", f"The command [{verb}] takes {unit} from {lo:g} to {hi:g}, {least}not {part}.")
        )
    return value


def entity_words(part: str) -> tuple[str, ...]:
    """The words of one entity, lower case. Raises RefusedError with PARSE or FORBIDDEN_REF."""
    if _FORBIDDEN.search(part):
        raise RefusedError(
            Refusal("FORBIDDEN_REF", "That is not a public name. Say what it is and where it is, in words.")
        )
    words = part.replace("’", "'").lower().split()
    if not words:
        raise RefusedError(Refusal("PARSE", "A name is missing between the commas."))
    if len(words) > _MAX_WORDS:
        raise RefusedError(Refusal("PARSE", f"A description has at most {_MAX_WORDS} words; use a shorter one."))
    for word in words:
        if not _WORD.fullmatch(word):
            raise RefusedError(
                Refusal("PARSE", f"A name has words of letters, digits, apostrophes and hyphens, not '{word[:40]}'.")
            )
    return tuple(words)


def parse_turn(text: str) -> Turn:
    """Splits a Human's answer into command lines and its reply. The lines are parsed one by one when carried out,
    so a malformed line costs an action and spoils no other.

    Raises ParticipantError when `[NoOp]` is mixed with commands, or there are too many lines or characters.
    """
    lines = text.strip().splitlines()
    commands: list[str] = []
    reply: str | None = None
    for i, raw in enumerate(lines):
        line = raw.strip()
        if line.lower().startswith("say:"):
            said = "\n".join([line[4:].strip(), *(later.strip() for later in lines[i + 1 :])]).strip()
            reply = said or None
            break
        if line:
            commands.append(line)
    if reply is not None and len(reply) > _MAX_REPLY:
        raise ParticipantError(f"the reply has {len(reply)} characters; at most {_MAX_REPLY} are taken")
    idle = [c for c in commands if c.lower() == "[noop]"]
    if idle and len(commands) > 1:
        raise ParticipantError(f"[NoOp] stands alone, but the turn has {len(commands)} lines")
    if len(commands) > MAX_COMMANDS:
        raise ParticipantError(f"a turn has at most {MAX_COMMANDS} commands, this one has {len(commands)}")
    return Turn(commands=() if idle else tuple(commands), reply=reply)
