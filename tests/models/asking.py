"""Asks hosted models, in a process of its own: `python -m tests.models.asking MODEL ...`. A line of JSON for each says
what came of it.

litellm warns of what other libraries deprecate; this process, like the command line, does not make errors of that.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import msgspec

from iwreplay.errors import ModelError
from iwreplay.ports import ModelImage, ModelMessage, ModelRequest
from recorder.assistants.hosted import decision_schema
from recorder.models.hosted import HostedModel


def ask(name: str) -> dict[str, object]:
    waits: list[float] = []
    try:
        model = HostedModel(
            name,
            secrets=(os.environ["OPENAI_API_KEY"],),
            timeout_s=0.5 if "dripping-streaming" in name else 1.0 if "impatient" in name else 5.0,
            stream="streaming" in name,
            wait=waits.append,
        )
        hello: tuple[str | ModelImage, ...] = (os.environ["OPENAI_API_KEY"],) if "keyed" in name else ("Hello",)
        more: dict[str, Any] = {}
        if "gpt-4o" in name:
            hello = ("Look:", ModelImage(frame_id="f000001", sha256="ab"), "Hello")
            more = {"max_tokens": 50, "answer": decision_schema(memory=False)}
        messages = (ModelMessage(role="system", parts=("Be brief.",)), ModelMessage(role="user", parts=hello))
        asked = ModelRequest(model=model.name, messages=messages, temperature=0.0, seed=11, **more)
        found = {**msgspec.to_builtins(model.ask(asked, content={"ab": b"\x89PNG"})), "priced": model.priced}
    except ModelError as e:
        found = {
            "error": str(e),
            "kind": type(e).__name__,
            "transient": e.transient,
            "always": e.always,
            "retries": e.retries,
        }
    return {**found, "waits": waits}


for wanted in sys.argv[1:]:
    print(json.dumps(ask(wanted)))  # noqa: T201
