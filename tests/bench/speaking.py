"""Models that know the tasks: what they say follows from what they are asked, in whatever order that comes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from iwreplay.app.tasks import find_tasks
from recorder.humans import interpret
from tests.models.provider import Said

__all__ = ["acts", "speaks", "text_of"]


def text_of(body: dict[str, Any]) -> str:
    """The texts of a request's last turn."""
    content = body["messages"][1]["content"]
    return content if isinstance(content, str) else "\n".join(p["text"] for p in content if p["type"] == "text")


def speaks(*tasks: str) -> Callable[[dict[str, Any]], Said]:
    """An Assistant that says the oracle steps of these tasks."""
    steps = {p.request: [s.say for s in p.oracle] for p in find_tasks(tasks)}

    def answer(body: dict[str, Any]) -> Said:
        text = text_of(body)
        asked = re.search(r"The wearer asked: (.*)", text)
        turn = re.search(r"This is turn (\d+)\.", text)
        assert asked is not None, text
        assert turn is not None, text
        left = steps[asked[1]][int(turn[1]) - 1 :]
        if not left:
            return json.dumps({"decision": "done", "text": None})
        return json.dumps({"decision": "interrupt" if left[0] else "silent", "text": left[0] or None})

    return answer


def acts(body: dict[str, Any]) -> Said:
    """A Human that does what it is told, as the literal one does."""
    told = re.search(r"The Assistant says now: (.*)", text_of(body))
    holding = re.search(r"- holding: (.*)", text_of(body))
    if told is None:
        return json.dumps({"commands": [], "reply": None})
    held = "" if holding is None or holding[1] == "nothing" else holding[1]
    understood = interpret(told[1], holding=held, earlier=[])
    return json.dumps({"commands": list(understood.commands), "reply": understood.reply})
