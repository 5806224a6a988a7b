"""Is everything that the Assistant says short? 1 for yes, 0 for no."""

from iwreplay.events import AssistantDecision
from scorers import Score, Unscorable

NAME = "brief"
VERSION = 1
PARAMETERS = {"max_words": "20"}


def score(events, task):
    said = {seq: e.text for seq, e in events if isinstance(e, AssistantDecision) and e.text}
    if not said:
        return Unscorable(metric=NAME, reason="the Assistant said nothing", missing=("words of the Assistant",))
    words = {seq: len(text.split()) for seq, text in said.items()}
    long = [seq for seq, n in words.items() if n > int(PARAMETERS["max_words"])]
    return Score(metric=NAME, value=not long, evidence=tuple(long or said), details={"longest": max(words.values())})
