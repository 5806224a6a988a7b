"""Turns of phrase whose first word misleads: "get closer to the shelf" is no grabbing. Tried before the table."""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

import re

from recorder.humans.orders import (
    LIQUIDS,
    MACROS,
    Ask,
    Made,
    Order,
    Rule,
    ask,
    pair,
    put,
    rule,
    to,
    turned,
    waited,
    washed,
)
from recorder.humans.referents import Role
from recorder.humans.words import noun_phrase

__all__ = ["IDIOMS", "SERVING_TOOLS"]

#: tools that food is served with: "put the tomato on the plate with the spatula" is Plate, not PutOn
SERVING_TOOLS = r"(?:spatula|tongs|ladle|serving spoon|serving fork|spoon|turner|cake slice|scoop)"

_TEXT = (
    r"(?:(?:printed |written |nutrition |price |expiry |expiration |use by |best before )*"
    r"(?:label|text|writing|print|words|dates?|expiry|price|ingredients|instructions|lettering|small print))"
)
_SEE = r"(?:look(?: closely| again)? at|check|show me|let me (?:see|look at|have a look at)|(?:have|take) an?(?: \w+)? look at)"
_WHERE = re.compile(r"^what(?:'s| is| are)?(?: there)? (?:in|on|inside|under|behind) (?P<x>.+)$")
_MIDDLE = re.compile(r"^(?:the )?(?:very )?(?:middle|centre|center|edge) of (?P<y>.+)$")
_INTO = r"(?:in|into|inside|in to|using)"


def _seen(g: dict[str, str]) -> Made:
    """ "show me what is on the shelf" is a look at the shelf."""
    place = _WHERE.match(g["x"])
    return (Order("LookAt", ((place["x"] if place else g["x"], "thing"),)),)


def _middle(g: dict[str, str]) -> Made:
    """ "in the middle of the table" is on the table."""
    return (Order("PutOn", ((g["x"], "held"), (g["y"], "place"))),)


def _treated(g: dict[str, str]) -> Made:
    if g["how"] == "clean":
        return Ask("Should I wash it or wipe it?")
    if g["how"] == "wipe":
        return (Order("Wipe", ((g["x"], "target"),)),)
    return washed({"rinse": "Rinse", "scrub": "Scrub"}.get(g["how"], "Wash"), g)


def _asked_to_read(g: dict[str, str]) -> Made:
    named = noun_phrase(re.sub(rf"^(?:the |its |that |this |your )?{_TEXT}(?: (?:on|of|from) |$)", "", g["x"]))
    return (Order("Read", ((named or "it", "thing"),)),)


