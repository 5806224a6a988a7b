"""From one clause to commands: an ordered table of sentence patterns for the 36 primitives.

A pattern is tried against the whole clause; the first that fits decides. In a pattern `{x}`, `{y}` are names,
`{dist}`, `{angle}`, `{time}` quantities as marked by `words.mark_quantities`.
"""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from recorder.humans.referents import Role
from recorder.humans.words import QUANTITY, noun_phrase, words_of

__all__ = ["RULES", "Ask", "Order", "Rule"]


class Order(msgspec.Struct, frozen=True):
    """One command to be: a surface verb, named things with their role, numbers as they are."""

    verb: str
    #: (words, role) of each named argument
    names: tuple[tuple[str, Role], ...] = ()
    number: float | None = None


class Ask(msgspec.Struct, frozen=True):
    """A question back instead of a command."""

    question: str


Made = tuple[Order, ...] | Ask
Build = Callable[[dict[str, str]], Made]


class Rule(msgspec.Struct, frozen=True):
    """A pattern and what is made of its groups (those that did not take part are left out)."""

    pattern: re.Pattern[str]
    build: Build


_MACROS = {
    "{x}": r"(?P<x>.+?)",
    "{y}": r"(?P<y>.+?)",
    "{dist}": QUANTITY.format(name="dist", tag="m"),
    "{angle}": QUANTITY.format(name="angle", tag="deg"),
    "{time}": QUANTITY.format(name="time", tag="s"),
    "{with}": r"(?: (?:with|using) .+)?",
    "{on}": r"(?:back |down |up |over |right |flat )*(?:on top of|onto|on to|on)",
    "{in}": r"(?:back |down |away |over |right )*(?:inside of|inside|into|in to|in)",
    "{bit}": r"(?:a (?:little )?bit|a little|slightly)",
}


def _rule(pattern: str, build: Build) -> Rule:
    for macro, regex in _MACROS.items():
        pattern = pattern.replace(macro, regex)
    return Rule(re.compile(pattern), build)


def _to(verb: str, role: Role) -> Build:
    """One command about {x}."""
    return lambda g: (Order(verb, ((g["x"], role),)),)


def _pair(verb: str, first: Role, second: Role = "place") -> Build:
    """One command about {x} and {y}."""
    return lambda g: (Order(verb, ((g["x"], first), (g["y"], second))),)


def _ask(question: str) -> Build:
    return lambda g: Ask(question.format(**g))


def _forward(sign: float) -> Build:
    def build(g: dict[str, str]) -> Made:
        if "dist" in g:
            return (Order("Forward", number=sign * float(g["dist"])),)
        if "bit" in g:
            return (Order("Forward", number=sign * 0.3),)
        return (Order("Forward", number=None if sign > 0 else -0.5),)

    return build


def _turned(g: dict[str, str]) -> Made:
    verb = "TurnLeft" if g["side"] == "left" else "TurnRight"
    number = float(g["angle"]) if "angle" in g else 30.0 if "bit" in g else None
    return (Order(verb, number=number),)


def _timed(verb: str, role: Role) -> Build:
    return lambda g: (Order(verb, ((g["x"], role),), float(g["time"]) if "time" in g else None),)


def _waited(g: dict[str, str]) -> Made:
    return (Order("Wait", number=float(g["time"]) if "time" in g else None),)


def _scanned(g: dict[str, str]) -> Made:
    return (Order("Scan", number=float(g["angle"]) if "angle" in g else None),)


def _pushed(g: dict[str, str]) -> Made:
    verb = {"pull": "Pull", "drag": "Pull", "slide": "Slide"}.get(g["verb"], "Push")
    return (Order(verb, ((g["x"], "target"),), float(g["dist"]) if "dist" in g else None),)


def _phone(verb: str) -> Build:
    def build(g: dict[str, str]) -> Made:
        named = noun_phrase(g.get("x", "phone"))
        spoken_of_call = named in ("", "it", "call", "incoming call", "phone call", "caller", "that")
        return (Order(verb, (("phone" if spoken_of_call else named, "target"),)),)

    return build


