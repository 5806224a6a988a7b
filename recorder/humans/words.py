"""Words of plain English that carry quantities and names: the lowest level of the literal Human's grammar."""

# ruff: noqa: E501 - a sentence pattern is read as one line

from __future__ import annotations

import re

__all__ = [
    "QUANTITY",
    "format_number",
    "gerund_to_base",
    "is_container",
    "is_document",
    "mark_quantities",
    "normalise",
    "noun_phrase",
    "phrases_of",
    "words_of",
]


def words_of(text: str) -> tuple[str, ...]:
    """A vocabulary written as running text."""
    return tuple(text.split())


def phrases_of(text: str) -> tuple[str, ...]:
    """Phrases written as running text, with semicolons between them."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(";"))


_SMALL = words_of(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
    """
)
_TENS = {
    w: 10 * (i + 2)
    for i, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])
}
_NUMBER_WORDS: dict[str, float] = {
    **{w: float(i) for i, w in enumerate(_SMALL)},
    **{k: float(v) for k, v in _TENS.items()},
}

#: unit word -> (tag, factor to seconds, metres or degrees); a step is half a metre
_UNITS: tuple[tuple[str, str, float], ...] = (
    (r"seconds?|secs?|s", "s", 1.0),
    (r"minutes?|mins?", "s", 60.0),
    (r"hours?", "s", 3600.0),
    (r"centi ?met(?:re|er)s?|cms?", "m", 0.01),
    (r"milli ?met(?:re|er)s?|mms?", "m", 0.001),
    (r"met(?:re|er)s?|m", "m", 1.0),
    (r"(?:small |big |large )?(?:steps?|paces?)", "m", 0.5),
    (r"feet|foot", "m", 0.3048),
    (r"inch(?:es)?", "m", 0.0254),
    (r"degrees?|degs?|°", "deg", 1.0),
    (r"quarter[ -]turns?", "deg", 90.0),
    (r"half[ -]turns?", "deg", 180.0),
)

_WORD_NUMBER = "|".join(sorted(_NUMBER_WORDS, key=lambda w: (-len(w), w)))
_TENS_ONES = "(?:" + "|".join(_TENS) + ")[ -](?:" + "|".join(_SMALL[1:10]) + ")"
_NUMBER = (
    rf"(?:\d+(?:\.\d+)?|half an?|a half|(?:a |one )?quarter of an?|(?:an?|one) hundred(?: and)?(?: (?:{_TENS_ONES}|{_WORD_NUMBER}))?"
    rf"|a couple of|another|{_TENS_ONES}|(?:{_WORD_NUMBER})(?: and a half)?|an?)"
)
_ROUGHLY = r"(?:about |around |roughly |at least |exactly |only |just |another |approximately |some )*"
_MORE = "(?:(?:more|further|extra) )?"
_UNIT = "|".join(f"(?P<u{i}>{pattern})" for i, (pattern, _, _) in enumerate(_UNITS))
_QUANTITY = re.compile(rf"(?<![\w.]){_ROUGHLY}(?P<n>{_NUMBER}) ?-?{_MORE}(?:{_UNIT})(?![\w])(?P<half> and a half)?")

#: "look around 180 degrees" means around, "wait around 10 seconds" means roughly
_MOVES_AROUND = re.compile(r"\b(?:look|glance|turn|rotate|spin|walk|go) $")

#: how a quantity is written after `mark_quantities`, as a pattern with the value in group {name}
QUANTITY = r"(?P<{name}>\d+(?:\.\d+)?)#{tag}"


#: "1. ", "2) " before an order; "turn left 90. Then ..." is none
_ENUMERATOR = re.compile(r"((?:^|[.!?;:,])\s*)\d{1,2}\. +(?=[a-z])|(?:^|(?<=\s))\(?\d{1,2}\) +(?=[a-z])")


def normalise(text: str) -> str:
    """Lower case, plain quotes and dashes, single spaces, no characters that mean something to the grammar."""
    text = _ENUMERATOR.sub(
        lambda m: m[1] if m[1] is not None else ". ",
        re.sub(r"\s*\n\s*(?:[-*•]\s+)?", ". ", text.strip().lstrip("-*• ").lower()),
    )
    text = re.sub(r"\s*(?:->|=>|→)\s*", ", then ", text.replace("&", " and "))
    text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    text = re.sub(r"\s*[–—]\s*|\s-+\s", ", ", text).replace("#", " ").replace("…", ".")
    text = re.sub(r"\bcan not\b", "cannot", text)
    text = re.sub(r"\b(nearest|closest) to (?:you|me)\b", r"\1", text)
    text = re.sub(r"(\d),(\d{1,2})(?!\d)", r"\1.\2", text)
    return re.sub(r"\s+", " ", text).strip()


