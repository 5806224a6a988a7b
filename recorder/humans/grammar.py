"""The literal Human's understanding: plain English in, commands out. It never plans and never adds a step.

What it can't turn into commands it asks about; the orders said before that point are carried out, those after it are
not, because an order may depend on the one that was not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from recorder.humans.clauses import Clause, split_clauses
from recorder.humans.idioms import SERVING_TOOLS
from recorder.humans.orders import Ask, Order, Rule
from recorder.humans.referents import PRONOUNS, Referents, Role
from recorder.humans.rules import RULES
from recorder.humans.words import format_number, is_container, noun_phrase, words_of

__all__ = ["Understood", "interpret"]

#: verbs whose single name may be a list: "open the fridge and the oven"
_LISTS = frozenset(
    words_of(
        """
    Open Close SwitchOn SwitchOff Start Press Read LookAt PointAt Touch Wipe Cut Slice Lock Unlock Wash Rinse Scrub
    Walk Face PlugIn PlugOut
    """
    )
)
#: verbs for which the hand holds the tool: "it" is never the tool itself
_TOOLED = frozenset(words_of("Cut Slice Score Sweep Wipe"))
#: asks how things are; an order may be put as any other question
_YES_OR_NO = re.compile(r"^(?:is|are|isn't|aren't|was|were|does|did|has|have|see)\b")
#: words that no name has: what is left when a sentence was not taken apart
_NO_NAME = re.compile(r"\b(?:the|then|me|you|your|yourself|it|is|are|don't|if|so|not|and go)\b|(?<!next) to ")
_SEVERAL = re.compile(
    r"^(?:everything|all (?:that|which)|each|every|both|all (?:of )?the|all (?:two|three|four)"
    r"|the (?:two|three|four)|(?:two|three|four)) \w"
)
_LIST_SEPARATOR = re.compile(r",? and (?=the |your |that |this |both )|, (?=the |your |that |this )")
_SAY = re.compile(
    r"^(?:say|reply|answer)(?: that)? [\"'](?P<words>.+?)[\"']$|^(?:tell|let) [\w ]+? (?:that|know) (?P<words2>.+)$"
)
#: who or what a statement is about
_SUBJECT = re.compile(
    r"^you (?:forgot|failed|still have|still need|were supposed|were meant) (?:to )?\w+ (?:the|your|that|this)"
    r" (?P<x2>[\w' -]+)$|"
    r"^(?:the|your|that|this) (?P<x>(?:(?! (?:who|which|that)\b).)+?) (?:is|are|was|has|looks?|seems?|needs?|stands?)\b"
)
#: "the carton in your hand" is the carton
_IN_HAND = re.compile(r"(?<! what is)(?<! what's)(?<! thing)(?<! object)(?<! item) in your (?:right |left )?hand\b")
#: "the next one is the BYT carton", "it's the bottle on the left": what "it" is afterwards
_IDENTITY = re.compile(r"^(?:it|that|this|the (?:[\w-]+ )?one(?: [\w -]+?)?)(?:'s| is) (?P<y>(?:the|your) [\w' -]+)$")
#: where a statement says that something belongs: what "there" is afterwards
_BELONGS = re.compile(
    r"\b(?:goes|go|belongs?|comes?) (?:back )?(?:in|into|on|onto|to|inside) (?P<y>(?:the|your|that) [\w' -]+)$"
)
_TOOL_FIRST = re.compile(r"^(?:use|using|with|take up) (?P<tool>.+?)(?: to|,) (?P<rest>\w.+)$")

_ADVERBS = re.compile(
    r"(?:,? (?:now|please|again|for me|then|too|as well|right now|at once|immediately|carefully|slowly|gently"
    r"|quickly|quick|fast|first|already|will you|would you|can you|could you|ok|okay|all right|alright|thanks|thank you"
    r"|asap|mate|together|with me|and then|and|next|after that))+$"
)


class Understood(msgspec.Struct, frozen=True):
    """What became of an utterance."""

    commands: tuple[str, ...]
    #: what to say back: a question, or None when everything was understood
    reply: str | None


class _NotUnderstood(Exception):  # noqa: N818 - carries the question back, never leaves this module
    def __init__(self, reply: str) -> None:
        self.reply = reply
        super().__init__(reply)


def interpret(text: str, *, holding: str = "", earlier: Iterable[str] = ()) -> Understood:
    """Commands and reply for one utterance.

    `holding` is the public name of what is in the hand, "" for nothing. `earlier` are utterances before this one,
    oldest first: only what they spoke of counts, so that "it" can refer back to them.
    """
    referents = Referents()
    for utterance in earlier:
        _understand(utterance, referents)
        referents.forget_hand("")
    referents.forget_hand(holding)
    return _understand(text, referents)


def _understand(text: str, referents: Referents) -> Understood:
    said = _to_be_said(text)
    if said is not None:
        return Understood((), said)
    clauses = split_clauses(text)
    commands: list[str] = []
    heard = False
    for clause in clauses:
        try:
            made = _clause(clause, referents)
        except _NotUnderstood as question:
            return Understood(tuple(commands), question.reply)
        commands.extend(made)
        heard = True
    if commands:
        return Understood(tuple(commands), None)
    return Understood((), "OK." if heard else f'I did not understand: "{text.strip()}"')


def _to_be_said(text: str) -> str | None:
    """ "Say 'hello'." -> hello. The Human repeats words that it is told to say."""
    match = _SAY.match(
        text.strip().rstrip(".!").replace("“", '"').replace("”", '"').replace("Say", "say").replace("Tell", "tell")
    )
    if match is None:
        return None
    words = (match["words"] or match["words2"]).strip()
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


def _clause(clause: Clause, referents: Referents) -> tuple[str, ...]:
    if clause.kind == "statement":
        subject = _SUBJECT.match(clause.text)
        if subject is not None and noun_phrase(subject["x"] or subject["x2"]):
            referents.mention(noun_phrase(subject["x"] or subject["x2"]), "target")
    told = _IDENTITY.match(clause.text) if clause.kind == "statement" else None
    if told is not None and noun_phrase(told["y"]):
        referents.mention(noun_phrase(told["y"]), "target")
    belongs = _BELONGS.search(clause.text) if clause.kind == "statement" else None
    if belongs is not None and noun_phrase(belongs["y"]):
        referents.mention(noun_phrase(belongs["y"]), "place")
    if clause.kind == "topic":
        referents.mention(noun_phrase(clause.text), "target")
        return ()
    if clause.kind in ("interjection", "forbidden", "statement"):
        return ()
    if clause.kind == "condition":
        raise _NotUnderstood(f'I can\'t decide that by myself, tell me what to do: "{_plain(clause.text)}"')
    if clause.kind == "question":
        if re.match(r"^what (?:are you holding|do you (?:have|hold)|is in your hand|have you got)", clause.text):
            holding = referents.holding
            raise _NotUnderstood(f"I am holding the {holding}." if holding else "I am holding nothing.")
        asked = None if _YES_OR_NO.match(clause.text) else _match(clause.text)
        if asked is not None and not isinstance(made := asked[0].build(asked[1]), Ask):
            return tuple(command for order in made for command in _commands(order, referents))
        raise _NotUnderstood(f'I can\'t answer that, tell me what to do: "{_plain(clause.text)}"')
    text = _IN_HAND.sub("", _ADVERBS.sub("", clause.text))
    tool = _TOOL_FIRST.match(text)
    if tool is not None and _match(tool["rest"]) is not None:
        text = tool["rest"]
        if re.search(rf"\b{SERVING_TOOLS}$", tool["tool"]):
            text = f"{text} with {tool['tool']}"
    found = _match(text)
    if found is None:
        raise _NotUnderstood(f'I did not understand: "{_plain(clause.text)}"')
    rule, groups = found
    made = rule.build(groups)
    if isinstance(made, Ask):
        raise _NotUnderstood(made.question)
    return tuple(command for order in made for command in _commands(order, referents))


def _match(text: str) -> tuple[Rule, dict[str, str]] | None:
    for rule in RULES:
        match = rule.pattern.fullmatch(text)
        if match is not None:
            groups = {k: v for k, v in match.groupdict().items() if v is not None}
            for alias in ("x2", "x3"):
                if alias in groups and "x" not in groups:
                    groups["x"] = groups[alias]
            return rule, groups
    return None


def _plain(text: str) -> str:
    """A clause with its quantities written out again."""
    text = re.sub(r"([\d.]+)#s\b", r"\1 seconds", text)
    return re.sub(r"([\d.]+)#deg\b", r"\1 degrees", re.sub(r"([\d.]+)#m\b", r"\1 metres", text))


def _commands(order: Order, referents: Referents) -> Iterable[str]:
    if order.verb == "Carry":
        yield from _carry(order, referents)
        return
    if order.verb == "Hold":
        ((thing, _),) = order.names
        if _name(thing, "held", referents) != referents.holding:
            yield _command(Order("Grab", ((thing, "target"),)), referents)
        return
    if order.verb == "Put":
        held, (words, role) = order.names
        spot = referents.resolve(words, role)
        if spot is None:
            raise _NotUnderstood("Where exactly should I put it?")
        verb = "PutIn" if is_container(spot) else "PutOn"
        yield _command(Order(verb, (held, (words, role))), referents)
        return
    if order.verb in _LISTS and len(order.names) == 1:
        words, role = order.names[0]
        parts = _LIST_SEPARATOR.split(words)
        if len(parts) > 1 and all(noun_phrase(p) for p in parts):
            for part in parts:
                yield _command(Order(order.verb, ((part, role),), order.number), referents)
            return
    yield _command(order, referents)


def _carry(order: Order, referents: Referents) -> Iterable[str]:
    (thing, _), place = order.names
    _only_one(thing)
    name = _name(thing, "held", referents)
    if name != referents.holding:
        yield _command(Order("Grab", ((thing, "target"),)), referents)
    yield _command(Order("Walk", (place,)), referents)


def _command(order: Order, referents: Referents) -> str:
    names: list[str] = []
    for words, role in order.names:
        _only_one(words)
        name = _name(words, role, referents)
        tooled = order.verb in _TOOLED or (order.verb == "Plate" and re.search(rf"\b{SERVING_TOOLS}$", name))
        if tooled and name == referents.holding and {words.strip(), noun_phrase(words)} & PRONOUNS:
            raise _NotUnderstood(f'What do you mean by "{words.strip()}"? I hold the {name} to do it with.')
        names.append(name)
    if len(names) == 2 and names[0] == names[1] and order.names[0][1] == "held":
        # "put it in the bin" with an empty hand, when only the bin was spoken of
        raise _NotUnderstood(f'What do you mean by "{_plain(order.names[0][0]).strip()}"?')
    for name, (_, role) in zip(names, order.names, strict=True):
        referents.mention(name, role)
    referents.carried_out(order.verb, *names)
    args = [*names, *([format_number(order.number)] if order.number is not None else [])]
    return f"[{order.verb}]" + (" " + ", ".join(args) if args else "")


def _only_one(words: str) -> None:
    """There is one hand."""
    if len([p for p in _LIST_SEPARATOR.split(words) if noun_phrase(p)]) > 1 and not re.search(r"\bor\b", words):
        raise _NotUnderstood(f'One thing at a time, please: "{_plain(words).strip()}" is more than one.')
    if _SEVERAL.match(words):
        raise _NotUnderstood(f'One thing at a time, please: "{_plain(words).strip()}" is more than one.')


def _name(words: str, role: Role, referents: Referents) -> str:
    plain = _plain(words)
    if "#" in words:
        raise _NotUnderstood(f'I did not understand what "{plain.strip()}" is.')
    name = referents.resolve(plain, role)
    if name is None:
        raise _NotUnderstood(f'What do you mean by "{plain.strip()}"?')
    if re.search(r"\bor\b|^(?:one|any|either) of\b|^(?:any|either)\b", name):
        raise _NotUnderstood(f'I can\'t choose: tell me which one, "{name}".')
    if not name or _NO_NAME.search(name):
        raise _NotUnderstood(f'I did not understand what "{plain.strip()}" is.')
    if re.search(r"\band \w+ (?:it|them|that|the|your)\b", words):
        raise _NotUnderstood(f'I did not understand: "{plain.strip()}"')
    return " ".join(name.replace(",", " ").split())