_CONTAINERS = frozenset(
    words_of(
        """
    fridge refrigerator freezer chiller drawer cabinet cupboard box bag oven microwave bin basket jar case suitcase
    dishwasher washer dryer wardrobe locker chest pouch backpack crate carton bucket basin sink machine container
    pocket pack safe cooler wallet envelope closet compartment holder cubby cubbies pot bowl
    """
    )
)


def _grabbed(g: dict[str, str]) -> Made:
    """ "take X from Y" names X by where it is: in a container, else on it."""
    name = g["x"]
    if g.get("y"):
        origin = noun_phrase(g["y"])
        if origin in ("left", "right"):
            name = f"{name} from {origin}"
        elif origin not in ("", "it", "there", "here", "me", "hand", "that"):
            inside = g.get("from") in ("out of", "from inside", "from within") or (
                g.get("from") not in ("off", "off of") and origin.split()[-1] in _CONTAINERS
            )
            name = f"{noun_phrase(name)} {'in' if inside else 'on'} {origin}"
    return (Order("Grab", ((name, "target"),)),)


def _carried(g: dict[str, str]) -> Made:
    """ "take X to Y": picks it up unless it is in the hand, and walks there."""
    return (Order("Carry", ((g["x"], "held"), (g["y"], "place"))),)


def _returned(g: dict[str, str]) -> Made:
    inside = noun_phrase(g["y"]).split()[-1:] and noun_phrase(g["y"]).split()[-1] in _CONTAINERS
    return (Order("PutIn" if inside else "PutOn", ((g["x"], "held"), (g["y"], "place"))),)


def _dropped_on(g: dict[str, str]) -> Made:
    if noun_phrase(g["y"]) in ("floor", "ground"):
        return (Order("Drop", ((g["x"], "held"),)),)
    return (Order("PutOn", ((g["x"], "held"), (g["y"], "place"))),)


def _washed(verb: str, g: dict[str, str]) -> Made:
    names: tuple[tuple[str, Role], ...] = ((g["x"], "thing"),)
    if noun_phrase(g.get("y", "")) not in ("", "running water", "water"):
        names = (*names, (g["y"], "place"))
    return (Order(verb, names),)


def _put(g: dict[str, str]) -> Made:
    prep = g["prep"].split()[-1]
    inside = prep in ("in", "into", "inside") or g["prep"].endswith(("in to", "inside of"))
    return (Order("PutIn" if inside else "PutOn", ((g["x"], "held"), (g["y"], "place"))),)


_LIQUIDS = r"(?:some |all (?:of )?|the |any )*(?:rest of the |contents?|water|milk|juice|[a-z]+ juice|oil|tea|coffee|soup|batter|wine|vodka|vinegar|liquid|drink|sauce|bleach|cleaner|lemonade|soda)"
_SWITCHES = r"(?:turn|switch|power|put)"
_PUT = r"(?:put|place|set|lay|rest|leave|stand|return|store|insert|load|stack|hang|move|pack|position|slip|stow|prop)"
_GET = (
    r"(?:take hold of|get hold of|pick up|pick|take out|get out|pull out|bring out|lift up|lift|take|grab|get|collect|fetch"
    r"|hold on to|hold|remove|retrieve|reach for|unhook)"
)
_WALK = (
    r"(?:walk|go|head|move|come|return|step|proceed|get|navigate|continue|stroll|make your way|cross)(?: back| over| on| down"
    r"| up| straight| across| out| along| forward| closer| right| away| inside)*"
)
_AHEAD = r"(?:straight (?:ahead|on|forwards?)|forwards?|ahead|straight|on)"
_FACET = (
    r"(?:(?:printed |written |nutrition |price |expiry |expiration |use by |best before |whole |full )*(?:label|text|writing|print|words|dates?|expiry"
    r"|price|ingredients|instructions|front|back|side|name|numbers?|capacity|brand|lettering|small print|information|details))"
)
_PHONE = r"(?:(?:the |your |that )?(?:[a-z]+ )*?(?:phone|telephone|call|receiver|handset|smartphone|mobile|caller|it))"