def _value(words: str) -> float:
    if re.fullmatch(r"\d+(?:\.\d+)?", words):
        return float(words)
    if words in ("a", "an", "another"):
        return 1.0
    if words.startswith("half") or words == "a half":
        return 0.5
    if "quarter of" in words:
        return 0.25
    if words == "a couple of":
        return 2.0
    total = 0.0
    if words.endswith(" and a half"):
        total, words = 0.5, words.removesuffix(" and a half")
    for word in re.split(r"[ -]", words):
        if word == "hundred":
            total = 100.0
        elif word in _NUMBER_WORDS:
            total += _NUMBER_WORDS[word]
    return total


def mark_quantities(text: str) -> str:
    """Rewrites every quantity as "30#s", "0.5#m" or "90#deg": "half a metre" -> "0.5#m", "two steps" -> "1#m".

    "a second" before a noun is an ordinal ("a second plate") and stays.
    """

    def mark(match: re.Match[str]) -> str:
        index, (_, tag, factor) = next((i, u) for i, u in enumerate(_UNITS) if match[f"u{i}"] is not None)
        rest = text[match.end() :]
        if match["n"] in ("a", "another") and index == 0 and re.match(r" (?!and\b|then\b|please\b|or\b)\w", rest):
            return match.group()
        value = _value(match["n"]) + (0.5 if match["half"] else 0.0)
        kept = "around " if match.group().startswith("around ") and _MOVES_AROUND.search(text[: match.start()]) else ""
        return f"{kept}{format_number(value * factor)}#{tag}"

    return _QUANTITY.sub(mark, text)


def format_number(value: float) -> str:
    """Shortest plain decimal, at most four places: 0.5, 30, 90."""
    return f"{round(value, 4):.4f}".rstrip("0").rstrip(".")


_DETERMINER = re.compile(
    r"^(?:(?:damn|damned|bloody|stupid|the|a|an|that|this|those|these|your|my|some|its|their|his|her|all of|both|all)\s+)+"
)
_TAIL = re.compile(
    r"\s+(?:please|for me|for now|now|right now|again|carefully|gently|slowly|quickly|straight away|immediately|too|as well"
    r"|instead(?: of .+)?|first|over there|over here|right there|there|here|straight|right in front of you|in front of you|in front|longer|more|next to you|in view"
    r"|(?:that )?you (?:can )?see|(?:that )?you(?:'re| are) (?:now )?holding|(?:that )?you hold|in your (?:right |left )?hand"
    r"|with you|with (?:your|one|both) (?:(?:right|left|free) )?hands?|back|down|away|up|completely|fully|all the way|flat"
    r"|thoroughly|well|a little|a bit|a little bit|slightly|upside(?: down)?|by (?:its|the) (?:handle|stem|rim|edge|neck)|at once|next|safely|tightly|firmly|off|out|directly|yet|from there|nearby|behind you|after you)$"
)
_SIDE_TAIL = re.compile(r"^(?P<x>.+?),? (?:on|to|at) (?:your|the) (?P<side>left|right)(?:[ -]hand)?(?: side)?$")
_MIDDLE_TAIL = re.compile(r"^(?P<x>.+?),? in the (?P<side>middle|centre|center)$")
_NEAREST_TAIL = re.compile(r"^(?P<x>.+?),? (?:nearest|closest)(?: to you)?$")
#: "the top drawer of the unit on the left" is the top drawer of the left unit
_PART_OF = re.compile(
    r"^(?P<part>.*\b(?:drawer|door|shelf|hook|compartment|cell|cubby|slot|pigeonhole|lid|burner|tap|basin|rack|top) of )"
    r"(?P<owner>.+)$"
)
#: "the carton labelled AXO", "the carton that says AXO", "the carton with AXO on it" -> "AXO carton"
_LABELLED = re.compile(
    r"^(?P<x>(?:(?! (?:on|in|under|by|near) ).)+?),? (?:(?:that is |that's )?(?:labell?ed|marked|called|tagged)|(?:that|which) (?:says|reads)|saying) (?P<label>[\w' -]+)$"
    r"|^(?P<x2>(?:(?! (?:on|in|under|by|near) ).)+?),? (?:with|that has) (?P<label2>(?!the |an? |its )[\w' -]+?) (?:written |printed )?on it$"
)
_RELATIVE = re.compile(
    r"\b(?:that is|that's|which is|that are|which are|standing|lying|sitting|located|placed) (?=on|in|under|by|near|next|beside)"
)
_INNER = re.compile(
    r"\b(on top of|on|in|inside|under|by|near|beside|next to|behind|of|from|with) (?:the|a|an|your|that|this) "
)


