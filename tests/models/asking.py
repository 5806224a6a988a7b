"""Asks hosted models, in a process of its own: `python -m tests.models.asking MODEL ...`. A line of JSON for each says
what came of it.

litellm warns of what other libraries deprecate; this process, like the command line, does not make errors of that.
"""

from __future__ import annotations

import json
import os
import sys

import msgspec

from iwreplay.errors import ModelError
from iwreplay.ports import ModelMessage, ModelRequest
from recorder.models.hosted import HostedModel


def ask(name: str) -> dict[str, object]:
    waits: list[float] = []
    try:
        model = HostedModel(name, secrets=(os.environ["OPENAI_API_KEY"],), timeout_s=5.0, wait=waits.append)
        messages = (ModelMessage(role="system", parts=("Be brief.",)), ModelMessage(role="user", parts=("Hello",)))
        asked = ModelRequest(model=model.name, messages=messages, temperature=0.0, seed=11)
        found = msgspec.to_builtins(model.ask(asked))
    except ModelError as e:
        found = {"error": str(e), "transient": e.transient}
    return {**found, "waits": waits}


for wanted in sys.argv[1:]:
    print(json.dumps(ask(wanted)))  # noqa: T201
