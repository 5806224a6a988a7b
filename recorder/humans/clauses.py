"""Splits what the Assistant says into clauses, and says of each what kind of speech it is."""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

import re
from typing import Literal

import msgspec

from recorder.humans.words import gerund_to_base, mark_quantities, normalise, phrases_of, words_of

__all__ = ["Clause", "split_clauses"]

ClauseKind = Literal["order", "forbidden", "condition", "question", "statement", "interjection", "topic"]


class Clause(msgspec.Struct, frozen=True):
    """One clause in normalised words."""

    kind: ClauseKind
    text: str


#: imperatives that are no nouns or adjectives: "... and <verb>" begins a new clause
_PLAIN_VERBS = frozenset(
    words_of(
        """
    walk go run head move step come return get enter approach proceed navigate continue stroll hurry cross turn
    rotate spin sit stand rise look glance peek gaze stare examine inspect read touch feel wait stay pause idle take
    grab pick lift collect fetch hold remove retrieve reach put place set lay leave hang stack insert load rest
    store drop release let throw toss discard dispose trash push pull shove nudge drag wear open unseal uncover
    unscrew close shut switch start press activate extinguish blow unlock unplug connect disconnect cut chop halve
    carve fry heat toast boil bake grill roast warm brown serve transfer scoop pour fill empty tip rinse scrub wipe
    mop sweep brush soak dip dunk submerge answer accept hang end bring carry use say tell give scan survey point
    keep make finish begin try stop deactivate slice dice polish do show check find search chuck bin have allow
    immerse unhook help wring squeeze knock tuck shove kill give stuff dump see uncap
    """
    )
)
#: verbs that also name things or say how things are: they begin a clause only before a determiner, pronoun or particle
_DOUBLE_VERBS = frozenset(
    words_of(
        """
    face light lock plug cook plate wash dry clean slide watch score power tap wet shift position stick pop hand pass jam bung
    """
    )
)
_VERBS = _PLAIN_VERBS | _DOUBLE_VERBS
#: of these, those that stand before no noun: "a light box" and "a dry cloth" are things, "wash cup" is an order
_NO_ADJECTIVES = frozenset(words_of("wash cook"))
#: verbs that belong to the order before them: "turn to face the window"
_NO_PURPOSE = frozenset(words_of("face look stand sit continue"))
_OPENER = r"(?:the|a|an|that|this|those|these|your|my|it|them|both|all|on|off|in|up|down|out|to|towards?|over|around|left|right|\d)"