def noun_phrase(text: str) -> str:
    """A description as the command grammar wants it: without articles, adverbs and punctuation.

    "the mug on your left" -> "left mug"; "the knife that is on the counter" -> "knife on counter". May be empty.
    """
    text = re.sub(r"[^\w\s',#.-]", " ", text).replace("_", " ")
    text = re.sub(r"\s+", " ", text).strip(" ,.")
    before = None
    while before != text:
        before = text
        text = _TAIL.sub("", text).strip(" ,.")
    text = re.sub(r" (?:closest|nearest|close|closer) to ", " near ", _RELATIVE.sub("", text))
    labelled = _LABELLED.match(text)
    if labelled:
        label = labelled["label"] or labelled["label2"]
        text = f"{label} {_DETERMINER.sub('', labelled['x'] or labelled['x2'])}"
    for pattern in (_SIDE_TAIL, _MIDDLE_TAIL, _NEAREST_TAIL):
        match = pattern.match(text)
        if match:
            if re.match(
                r"(?:the )?(?:first|second|third|fourth|fifth|sixth|last)\b", match["x"]
            ) and match.groupdict().get("side"):
                text = f"{match['x']} from {match['side']}"
                continue
            side = match.groupdict().get("side") or "nearest"
            side = "middle" if side in ("centre", "center") else side
            part = _PART_OF.match(match["x"])
            before, chosen = (part["part"], part["owner"]) if part else ("", match["x"])
            text = f"{before}{side} {_DETERMINER.sub('', chosen)}"
    text = _DETERMINER.sub("", text)
    text = re.sub(r"\b(left|right)[ -]hand (?:side )?", r"\1 ", text)
    text = re.sub(r"\b(left|right)most\b", r"\1", text)
    text = re.sub(r"^(?:closest|nearest)\b", "nearest", text)
    text = re.sub(r"^another\b", "other", text)
    text = _INNER.sub(r"\1 ", text)
    text = text.replace("on top of ", "on ")
    return re.sub(r"[^\w\s'-]", " ", text).strip()


def gerund_to_base(word: str, verbs: frozenset[str]) -> str | None:
    """ "walking" -> "walk", "taking" -> "take", "putting" -> "put"; None when it is no gerund of one of `verbs`."""
    if not word.endswith("ing"):
        return None
    stem = word.removesuffix("ing")
    options = [stem, stem + "e"]
    if len(stem) > 2 and stem[-1] == stem[-2]:
        options.append(stem[:-1])
    return next((o for o in options if o in verbs), None)


_CONTAINERS = frozenset(
    words_of(
        """
    fridge refrigerator freezer chiller drawer cabinet cupboard box bag oven microwave bin basket jar case suitcase
    dishwasher washer dryer wardrobe locker chest pouch backpack crate carton bucket basin sink machine container
    pocket pack safe cooler wallet envelope closet compartment holder cubby cubbies pot bowl
    """
    )
)


def is_container(name: str) -> bool:
    """True when things are put in it rather than on it, as far as its name tells."""
    return bool(name) and name.rsplit(maxsplit=1)[-1] in _CONTAINERS


_DOCUMENTS = frozenset(
    words_of(
        """
    booklet brochure leaflet manual handbook guide binder logbook book notebook document file folder report catalogue
    catalog menu magazine newspaper instructions papers pages
    """
    )
)


def is_document(name: str) -> bool:
    """True when it may have pages to turn, as far as its name tells: "yellow booklet on desk"."""
    return any(word in _DOCUMENTS for word in name.split())
