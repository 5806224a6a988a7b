"""From one clause to commands: an ordered table of sentence patterns for the 36 primitives.

A pattern is tried against the whole clause; the first that fits decides. In a pattern `{x}`, `{y}` are names,
`{dist}`, `{angle}`, `{time}` quantities as marked by `words.mark_quantities`.
"""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

from recorder.humans.fragments import FRAGMENTS
from recorder.humans.idioms import IDIOMS
from recorder.humans.orders import (
    LIQUIDS,
    MACROS,
    Build,
    Made,
    Order,
    Rule,
    ask,
    forward,
    pair,
    put,
    rule,
    scanned,
    timed,
    to,
    turned,
    waited,
    washed,
)
from recorder.humans.words import is_container, noun_phrase

__all__ = ["RULES"]


def _pushed(g: dict[str, str]) -> Made:
    verb = {"pull": "Pull", "drag": "Pull", "slide": "Slide"}.get(g["verb"], "Push")
    return (Order(verb, ((g["x"], "target"),), float(g["dist"]) if "dist" in g else None),)


def _phone(verb: str) -> Build:
    def build(g: dict[str, str]) -> Made:
        named = noun_phrase(g.get("x", "phone"))
        spoken_of_call = named in ("", "it", "call", "incoming call", "phone call", "caller", "that")
        return (Order(verb, (("phone" if spoken_of_call else named, "target"),)),)

    return build


def _grabbed(g: dict[str, str]) -> Made:
    """ "take X from Y" names X by where it is: in a container, else on it."""
    name = g["x"]
    if g.get("y"):
        origin = noun_phrase(g["y"])
        if origin in ("left", "right"):
            name = f"{name} from {origin}"
        elif origin not in ("", "it", "there", "here", "me", "hand", "that"):
            inside = g.get("from") in ("out of", "from inside", "from within") or (
                g.get("from") not in ("off", "off of") and is_container(origin)
            )
            name = f"{noun_phrase(name)} {'in' if inside else 'on'} {origin}"
    return (Order("Grab", ((name, "target"),)),)


def _carried(g: dict[str, str]) -> Made:
    """ "take X to Y": picks it up unless it is in the hand, and walks there."""
    return (Order("Carry", ((g["x"], "held"), (g["y"], "place"))),)


def _returned(g: dict[str, str]) -> Made:
    return (Order("PutIn" if is_container(noun_phrase(g["y"])) else "PutOn", ((g["x"], "held"), (g["y"], "place"))),)


def _dropped_on(g: dict[str, str]) -> Made:
    if noun_phrase(g["y"]) in ("floor", "ground"):
        return (Order("Drop", ((g["x"], "held"),)),)
    return (Order("PutOn", ((g["x"], "held"), (g["y"], "place"))),)


_SWITCHES = r"(?:turn|switch|power|put)"
_PUT = r"(?:put|place|set|lay|rest|leave|stand|return|store|insert|load|stack|hang|move|pack|position|slip|stow|prop)"
#: "second shelf from the top" is one name
_COUNTED = r"(?:first|second|third|fourth|fifth|sixth) \w+ from (?:the )?(?:top|bottom)\b"
_GET = (
    r"(?:take hold of|get hold of|pick up|pick|take out|get out|pull out|bring out|lift up|lift|take|grab|get|collect|fetch"
    r"|hold on to|hold|remove|retrieve|reach for|unhook)"
)
_WALK = (
    r"(?:walk|go|head|move|come|return|step|proceed|get|navigate|continue|stroll|make your way|cross)(?: back| over| on| down"
    r"| up| straight| across| out| along| forward| closer| right| away| inside)*"
)
_AHEAD = r"(?:straight (?:ahead|on|forwards?)|forwards?|ahead|straight)"
_FACET = (
    r"(?:(?:printed |written |nutrition |price |expiry |expiration |use by |best before |whole |full )*(?:label|text|writing|print|words|dates?|expiry"
    r"|price|ingredients|instructions|front|back|side|name|numbers?|capacity|brand|lettering|small print|information|details))"
)
_PHONE = r"(?:(?:the |your |that )?(?:[a-z]+ )*?(?:phone|telephone|call|receiver|handset|smartphone|mobile|caller|it))"