_FILLERS = phrases_of(
    """
    please; now; next; then; first; firstly; second; secondly; third; finally; lastly; afterwards; after that; also;
    just; and; so; but; simply; carefully; slowly; gently; quickly; immediately; instead; again; kindly; all right;
    alright; right; great; good; perfect; excellent; nice; okay; ok; yes; well done; well; thanks; thank you; sorry;
    hey; hi; hello; careful; be careful; wait; stop; no; hold on; hang on; nice work; good job; that's right; that's
    it; very good; exactly; correct; oh; ah; in that case; at this point; from there; once there; when there; go
    ahead and; go on and; go and; come and; go on; come on; quick; hurry; hurry up; no no; listen; look; maybe; perhaps; oops; whoa; ugh; um; uh; er; hmm; phew; oh no; try to; remember to; make sure to; be sure to; make sure you; be sure
    you; let's; let us; can you; could you; can we; could we; shall we; we can; we should; we need to; we must; we have to; would you; will you; you can; you could; you should; you must; you have
    to; you need to; you'll need to; you will need to; you may; i need you to; i want you to; i'd like you to; i
    would like you to; it's time to; it is time to; time to; you'd better; you had better; better; you want to; you'll want to; you might want to;
    you would want to; why don't you; why not; how about; what about; would you mind; do you mind; don't forget to;
    do not forget to; never forget to; i think you should; i think you can; i think you need to; i think you must;
    i'd say; i said; as i said; like i said; i suggest you; i'd; i would; all you need to do is; all you have to do is;
    for now; right now; straight away; up next; so next; so now; so then; your next step is to; the next step is to; continue to; proceed
    to; do; you; probably; possibly; i think; i guess; i suppose; you should probably; perhaps you should; maybe you should
    """
)
_LONGEST_FIRST = sorted(_FILLERS, key=lambda f: (-len(f), f))
_FILLER = re.compile(rf"^(?:(?:{'|'.join(_LONGEST_FIRST)})(?P<end>[,:]? |$))")
#: fillers that are whole words of their own meaning unless a comma follows or the rest still begins with a verb
_WEAK_FILLERS = frozenset(
    phrases_of(
        "wait; stop; no; right; good; second; well; do; you; proceed to; continue to; so; look; better; i'd; i would"
        "; why not; go on; come on; hold on; hang on; quick; hurry; i said"
    )
)
#: of these, those that a verb may follow without a comma
_BEFORE_VERB = frozenset(
    phrases_of("do; you; so; second; better; i'd; i would; why not; go on; come on; quick; hurry; i said")
)
#: fillers that a gerund follows: "how about closing the fridge?"
_BEFORE_GERUND = frozenset(phrases_of("how about; what about; would you mind; do you mind"))
#: "go get the remote", "come sit on the sofa": the second verb is what is to be done
_GO_AND = re.compile(r"^(?:go|come|run)(?: over| over there| back)?(?: and)? (?=(?P<verb>[a-z]+) )")
#: said of the scene in the middle of an order: "get the phone, it's ringing"
_ASIDE = re.compile(r"^(?:it|he|she|they|there|you)(?:'s|'re| is| are| was| were| has| have|'ve|'ll| will| forgot)\b")
_REWRITES = (
    (
        re.compile(r"\bturn an? (quarter|half)(?: turn)? (?:to (?:the|your) )?(left|right)\b"),
        r"make a \1 turn to the \2",
    ),
    (re.compile(r"\bturn(?: around)? (?:so(?: that)?|until|till) you(?:'re| are)? (?:now )?fac(?:e|ing)\b"), "face"),
)