RULES: tuple[Rule, ...] = (
    # locomotion and posture
    _rule(r"turn (?:right |left )?(?:all the way )?(?:around|round|back)(?: around)?|(?:face|turn) the other way|about[ -]turn|turn to face the other way", lambda g: (Order("TurnAround"),)),
    _rule(r"(?:spin|rotate) (?:around|round)", lambda g: (Order("TurnAround"),)),
    _rule(r"(?:turn|rotate|spin|make|do|take)(?: an?| yourself)?(?: 180#deg)(?: turn)?(?: around)?", lambda g: (Order("TurnAround"),)),
    _rule(r"(?:turn|rotate|spin)(?: yourself)?(?: (?P<bit>{bit}))? (?:to (?:the|your) |further )?(?P<side>left|right)(?: (?:by )?{angle})?".replace("{bit}", _MACROS["{bit}"]), _turned),
    _rule(r"(?:turn|rotate|spin)(?: yourself)? (?:to (?:the|your) )?(?P<side>left|right) (?:by )?(?P<bit>{bit})".replace("{bit}", _MACROS["{bit}"]), _turned),
    _rule(r"(?:turn|rotate|spin|make|do|take)(?: yourself)?(?: by)? {angle} (?:to (?:the|your) )?(?P<side>left|right)", _turned),
    _rule(r"(?:make|take|do) a (?P<side>left|right)(?: turn)?", _turned),
    _rule(r"face (?:to (?:the|your) )?(?P<side>left|right)", _turned),
    _rule(r"(?:(?:turn|rotate) (?:left |right |around )?(?:to |and |until you )?)?face(?: towards?)? {x}", _to("Face", "target")),
    _rule(r"(?:turn|rotate)(?: back| around| yourself)? (?:to|towards?) {x}", _to("Face", "target")),
    _rule(r"(?:take|go|walk|move|step|make) {dist} (?:forwards?|ahead|straight ahead)", _forward(1.0)),
    _rule(r"(?:take|go|walk|move|step|make) {dist} (?:back|backwards?)", _forward(-1.0)),
    _rule(r"take {dist}", _forward(1.0)),
    _rule(rf"(?:go|walk|move|step|run|come|continue|head|take) {_AHEAD}(?: for| by)?(?: (?:{{dist}}|(?P<bit>{{bit}})))?".replace("{bit}", _MACROS["{bit}"]), _forward(1.0)),
    _rule(r"(?:go|walk|move|step) (?:for )?{dist}", _forward(1.0)),
    _rule(r"(?:go|walk|move|step|back)(?: a)? (?:back|backwards?|up|away)(?: for| by)?(?: (?:{dist}|(?P<bit>{bit})))?".replace("{bit}", _MACROS["{bit}"]), _forward(-1.0)),
    _rule(r"(?:sit|take a seat|have a seat|seat yourself|settle)(?: back)?(?: down)?(?: (?:on|in|at|onto|into) {x})", _to("Sit", "place")),
    _rule(r"(?:sit|take a seat|have a seat|seat yourself)(?: back)?(?: down)?", _ask("On what should I sit?")),
    _rule(r"(?:stand|get|rise)(?: back)? up(?: (?:from|off|out of) .+)?|rise(?: from .+)?|stand|get to your feet|get out of (?:the |your )?(?:chair|seat|armchair|sofa)", lambda g: (Order("StandUp"),)),
    _rule(r"stand(?: right)? (?:by|at|next to|beside|near|in front of) {x}", _to("Walk", "target")),
    # phones, before "take", "hang" and "put"
    _rule(r"(?:answer|accept|respond to)(?: (?P<x>.+))?|(?:take|pick up|get) (?P<x2>the (?:incoming )?(?:phone )?call)", _phone("AnswerPhone")),
    _rule(rf"hang up(?: on)?(?: (?P<x>{_PHONE}))?|(?:end|finish) (?P<x2>the (?:phone )?call)|hang (?P<x3>{_PHONE}) up", _phone("HangUp")),
    # looking
    _rule(r"(?:look|glance)(?: slowly| carefully)?(?: all)? (?:around|round|about)(?: you| yourself| slowly| carefully)*(?: .+?)??(?:(?: by| over)? {angle})?", _scanned),
    _rule(r"(?:have|take) a(?: good| quick| slow)? look (?:around|round)(?: .+)?", _scanned),
    _rule(r"(?:scan|survey)(?: .+?)??(?:(?: by| over| through)? {angle})?(?: .+)?", _scanned),
    _rule(r"point (?:at|to|towards) {x}", _to("PointAt", "target")),
    _rule(r"(?:look|glance|gaze|peek|peer|stare)(?: closely| carefully| straight| again| down| up| back| more closely| closer)* (?:at|towards?|to|into|inside|in|through|under|behind|on) {x}", _to("LookAt", "thing")),
    _rule(r"(?:have|take) an?(?: good| close| closer| quick| careful| second| better)* look (?:at|inside|into|in) {x}|(?:watch|show me|check on|check inside|check(?! whether| that| if)) (?P<x2>.+)", lambda g: (Order("LookAt", ((g.get("x") or g["x2"], "thing"),)),)),
    _rule(rf"(?:read|inspect|examine)(?: out| aloud| off| me| again| carefully| closely)* (?:the |its |that |this )?{_FACET} (?:on|of|from|off) {{x}}(?: aloud| to me| out loud| out)*", _to("Read", "thing")),
    _rule(rf"(?:read|inspect|examine)(?: out| aloud| off)* (?P<x>.+?)'s? {_FACET}", _to("Read", "thing")),
    _rule(rf"(?:read|inspect|examine)(?: out| aloud| off)* (?:its|the) {_FACET}", lambda g: (Order("Read", (("it", "thing"),)),)),
    _rule(r"read(?: out| aloud| to me| me)* (?:what(?: is|'s| it)?(?: says?| written| printed)*(?: on)?|what) {x}(?: says)?", _to("Read", "thing")),
    _rule(r"(?:read|inspect|examine)(?: out| aloud| off| again| carefully| closely| to me| me)* {x}(?: aloud| to me| out loud| out)*", _to("Read", "thing")),
    # time
    _rule(r"(?:wait|idle|pause|stay(?: here| there| where you are| still)?|let it (?:\w+)|give it|hold on)(?: here| there| for| still)* {time}(?: more)?", _waited),
    _rule(r"(?:wait|idle|pause)(?: here| there| a moment| for a moment| a bit| a little| a while)?", _waited),
    _rule(r"(?:wait|idle|pause) .+", _ask("How many seconds should I wait?")),
    # wearing, before "put" and "take"
    _rule(r"wear {x}|put on (?P<x2>(?:(?!\b(?:on|in|onto|into)\b).)+)|(?:put|pull|slip) (?P<x3>(?:(?!\b(?:on|in|onto|into)\b).)+) on", lambda g: (Order("Wear", ((g.get("x") or g.get("x2") or g["x3"], "held"),)),)),
    _rule(r"(?:take|put|lift|pull|pop) (?:the|its) (?:lid|cap|cover|top) (?:off|from|off of) {x}", _to("Open", "opened")),
    _rule(r"(?:put|place|press|screw) (?:the|its) (?:lid|cap|cover|top) (?:back )?(?:on|onto|over) {x}", _to("Close", "opened")),
    _rule(r"(?:take off|pull off) (?P<x>(?:(?!\b(?:off|from)\b).)+)|take (?P<x2>(?:(?!\b(?:off|from)\b).)+) off", lambda g: (Order("TakeOff", ((g.get("x") or g["x2"], "thing"),)),)),
    _rule(r"(?:look|search|check|hunt) (?:around )?for .+|(?:find|search|locate) .+", _ask("I can't search by myself: tell me where to look.")),
    _rule(r"(?:check|make sure|ensure|see)(?: that| whether| if)? .+ (?:is|are|has|have)\b.*", _ask("I can't judge that by myself: tell me what to do.")),
    # plugs and switches
    _rule(r"(?:plug|connect)(?: in)? {x} (?:in to|into|to|in at|at|in) {y}", _pair("PlugIn", "thing")),
    _rule(r"plug in {x}|plug (?P<x2>.+?) in|connect (?P<x3>.+)", lambda g: (Order("PlugIn", ((g.get("x") or g.get("x2") or g["x3"], "thing"),)),)),
    _rule(r"(?:unplug|disconnect|plug out) {x}(?: from .+)?|pull (?:out )?the plug (?:of|on|from) (?P<x2>.+)", lambda g: (Order("PlugOut", ((g.get("x") or g["x2"], "thing"),)),)),
    _rule(rf"{_SWITCHES} {{x}} back on", _to("SwitchOn", "target")),
    _rule(r"(?:turn|switch|power) (?:on|up) {x}|(?:turn|switch|power) (?P<x2>.+?) on", lambda g: (Order("SwitchOn", ((g.get("x") or g["x2"], "target"),)),)),
    _rule(r"(?:turn|switch|shut|power) (?:off|down) {x}|(?:turn|switch|shut|power) (?P<x2>.+?) (?:off|down)|(?:put|blow) out (?P<x3>.+)|(?:put|blow) (?P<x4>.+?) out|(?:deactivate|extinguish|stop) (?P<x5>.+)", lambda g: (Order("SwitchOff", ((next(g[k] for k in ("x", "x2", "x3", "x4", "x5") if k in g), "switched"),)),)),
    _rule(r"(?:press|push|hit)(?: down)?(?: on)? (?:the|its) (?:\w+ )?(?:button|switch|key)(?: (?:of|on|at|for) {x})", _to("Press", "target")),
    _rule(r"press(?: down)?(?: on)?(?: the| its)? (?:start|on|power|button|start button|power button|on button|switch)", lambda g: (Order("Press", (("it", "place"),)),)),
    _rule(r"press(?: down)?(?: on)? {x}", _to("Press", "target")),
    _rule(r"(?:start|activate|light|run(?! (?:to|towards?|up|over|back|across|into|forwards?|ahead)\b)|launch)(?: up)? {x}", _to("Start", "target")),
    # doors, lids, locks
    _rule(r"(?:push|pull|slide|swing|draw|lift) {x} (?:wide )?open|(?:open|uncover|unseal|unscrew)(?: up)? (?P<x2>.+)|(?:push|pull|slide|lift) open (?P<x3>.+)", lambda g: (Order("Open", ((g.get("x") or g.get("x2") or g["x3"], "target"),)),)),
    _rule(r"(?:push|pull|slide|swing|draw) {x} (?:closed|shut|to)|(?:close|shut|cover|seal)(?: up)? (?P<x2>.+)|(?:push|pull|slide) (?:closed|shut) (?P<x3>.+)|draw (?P<x4>.+)", lambda g: (Order("Close", ((next(g[k] for k in ("x", "x2", "x3", "x4") if k in g), "opened"),)),)),
    _rule(r"lock(?: up)? {x}{with}", _to("Lock", "opened")),
    _rule(r"unlock {x}{with}", _to("Unlock", "target")),
    # food
    _rule(r"(?:score|cut|mark|carve) (?:an? )?(?:shallow |deep )?(?:x|cross)(?:[ -]shaped)?(?: cut| score| shape)? (?:in to|into|onto|on|in) (?:the top of )?{x}{with}", _to("Score", "target")),
    _rule(r"score {x}{with}", _to("Score", "target")),
    _rule(r"(?:slice)(?: up)? {x}(?: up)?(?: (?:in half|in two|into [\w ]+|through|open))?{with}", _to("Slice", "target")),
    _rule(r"(?:cut|chop|halve|dice|carve)(?: up| through| open)? {x}(?: up)?(?: (?:in half|in two|into [\w ]+|through|open))?{with}", _to("Cut", "target")),
    _rule(r"fry {x}(?:,? (?:for )?{time})?(?: more)?", _timed("Fry", "target")),
    _rule(r"(?:cook|heat|heat up|toast|boil|bake|grill|roast|warm|warm up|brown) {x}(?:,? (?:for )?{time})?(?: more)?", _timed("Cook", "target")),
    _rule(r"(?:let|have) {x} (?:cook|fry|heat up|heat|bake|brown|boil)(?:,? (?:for )?{time})?(?: more)?", _timed("Cook", "target")),
    _rule(r"let .+ (?:for )?{time}", _waited),
    _rule(r"(?:plate|serve|dish|transfer|scoop|lift)(?: up| out)? {x} (?:from .+? )?(?:on to|onto|to) {y}{with}", _pair("Plate", "target")),
    _rule(r"(?:plate|serve)(?: up)? {x} (?:on|in|into) {y}{with}", _pair("Plate", "target")),
    _rule(r"(?:plate|serve|dish up)(?: up)? {x}", _ask("On which plate?")),
    # liquids and cleaning
    _rule(r"(?:pour|tip|empty) {x} (?:out )?(?:away )?(?:in to|into|in|down) (?P<y>(?:the )?(?:[a-z]+ )*(?:sink|basin|drain|toilet))", _pair("Empty", "held")),
    _rule(r"empty(?: out)? {x} (?:out )?(?:in to|into|in|over|at) {y}", _pair("Empty", "held")),
    _rule(r"empty(?: out)? {x}", _ask("Into what should I empty it?")),
    _rule(r"(?:pour|tip)(?: out)? .+? (?:from|out of) {x} (?:in to|into|in|onto|on|over) {y}", _pair("Pour", "held")),
    _rule(rf"(?:pour|tip)(?: out)? {_LIQUIDS} (?:in to|into|in|onto|on|over) {{y}}", lambda g: (Order("Pour", (("it", "held"), (g["y"], "place"))),)),
    _rule(r"(?:pour|tip)(?: out)? {x} (?:in to|into|in|onto|on|over|to) {y}", _pair("Pour", "held")),
    _rule(r"pour .+", _ask("From what into what should I pour?")),
    _rule(r"(?:fill|refill)(?: up)? {x}(?: up)?(?: with [\w ]*?)? (?:from|at|under|using|in) {y}", _pair("Fill", "thing")),
    _rule(r"(?:fill|refill) .+", _ask("From what should I fill it?")),
    _rule(r"(?:soak|dip|dunk|submerge|immerse|wet) {x} (?:in to|into|inside|in|under) {y}", _pair("Soak", "held")),
    _rule(r"(?:put|place|leave) {x} to soak (?:in|inside) {y}", _pair("Soak", "held")),
    _rule(r"rinse(?: off| out)? {x}(?: clean| off| thoroughly| well)*(?: (?:in|at|under|over) {y})?(?: for {time})?{with}", lambda g: _washed("Rinse", g)),
    _rule(r"scrub(?: off| out)? {x}(?: clean| off| thoroughly| well)*(?: (?:in|at|under|over) {y})?(?: for {time})?{with}", lambda g: _washed("Scrub", g)),
    _rule(r"wash(?: up| off| out)? {x}(?: clean| off| thoroughly| well)*(?: (?:in|at|under|over) {y})?(?: for {time})?{with}", lambda g: _washed("Wash", g)),
    _rule(r"clean {x} (?:in|at|under|over) (?P<y>(?:the )?(?:[a-z]+ )*(?:sink|basin|tap|running water))", lambda g: _washed("Wash", g)),
    _rule(r"(?:wipe|mop|dry|clean)(?: up| off)? (?:the )?[\w ]+? (?:off|from) {x}{with}", _to("Wipe", "target")),
    _rule(r"(?:wipe|mop|dry|polish)(?: down| off| up)? {x}(?: clean| dry| down| off)*{with}", _to("Wipe", "target")),
    _rule(r"clean(?: up| off)? {x} (?:with|using) .+", _to("Wipe", "target")),
    _rule(r"clean {x}", _ask("Should I wash it or wipe it?")),
    _rule(r"(?:sweep|brush)(?: up)? {x} (?:up )?(?:in to|into|onto|on to|in) {y}{with}", _pair("Sweep", "target")),
    _rule(r"(?:sweep|brush)(?: up)? {x}(?: up)?{with}", _to("Sweep", "target")),
    # hands
    _rule(r"(?:put|place|lay|rest) (?:your|one|a) (?:right |left )?(?:hand|finger|fingers|palm) (?:on top of|on|onto|against) {x}|(?:touch|feel|tap|poke)(?: for)? (?P<x2>.+?){with}", lambda g: (Order("Touch", ((g.get("x") or g["x2"], "target"),)),)),
    _rule(r"(?:throw|toss|chuck|discard|dispose of|trash|bin|recycle)(?: away| out)? {x}(?: away| out)? (?:in to|into|inside|in|using) {y}", _pair("Discard", "held")),
    _rule(r"(?:throw|toss|chuck|discard|dispose of|trash|bin|recycle)(?: away| out)? .+", _ask("Into which bin?")),
    _rule(r"(?:drop|let go of|release) {x} {in} {y}", _pair("PutIn", "held")),
    _rule(r"(?:drop|let go of|release) {x} {on} {y}", _dropped_on),
    _rule(r"(?:drop|let go of|release) {x}|let (?P<x2>.+?) go|let (?P<x3>go)", lambda g: (Order("Drop", ((g.get("x") or g.get("x2") or "it", "held"),)),)),
    _rule(r"(?P<verb>push|pull|slide|shove|nudge|drag|shift)(?: aside| over)? {x}(?: towards? .+?| away| forwards?| back| aside| along| closer| over| to (?:the|your) (?:left|right|side|back|front)| out of the way)*(?:,? (?:by )?{dist})?(?: towards? .+| away| forwards?| back| aside| along| to (?:the|your) (?:left|right|side|back|front))*", _pushed),
    _rule(r"(?:return|get back|move back) (?:back )?(?:to|into) {x}", _to("Walk", "target")),
    _rule(rf"{_PUT} (?:down |back )?{{x}} (?P<prep>{{on}}|{{in}}) {{y}}".replace("{on}", _MACROS["{on}"]).replace("{in}", _MACROS["{in}"]), _put),
    _rule(r"(?:return|give back|bring back|take back|put back) {x} (?:back )?to {y}", _returned),
    _rule(r"leave .+", lambda g: ()),
    _rule(rf"(?:{_PUT}|give|hand) .+", _ask("Where exactly should I put it?")),
    _rule(r"(?:keep|hold) (?:holding )?(?:it|that|this|on to it|on)(?: .+)?", lambda g: ()),
    _rule(r"(?:bring|carry|take) {x} (?:over |back |along |across |through )*(?:to|into) {y}", _carried),
    _rule(rf"{_GET} (?P<x>(?:(?! (?:from|off|out of) ).)+?)(?: out| up| away| down)? (?P<from>from inside|from within|from|off of|off|out of) {{y}}", _grabbed),
    _rule(rf"{_GET} {{x}}(?: up| out)?", _grabbed),
    _rule(r"bring {x}", _grabbed),
    # walking, last: its verbs are the commonest words
    _rule(r"(?:run|hurry|rush)(?: back| over| across| quickly)* (?:to|towards?|up to|over to|into|in to) {x}", _to("Run", "target")),
    _rule(r"walk around .+ to {x}", _to("Walk", "target")),
    _rule(rf"{_WALK} (?:up to|over to|to|towards?|into|in to|in|through|onto|near|next to|beside|by|as far as|for|in front of) {{x}}", _to("Walk", "target")),
    _rule(r"(?:enter|approach) {x}", _to("Walk", "target")),
    _rule(r"(?:walk|go|head|run|move|continue) (?:down|along|across|up|past) (?P<x>(?:the|this|that) .+)", _to("Walk", "target")),
)  # fmt: skip