_TABLE: tuple[Rule, ...] = (
    # locomotion and posture
    rule(r"turn (?:right |left )?(?:all the way )?(?:around|round|back)(?: around)?|(?:face|turn) the other way|about[ -]turn|turn to face the other way", lambda g: (Order("TurnAround"),)),
    rule(r"(?:spin|rotate) (?:around|round)", lambda g: (Order("TurnAround"),)),
    rule(r"(?:turn|rotate|spin|make|do|take)(?: an?| yourself)?(?: 180#deg)(?: turn)?(?: around)?", lambda g: (Order("TurnAround"),)),
    rule(r"(?:turn|rotate|spin)(?: yourself)?(?: (?P<bit>{bit}))? (?:to (?:the|your) |further )?(?P<side>left|right)(?:,? (?:by )?{angle})?".replace("{bit}", MACROS["{bit}"]), turned),
    rule(r"(?:turn|rotate|spin)(?: yourself)? (?:to (?:the|your) )?(?P<side>left|right) (?:by )?(?P<bit>{bit})".replace("{bit}", MACROS["{bit}"]), turned),
    rule(r"(?:turn|rotate|spin|make|do|take)(?: yourself)?(?: by)? {angle} (?:to (?:the|your) )?(?P<side>left|right)", turned),
    rule(r"(?:make|take|do) a (?P<side>left|right)(?: turn)?", turned),
    rule(r"face (?:to (?:the|your) )?(?P<side>left|right)", turned),
    rule(r"(?:(?:turn|rotate) (?:left |right |around )?(?:to |and |until you )?)?face(?: towards?)? {x}", to("Face", "target")),
    rule(r"(?:turn|rotate)(?: back| around| yourself)? (?:to|towards?) {x}", to("Face", "target")),
    rule(r"(?:take|go|walk|move|step|make) {dist} (?:forwards?|ahead|straight ahead)", forward(1.0)),
    rule(r"(?:take|go|walk|move|step|make) {dist} (?:back|backwards?)", forward(-1.0)),
    rule(r"take {dist}", forward(1.0)),
    rule(rf"(?:go|walk|move|step|run|come|continue|head|take) {_AHEAD}(?: for| by)?(?: (?:{{dist}}|(?P<bit>{{bit}})))?".replace("{bit}", MACROS["{bit}"]), forward(1.0)),
    rule(r"(?:walk|move|continue|carry) on", forward(1.0)),
    rule(r"(?:go|walk|move|step) (?:for )?{dist}", forward(1.0)),
    rule(r"(?:go|walk|move|step|back)(?: a)? (?:back|backwards?|up|away|off)(?: for| by)?(?: (?:{dist}|(?P<bit>{bit})))?".replace("{bit}", MACROS["{bit}"]), forward(-1.0)),
    rule(r"(?:sit|take a seat|have a seat|seat yourself|settle)(?: back)?(?: down)?(?: (?:on|in|at|onto|into) {x})", to("Sit", "place")),
    rule(r"(?:sit|take a seat|have a seat|seat yourself)(?: back)?(?: down)?", ask("On what should I sit?")),
    rule(r"(?:stand|get|rise)(?: back)? up(?: (?:from|off|out of) .+)?|rise(?: from .+)?|stand|get to your feet|get out of (?:the |your )?(?:chair|seat|armchair|sofa)", lambda g: (Order("StandUp"),)),
    rule(r"(?:walk|go|move|step|stand|wait) (?:in |right )?between .+", ask("I can go to one thing only: to which one?")),
    rule(r"stand(?: right)? (?:by|at|next to|beside|near|in front of) {x}", to("Walk", "target")),
    # phones, before "take", "hang" and "put"
    rule(r"(?:answer|accept|respond to)(?: (?P<x>.+))?|(?:take|pick up|get) (?P<x2>the (?:incoming )?(?:phone )?call)", _phone("AnswerPhone")),
    rule(rf"hang up(?: on)?(?: (?P<x>{_PHONE}))?|(?:end|finish) (?P<x2>the (?:phone )?call)|hang (?P<x3>{_PHONE}) up", _phone("HangUp")),
    # looking
    rule(r"(?:look|glance)(?: slowly| carefully)?(?: all)? (?:around|round|about)(?: you| yourself| slowly| carefully)*(?: .+?)??(?:(?: by| over)? {angle})?", scanned),
    rule(r"(?:have|take) a(?: good| quick| slow)? look (?:around|round)(?: .+)?", scanned),
    rule(r"(?:scan|survey)(?: .+?)??(?:(?: by| over| through)? {angle})?(?: .+)?", scanned),
    rule(r"point (?:at|to|towards) {x}", to("PointAt", "target")),
    rule(r"(?:look|glance|gaze|peek|peer|stare)(?: closely| carefully| straight| again| down| up| back| over| more closely| closer)* (?:at|towards?|to|into|inside|in|through|under|behind|on) {x}", to("LookAt", "thing")),
    rule(r"(?:have|take) an?(?: good| close| closer| quick| careful| second| better)* look (?:at|inside|into|in) {x}|(?:watch|show me|check on|check inside|check(?! whether| that| if)) (?P<x2>.+)", lambda g: (Order("LookAt", ((g.get("x") or g["x2"], "thing"),)),)),
    rule(rf"(?:read|inspect|examine)(?: out| aloud| off| me| again| carefully| closely)* (?:the |its |that |this )?{_FACET} (?:on|of|from|off) {{x}}(?: aloud| to me| out loud| out)*", to("Read", "thing")),
    rule(rf"(?:read|inspect|examine)(?: out| aloud| off)* (?P<x>.+?)'s? {_FACET}", to("Read", "thing")),
    rule(rf"(?:read|inspect|examine)(?: out| aloud| off)* (?:its|the) {_FACET}", lambda g: (Order("Read", (("it", "thing"),)),)),
    rule(r"read(?: out| aloud| to me| me)* (?:what(?: is|'s| it)?(?: says?| written| printed)*(?: on)?|what) {x}(?: says)?", to("Read", "thing")),
    rule(r"(?:read|inspect|examine)(?: out| aloud| off| again| carefully| closely| to me| me)* {x}(?: aloud| to me| out loud| out)*", to("Read", "thing")),
    # time
    rule(r"(?:wait|idle|pause|hang on|stay(?: here| there| where you are| still)?|let it (?:\w+)|give it|hold on)(?: here| there| for| still)* {time}(?: more)?", waited),
    rule(r"(?:wait|idle|pause)(?: here| there| a moment| for a moment| a bit| a little| a while)?", waited),
    rule(r"(?:wait|idle|pause) .+", ask("How many seconds should I wait?")),
    # wearing, before "put" and "take"
    rule(r"wear {x}|put on (?P<x2>(?:(?!\b(?:on|in|onto|into)\b).)+)|(?:put|pull|slip) (?P<x3>(?:(?!\b(?:on|in|onto|into)\b).)+) on", lambda g: (Order("Wear", ((g.get("x") or g.get("x2") or g["x3"], "held"),)),)),
    rule(r"(?:take|put|lift|pull|pop) (?:the|its) (?:lid|cap|cover|top) (?:off|from|off of) {x}", to("Open", "opened")),
    rule(r"(?:put|place|press|screw) (?:the|its) (?:lid|cap|cover|top) (?:back )?(?:on|onto|over) {x}", to("Close", "opened")),
    rule(r"(?:take off|pull off) (?P<x>(?:(?!\b(?:off|from)\b).)+)|take (?P<x2>(?:(?!\b(?:off|from)\b).)+) off", lambda g: (Order("TakeOff", ((g.get("x") or g["x2"], "thing"),)),)),
    rule(r"(?:look|search|check|hunt) (?:around )?for .+|(?:find|search|locate) .+", ask("I can't search by myself: tell me where to look.")),
    rule(r"(?:check|make sure|ensure|see)(?: that| whether| if)? .+ (?:is|are|has|have)\b.*", ask("I can't judge that by myself: tell me what to do.")),
    # plugs and switches
    rule(r"(?:plug|connect)(?: in)? {x} (?:in to|into|to|in at|at|in) {y}", pair("PlugIn", "thing")),
    rule(r"plug in {x}|plug (?P<x2>.+?) in|connect (?P<x3>.+)", lambda g: (Order("PlugIn", ((g.get("x") or g.get("x2") or g["x3"], "thing"),)),)),
    rule(r"(?:unplug|disconnect|plug out) {x}(?: from .+)?|pull (?:out )?the plug (?:of|on|from) (?P<x2>.+)", lambda g: (Order("PlugOut", ((g.get("x") or g["x2"], "thing"),)),)),
    rule(rf"{_SWITCHES} {{x}} back on", to("SwitchOn", "target")),
    rule(r"(?:turn|switch|power) (?:on|up) {x}|(?:turn|switch|power) (?P<x2>.+?) on", lambda g: (Order("SwitchOn", ((g.get("x") or g["x2"], "target"),)),)),
    rule(r"(?:turn|switch|shut|power) (?:off|down) {x}|(?:turn|switch|shut|power) (?P<x2>.+?) (?:off|down)|(?:put|blow) out (?P<x3>.+)|(?:put|blow) (?P<x4>.+?) out|(?:deactivate|extinguish|stop) (?P<x5>.+)", lambda g: (Order("SwitchOff", ((next(g[k] for k in ("x", "x2", "x3", "x4", "x5") if k in g), "switched"),)),)),
    rule(r"(?:press|push|hit)(?: down)?(?: on)? (?:the|its) (?:\w+ )?(?:button|switch|key)(?: (?:of|on|at|for) {x})", to("Press", "target")),
    rule(r"press(?: down)?(?: on)?(?: the| its)? (?:start|on|power|button|start button|power button|on button|switch)", lambda g: (Order("Press", (("it", "place"),)),)),
    rule(r"press(?: down)?(?: on)? {x}", to("Press", "target")),
    rule(r"(?:start|activate|light|run(?! (?:to|towards?|up|over|back|across|into|forwards?|ahead)\b)|launch)(?: up)? {x}", to("Start", "target")),
    # doors, lids, locks
    rule(r"(?:push|pull|slide|swing|draw|lift) {x} (?:wide )?open|(?:open|uncover|unseal|unscrew|uncap)(?: up)? (?P<x2>.+)|(?:push|pull|slide|lift) open (?P<x3>.+)", lambda g: (Order("Open", ((g.get("x") or g.get("x2") or g["x3"], "target"),)),)),
    rule(r"(?:push|pull|slide|swing|draw) {x} (?:closed|shut|to)|(?:close|shut|cover|seal)(?: up)? (?P<x2>.+)|(?:push|pull|slide) (?:closed|shut) (?P<x3>.+)|draw (?P<x4>.+)", lambda g: (Order("Close", ((next(g[k] for k in ("x", "x2", "x3", "x4") if k in g), "opened"),)),)),
    rule(r"lock(?: up)? {x}{with}", to("Lock", "opened")),
    rule(r"unlock {x}{with}", to("Unlock", "target")),
    # food
    rule(r"(?:score|cut|mark|carve) (?:an? )?(?:shallow |deep )?(?:x|cross)(?:[ -]shaped)?(?: cut| score| shape)? (?:in to|into|onto|on|in) (?:the top of )?{x}{with}", to("Score", "target")),
    rule(r"score {x}{with}", to("Score", "target")),
    rule(r"(?:slice)(?: up)? {x}(?: up)?(?: (?:in half|in two|into [\w ]+|through|open))?{with}", to("Slice", "target")),
    rule(r"(?:cut|chop|halve|dice|carve)(?: up| through| open)? {x}(?: up)?(?: (?:in half|in two|into [\w ]+|through|open))?{with}", to("Cut", "target")),
    rule(r"fry {x}(?:,? (?:for )?{time})?(?: more)?", timed("Fry", "target")),
    rule(r"(?:cook|heat|heat up|toast|boil|bake|grill|roast|warm|warm up|brown) {x}(?:,? (?:for )?{time})?(?: more)?", timed("Cook", "target")),
    rule(r"(?:let|have) {x} (?:cook|fry|heat up|heat|bake|brown|boil)(?:,? (?:for )?{time})?(?: more)?", timed("Cook", "target")),
    rule(r"let .+ (?:for )?{time}", waited),
    rule(r"(?:plate|serve|dish|transfer|scoop|lift)(?: up| out)? {x} (?:from .+? )?(?:on to|onto|to) {y}{with}", pair("Plate", "target")),
    rule(r"(?:plate|serve)(?: up)? {x} (?:on|in|into) {y}{with}", pair("Plate", "target")),
    rule(r"(?:plate|serve|dish up)(?: up)? {x}", ask("On which plate?")),
    # liquids and cleaning
    rule(r"(?:pour|tip|empty) {x} (?:out )?(?:away )?(?:in to|into|in|down) (?P<y>(?:the )?(?:[a-z]+ )*(?:sink|basin|drain|toilet))", pair("Empty", "held")),
    rule(r"empty(?: out)? {x} (?:out )?(?:in to|into|in|over|at) {y}", pair("Empty", "held")),
    rule(r"empty(?: out)? {x}", ask("Into what should I empty it?")),
    rule(r"(?:pour|tip)(?: out)? .+? (?:from|out of) {x} (?:in to|into|in|onto|on|over) {y}", pair("Pour", "held")),
    rule(rf"(?:pour|tip)(?: out)? {LIQUIDS} (?:in to|into|in|onto|on|over) {{y}}", lambda g: (Order("Pour", (("it", "held"), (g["y"], "place"))),)),
    rule(r"(?:pour|tip)(?: out)? {x} (?:in to|into|in|onto|on|over|to) {y}", pair("Pour", "held")),
    rule(r"pour .+", ask("From what into what should I pour?")),
    rule(r"(?:fill|refill)(?: up)? {x}(?: up)?(?: with [\w ]*?)? (?:from|at|under|using|in) {y}", pair("Fill", "thing")),
    rule(r"(?:fill|refill) .+", ask("From what should I fill it?")),
    rule(r"(?:soak|dip|dunk|submerge|immerse|wet) {x} (?:in to|into|inside|in|under) {y}", pair("Soak", "held")),
    rule(r"(?:put|place|leave) {x} to soak (?:in|inside) {y}", pair("Soak", "held")),
    rule(r"rinse(?: off| out)? {x}(?: clean| off| thoroughly| well)*(?: (?:in|at|under|over) {y})?(?: for {time})?{with}", lambda g: washed("Rinse", g)),
    rule(r"scrub(?: off| out)? {x}(?: clean| off| thoroughly| well)*(?: (?:in|at|under|over) {y})?(?: for {time})?{with}", lambda g: washed("Scrub", g)),
    rule(r"wash(?: up| off| out)? {x}(?: clean| off| thoroughly| well)*(?: (?:in|at|under|over) {y})?(?: for {time})?{with}", lambda g: washed("Wash", g)),
    rule(r"clean {x} (?:in|at|under|over) (?P<y>(?:the )?(?:[a-z]+ )*(?:sink|basin|tap|running water))", lambda g: washed("Wash", g)),
    rule(r"(?:wipe|mop|dry|clean)(?: up| off)? (?:the )?[\w ]+? (?:off|from) {x}{with}", to("Wipe", "target")),
    rule(r"(?:wipe|mop|dry|polish)(?: down| off| up)? {x}(?: clean| dry| down| off)*{with}", to("Wipe", "target")),
    rule(r"clean(?: up| off)? {x} (?:with|using) .+", to("Wipe", "target")),
    rule(r"clean {x}", ask("Should I wash it or wipe it?")),
    rule(r"(?:sweep|brush)(?: up)? {x} (?:up )?(?:in to|into|onto|on to|in) {y}{with}", pair("Sweep", "target")),
    rule(r"(?:sweep|brush)(?: up)? {x}(?: up)?{with}", to("Sweep", "target")),
    # hands
    rule(r"(?:put|place|lay|rest) (?:your|one|a) (?:right |left )?(?:hand|finger|fingers|palm) (?:on top of|on|onto|against) {x}|(?:touch|feel|tap|poke)(?: for)? (?P<x2>.+?){with}", lambda g: (Order("Touch", ((g.get("x") or g["x2"], "target"),)),)),
    rule(r"(?:throw|toss|chuck|discard|dispose of|trash|bin|recycle)(?: away| out)? {x}(?: away| out)? (?:in to|into|inside|in|using) {y}", pair("Discard", "held")),
    rule(r"(?:throw|toss|chuck|discard|dispose of|trash|bin|recycle)(?: away| out)? .+", ask("Into which bin?")),
    rule(r"(?:drop|let go of|release) {x} {in} {y}", pair("PutIn", "held")),
    rule(r"(?:drop|let go of|release) {x} {on} {y}", _dropped_on),
    rule(r"(?:drop|let go of|release) {x}|let (?P<x2>.+?) go|let go", lambda g: (Order("Drop", ((g.get("x") or g.get("x2") or "it", "held"),)),)),
    rule(r"(?P<verb>push|pull|slide|shove|nudge|drag|shift)(?: aside| over)? {x}(?: towards? .+?| away from .+?| away| forwards?| back| aside| along| closer| over| to (?:the|your) (?:left|right|side|back|front)| out of the way)*(?:,? (?:by )?{dist})?(?: towards? .+| away| forwards?| back| aside| along| to (?:the|your) (?:left|right|side|back|front))*", _pushed),
    rule(r"(?:return|get back|move back) (?:back )?(?:to|into) {x}", to("Walk", "target")),
    rule(rf"{_PUT} (?:down |back )?{{x}} (?P<prep>{{on}}|{{in}}) {{y}}".replace("{on}", MACROS["{on}"]).replace("{in}", MACROS["{in}"]), put),
    rule(r"(?:return|give back|bring back|take back|put back) {x} (?:back )?to {y}", _returned),
    rule(r"leave .+", lambda g: ()),
    rule(rf"(?:{_PUT}|give|hand) .+", ask("Where exactly should I put it?")),
    rule(r"(?:keep|hold) (?:holding )?(?:it|that|this|on to it|on)(?: .+)?", lambda g: ()),
    rule(r"(?:bring|carry|take) (?P<x>(?:(?! (?:next|close|closest|nearest|nearer|closer|that|which) ).)+?) (?:over |back |along |across |through )*(?:to|into) {y}", _carried),
    rule(rf"{_GET} (?P<x>(?:{_COUNTED}|(?! (?:from|off|out of) )(?!\b{_COUNTED}).)+?)(?: out| up| away| down)? (?P<from>from inside|from within|from|off of|off|out of) {{y}}", _grabbed),
    rule(rf"{_GET} {{x}}(?: up| out)?", _grabbed),
    rule(r"bring {x}", _grabbed),
    # walking, last: its verbs are the commonest words
    rule(r"(?:run|hurry|rush)(?: back| over| across| quickly)* (?:to|towards?|up to|over to|into|in to) {x}", to("Run", "target")),
    rule(r"(?:walk|go|move|head|run|come) (?:around|round|past|by|across|through|along|down) .+? (?:over )?to {x}", to("Walk", "target")),
    rule(rf"{_WALK} (?:up to|over to|to|towards?|into|in to|in|through|onto|near|next to|beside|by|as far as|for|in front of) {{x}}", to("Walk", "target")),
    rule(r"(?:enter|approach) {x}", to("Walk", "target")),
    rule(r"(?:walk|go|head|run|move|continue) (?:down|along|across|up|past) (?P<x>(?:the|this|that) .+)", to("Walk", "target")),
)  # fmt: skip

RULES: tuple[Rule, ...] = (*IDIOMS, *_TABLE, *FRAGMENTS)