_NEGATION = re.compile(
    r"^(?:(?:please )?(?:(?:don't|do not|never)(?! forget to\b)|forget\b|ignore\b|skip\b|avoid|you must not|you mustn't|you should not|you shouldn't|refrain from|no need to"
    r"|stop \w+ing|you don't need to|you do not need to|there is no need to|there's no need to|make sure not to"
    r"|be careful not to|try not to|leave (?:it|that|this|them|the [\w ]+|everything)(?: alone| there| here| where (?:it|they) (?:is|are)| as (?:it|they) (?:is|are)| untouched)?$|keep (?:holding|hold of|it|that|the)\b"
    r"|not\b|rather than|instead of|without))"
)
_CONDITION = re.compile(
    r"^(?:if|unless|in case|when|whenever|until|while|as soon as|once|after|before|as long as)\b|,? (?:if|unless|until|when|while|as soon as|depending on|whichever|whatever)\b"
)
_PROGRESS = re.compile(
    r"^(?:when|once|after|as soon as|now that) (?:you(?:'re| are|'ve| have| get| reach| arrive| finish)|that's done|that is done|this is done|it's done|it is done"
    r"|doing (?:that|this|so))\b[^,]*,? ?|^before [^,]+, (?!(?:.* )?(?:it|them|that|this|one)\b)"
)
_REASON = re.compile(
    r",? (?:because|without \w+ing\b|so (?:you|we|it|they|i|nobody|nothing) (?:don't|do not|can|can't|won't|will|is|are|doesn't|isn't|know|see|gets?|stays?)\b|so that|in order to|since (?:it|the|that|this|you|we)|as (?:it|the|that|this|you|we)\b|to make sure|to avoid|before (?:you|it|the|that|we|anything|going|leaving|doing|starting|touching|taking)\b|while (?:it|the|that|this)\b).*$"
)
_QUESTION = re.compile(
    r"^(?:what|where|which|who|whose|why|how|is|are|isn't|aren't|do you|does|did|was|were|has|have you|are you|can you see|could you see|would it)\b"
)
_STATEMENT = re.compile(
    r"^(?:i|we|they|he|she|there|it|here|this|that|these|those|everything|nothing|all|both|one|some)\b"
    r"|^(?:the|your|my|its|a|an|each|every|another)\b.*\b(?:is|are|was|were|isn't|aren't|has|have|had|will|would|looks?|seems?|belongs?|contains?"
    r"|needs?|can|can't|cannot|should|goes|means|says|weighs?|costs?|still|must|may|might|stays?|lies|stands?|holds?|shows?|reads|comes?|hasn't)\b"
    r"|^you \w+ed\b|^you(?:'re| are|'ve| have|'ll| will|r| did| put| left| forgot| were| took)\b|^(?:well done|task|all done|we're done|are (?:done|finished|ready))\b"
)
_INTERJECTION = re.compile(
    r"^(?:quick|quickly|hurry(?: up)?|come on|go on|no no|nope|whoa|ugh|um|uh|er|hmm|phew|oh no|ugh,? no|whoa,? stop|faster|listen|look|look out|watch it|easy|steady|(?:the )?wrong one|not like that"
    r"|(?:bend|crouch|stoop|kneel|squat|lean|duck)(?: down| over| forwards?| in)*|reach (?:into|inside|in) .+"
    r"|stop|wait|halt|freeze|no|yes|ok|okay|good|great|perfect|thanks|thank you|careful|be careful|watch out|hold on|hang on|hey|well done"
    r"|that's it|that's right|that's all|exactly|correct|done|all done|nice|excellent|right|sorry|hello|hi|very good|good job|nice work|stop there"
    r"|reach (?:out|over|up|down|forwards?|ahead)(?: .+)?|reach (?:to|towards?) (?:your|the) (?:left|right)(?: .+)?|stop right there|hold still|stay still|stand still|don't move|not yet|nothing|stay there|stay here|stay where you are|wait there|wait here|stop that|stop now)$"
)