_COUNTS = {"a": 1, "one": 1, "another": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_LEAF = r"(?:turn|flip|leaf|go|move|skip|page|jump|get)"
#: of which document, where one is named
_OF = r"(?: (?:of|in) {x})?"
_COVER = r"(?:front )?cover(?: page)?|front page|title page"


def _turned_pages(g: dict[str, str]) -> Made:
    """ "turn two pages": each [Open] shows the next one."""
    count = g.get("n", "one")
    times = _COUNTS[count] if count in _COUNTS else int(count)
    return tuple(Order("Open", ((g.get("x", "it"), "document"),)) for _ in range(times))


def _from_the_start(g: dict[str, str]) -> Made:
    name: tuple[tuple[str, Role], ...] = ((g.get("x", "it"), "document"),)
    return (Order("Close", name), Order("Open", name))


IDIOMS: tuple[Rule, ...] = (
    # pages
    rule(rf"(?:{_LEAF} )?(?:back|backwards?)(?: by| to)? (?:a|one|the|two|three|\d) (?:previous |last )?pages?(?: .+)?|(?:{_LEAF} (?:back )?to |show me |let me see )?(?:the )?(?:previous|last) page(?: .+)?|{_LEAF} (?:a|one|the|two|three|\d) pages? (?:back|backwards?)(?: .+)?", ask("I can't turn back: I can close it, which shows its cover, and open it at its first page again.")),
    rule(rf"{_LEAF}(?: over| on| forwards?| ahead)*(?: to)? (?:the|its|your) (?:next )?page(?: over)?{_OF}|(?:go |turn )?(?:on |over )?to (?:the )?next page{_OF.replace('{x}', '(?P<x2>.+?)')}", _turned_pages),
    rule(rf"(?:the )?(?:next )?page{_OF}|(?:show me|let me see|open) (?:the |its )?next page{_OF.replace('{x}', '(?P<x2>.+?)')}", _turned_pages),
    rule(rf"{_LEAF}(?: over| on| forwards?| ahead)* (?:by )?(?P<n>a|one|another|two|three|four|five|six|[1-6])(?: more)? pages?(?: over| on| further| forwards?| ahead)*{_OF}", _turned_pages),
    rule(r"(?:turn|flip|leaf|page)(?: over| on)? {x}(?:'s)? (?:over |on )*(?:to )?(?:its |the )?(?:next )?page", _turned_pages),
    rule(rf"{_LEAF}(?: right| all the way)* back(?: in {{x}})? to (?:the |its )?(?:(?:very )?(?:first page|beginning|start)|page (?:1|one)){_OF.replace('{x}', '(?P<x2>.+?)')}", _from_the_start),
    rule(r"open {x} (?:at|on|to) (?:the |its )?(?:first page|beginning|page (?:1|one))", to("Open", "document")),
    rule(rf"(?:{_LEAF}(?: right| all the way)* (?:back )?to|(?:show me|let me see)) (?:the |its )?(?:{_COVER}){_OF}", lambda g: (Order("Close", ((g.get("x", "it"), "document"),)),)),
    rule(rf"(?:{_LEAF}|open)(?: .+?)? (?:to|at|on) page \w+(?: .+)?", ask("I turn one page after the other: how many pages should I turn?")),
    rule(r"read (?:me |out |aloud )*(?:the next page|(?:on )?page \w+)(?: .+)?", ask("I read the page that shows: tell me to turn the page first.")),
    # walking
    rule(r"(?:take|bring|lead|get|guide|walk) me (?:over |back |straight )*(?:to|into) {x}", to("Walk", "target")),
    rule(r"(?:get|move|come|go|step|walk)(?: a (?:little )?bit| a little| a step)? (?:closer|nearer) (?:to )?{x}", to("Walk", "target")),
    rule(r"move (?:yourself )?(?:back |over |on |along |up |down |across )*(?:to|towards|into) {x}", to("Walk", "target")),
    rule(r"(?:take|go|move|step|walk) (?:{dist} )?(?:sideways|(?:to )?(?:the |your )(?P<side>left|right))", lambda g: Ask("I can't step sideways: tell me to turn, or to walk to something.")),
    rule(r"get (?:over |back |down |up |across |yourself )*(?:to|into) {x}", to("Walk", "target")),
    rule(r"(?:come|go|walk|head|step|get)(?: right| back| over)* (?:here|there) (?:to|into|by) {x}", to("Walk", "target")),
    rule(r"(?:go|head|walk|move|step) (?P<side>left|right)", lambda g: Ask(f"Should I turn {g['side']}, or walk to something on my {g['side']}?")),
    rule(r"(?:on|to) your feet|up you get", lambda g: (Order("StandUp"),)),
    rule(r"sit(?: down| back)*(?: right| over)* (?:there|here)?,? ?(?:on|in|at|onto|into) {x}", to("Sit", "place")),
    # looking
    rule(r"look (?:over )?(?:to )?(?:the |your )?(?P<side>left|right)", turned),
    rule(r"look (?:behind (?:you|yourself)|back)", lambda g: (Order("TurnAround"),)),
    rule(rf"{_SEE} (?:the |its |that |this )?{_TEXT} (?:on|of|from) {{x}}", to("Read", "thing")),
    rule(r"(?:go )?(?:see|check|tell me|tell us) (?P<x>what(?:'s| is| are)(?: there)? (?:in|inside|under|behind|on) (?!the label).+)", _seen),
    rule(r"(?:show me|let me (?:see|look at|look in|look into|have a look at|have a look in)|look at) {x}", _seen),
    rule(r"let me read {x}", to("Read", "thing")),
    rule(r"(?:tell me|read me|read) what (?P<x>.+?) (?:says?|reads?)", _asked_to_read),
    rule(r"(?:tell me )?what(?:'s| is) (?:written |printed )on {x}", _asked_to_read),
    rule(r"what (?:does|do) (?P<x>(?:the|its|that|this|your|it) ?.*?) (?:say|read)", _asked_to_read),
    rule(r"(?:tell me )?what(?:'s| is| does it say) (?:written |printed )?on (?:the |its |that |this )?(?P<x>(?:label|recipe|card|note|sign|board)\b.*)", _asked_to_read),
    # the hand
    rule(r"(?:get|give|hand|bring|fetch|pass|grab|find) me {time}", waited),
    rule(r"give (?:me|it) a (?:moment|bit|while)", waited),
    rule(r"(?:get|give|hand|bring|fetch|pass|grab) me {x}", to("Grab", "target")),
    rule(r"(?:hold on to|hold onto|hold up|hold) (?!on\b){x}", lambda g: (Order("Hold", ((g["x"], "held"),)),)),
    rule(r"(?:get|take) {x} (?:going|running|started|started up)", to("Start", "target")),
    rule(r"pick up", lambda g: (Order("AnswerPhone", (("phone", "target"),)),)),
    rule(r"put {x} on(?: again)?".replace("{x}", r"(?P<x>(?:the |that )?(?:[\w-]+ )?(?:kettle|oven|lights?|lamp|radio|tv|television|heater|heating|cooktop|stove|hob|fan|music|tap|toaster))"), to("SwitchOn", "target")),
    rule(r"(?P<verb>open|close|shut) (?:(?:the )?(?:lid|cap|cover|door) of {x}|(?P<x2>.+?)'s (?:lid|cap|cover|door))", lambda g: (Order("Open" if g["verb"] == "open" else "Close", ((g["x"], "target"),)),)),
    rule(r"kill {x}", to("SwitchOff", "switched")),
    rule(r"pull (?:out )?the plug", ask("The plug of what?")),
    rule(r"set .+ (?:to|at) (?:\d.*|high|low|medium|max(?:imum)?|full)", ask("I can't set that: I can only switch things on and off.")),
    rule(r"(?:leave|keep|give) .+? (?:for )?{time}(?: (?:in|on) .+)?", waited),
    rule(rf"(?:put|get|move|lift|place|slide) {{x}} (?:on to|onto|on) {{y}} (?:with|using) (?:the |a |your )?(?:\w+ )?{SERVING_TOOLS}", pair("Plate", "target")),
    rule(rf"(?:get rid of|dump|chuck) {{x}} {_INTO} (?P<y>(?:the |that |this )?(?:[\w-]+ )*(?:bin|trash|rubbish|garbage|dustbin))", pair("Discard", "held")),
    rule(r"(?:throw|toss|chuck|dump|drop) {x} (?:away |out |right )*(?:in|there|in there|in it)", lambda g: (Order("Discard", ((g["x"], "held"), ("there", "spot"))),)),
    rule(r"get rid of .+", ask("Into which bin?")),
    rule(r"(?:shove|stuff|jam|stick|pop|tuck|dump|bung) {x} (?P<prep>{on}|{in}) {y}".replace("{on}", MACROS["{on}"]).replace("{in}", MACROS["{in}"]), put),
    rule(r"(?:put|place|set|lay|stand) {x} (?:down |back )?(?:in|at|on|onto) (?:the )?(?:very )?(?:middle|centre|center|edge) of {y}", _middle),
    rule(r"(?:put|place|set|lay|stand|leave|drop) {x} (?:right |back |down |over )*(?P<prep>on|onto|in|into|inside)(?: it)? there", lambda g: (Order("PutIn" if g["prep"].startswith("in") else "PutOn", ((g["x"], "held"), ("there", "spot"))),)),
    rule(r"(?:put|place|set|lay|stand|leave|drop) {x} (?:right |back |down |over )*there", lambda g: (Order("Put", ((g["x"], "held"), ("there", "spot"))),)),
    rule(r"(?:put|place|lay|load|stick|pop|shove) {x} (?:back |right )?(?:inside|in)(?: it)?", lambda g: (Order("PutIn", ((g["x"], "held"), ("it", "container"))),)),
    # liquids and cleaning
    rule(r"(?:get|make) {x} wet in {y}", pair("Soak", "held")),
    rule(rf"(?:pour|tip|empty)(?: out)? {LIQUIDS}(?: out| away)* (?:in to|into|in|down) (?P<y>(?:the )?(?:[a-z]+ )*(?:sink|basin|drain|toilet))", lambda g: (Order("Empty", (("it", "held"), (g["y"], "place"))),)),
    rule(r"give {x} an? (?:quick |good |little |proper )*(?P<how>rinse|wash|wipe|scrub|clean)(?: (?:down|off))?", _treated),
)  # fmt: skip