def split_clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of an utterance in the order they were said."""
    clauses: list[Clause] = []
    text = re.sub(r":(?=\s+\w)", " topicmark:", _mark_questions(normalise(text)))
    for pattern, words in _REWRITES:
        text = pattern.sub(words, text)
    for sentence in re.split(r"(?<!\d)[.!?;:]+(?=\s|$)|[!?;]+|\.(?=\s|$)|\n", text):
        words = mark_quantities(sentence.strip(" ,"))
        if words:
            clauses.extend(_classify(c) for c in _clauses_of(words) if c)
    return tuple(clauses)


def _mark_questions(text: str) -> str:
    """A question mark survives the split as a word."""
    return re.sub(r"\?", " questionmark?", text)


def _clauses_of(sentence: str) -> list[str]:
    """Cuts at "then", "and" and commas wherever a new order, or a prohibition, begins behind them."""
    sentence = _strip_fillers(sentence)
    if _CONDITION.search(_REASON.sub("", sentence)):
        return [sentence]
    pieces: list[str] = []
    start = 0
    for match in re.finditer(r"(?:,? and then|,? but then|, then|,? and|,? then|,? but|,? so|,)(?: |$)", sentence):
        rest = sentence[match.end() :]
        if "so" in match.group() and re.match(r"(?:you|we|i|they|it|he|she) ", rest):
            continue
        if match.start() > start and (
            _begins_order(rest) or _NEGATION.match(_strip_fillers(rest)) or _ASIDE.match(rest.lstrip())
        ):
            pieces.append(sentence[start : match.start()])
            start = match.end()
    pieces.append(sentence[start:])
    return [p.strip(" ,") for p in pieces]


def _begins_order(text: str) -> bool:
    words = _strip_fillers(text).split()
    if not words:
        return False
    first = words[0].rstrip(",")
    if first in _PLAIN_VERBS:
        return len(words) > 1 or first in ("wait", "stop", "stand", "rise", "scan")
    if first in _NO_ADJECTIVES and (len(words) == 2 or (words[1:2] and words[1].endswith(","))):
        # "go to sink, wash mug"
        return True
    return first in _DOUBLE_VERBS and len(words) > 1 and re.match(_OPENER, words[1]) is not None


def _strip_fillers(text: str) -> str:
    """The clause without "please", "now", "you should" ... at its front."""
    text = _PROGRESS.sub("", text.strip(" ,"))
    while True:
        match = _FILLER.match(text)
        if match is None or match.end() == len(text):
            break
        word = match.group().strip(" ,:")
        rest = text[match.end() :]
        after_comma = match["end"].startswith((",", ":"))
        begins = rest.split()[0].rstrip(",")
        verb_follows = begins in (_PLAIN_VERBS if word == "second" else _VERBS)
        if word in _WEAK_FILLERS and not after_comma and not (word in _BEFORE_VERB and verb_follows):
            break
        if re.match(r"(?:for )?[\d.]+#s\b", rest):
            break
        base = gerund_to_base(begins, _VERBS) if word in _BEFORE_GERUND else None
        text = rest if base is None else base + rest[len(begins) :]
    go = _GO_AND.match(text)
    if go is not None and go["verb"] in _PLAIN_VERBS:
        text = text[go.end() :]
    return _without_gerund(text)


def _without_gerund(text: str) -> str:
    """ "start by walking to the sink" -> "walk to the sink"."""
    match = re.match(
        r"^(?:start by|begin by|start|begin|finish by|keep|continue|try|go on)(?: on)? (?P<verb>[a-z]+ing)\b", text
    )
    if match is None:
        return text
    base = gerund_to_base(match["verb"], _VERBS)
    return text if base is None else base + text[match.end() :]


def _classify(clause: str) -> Clause:
    asked = "questionmark" in clause
    topic = "topicmark" in clause
    clause = clause.replace("questionmark", "").replace("topicmark", "").strip(" ,")
    if _INTERJECTION.match(clause):
        return Clause("interjection", clause)
    if _NEGATION.match(_leading(clause)):
        return Clause("forbidden", clause)
    text = _strip_fillers(clause)
    if not text or _INTERJECTION.match(text):
        return Clause("interjection", clause)
    if topic and re.match(r"^(?:the|that|this|your|those) [\w' -]+$", text):
        return Clause("topic", text)
    if _NEGATION.match(text):
        return Clause("forbidden", clause)
    if asked and text.startswith("see "):
        # "can you see the mug?" has lost its "can you" here
        return Clause("question", text)
    polite = asked and text.split()[0] in _VERBS and not _QUESTION.match(clause)
    if _CONDITION.search(_REASON.sub("", text)):
        return Clause("condition", clause)
    if (asked and not polite and text.split()[0] not in _VERBS) or _QUESTION.match(text):
        return Clause("question", text)
    if _STATEMENT.match(text) or _STATEMENT.match(clause):
        return Clause("statement", clause)
    return Clause("order", _without_purpose(_REASON.sub("", text).strip(" ,")))


def _without_purpose(text: str) -> str:
    """ "take the knife to cut the tomato" is an order to take the knife, and no more."""
    for match in re.finditer(rf" (?:in order )?to (?P<verb>[a-z]+) {_OPENER}\b", text):
        tool = re.match(r"(?:use|using|with|take up)\b", text)
        if match["verb"] in _VERBS - _NO_PURPOSE and not tool:
            return text[: match.start()]
    return text


def _leading(clause: str) -> str:
    """The clause without what is said before a prohibition."""
    return re.sub(r"^(?:please|no|stop|wait|hey|careful|hold on|but|and|now|so)[,!]? ", "", clause)
