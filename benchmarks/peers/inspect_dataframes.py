"""Read one inspect_ai log into data frames and answer a question from them. Run by the peer's own Python, prints JSON.

python inspect_dataframes.py make FILE SAMPLES.json   # a list of {"messages": [[role, text], ...], "events": [{...}]}
python inspect_dataframes.py read FILE
"""

from __future__ import annotations

import json
import resource
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any


def make(target: str, source: str) -> None:
    from inspect_ai.event import InfoEvent, ModelEvent
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, ModelOutput

    kinds = {"assistant": ChatMessageAssistant, "user": ChatMessageUser}
    now = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    samples = []
    for n, sample in enumerate(json.loads(Path(source).read_text(encoding="utf-8"))):
        messages = [kinds[role](content=text, id=f"{n}-{i}") for i, (role, text) in enumerate(sample["messages"])]
        # its data frame of messages is made from the calls of models
        call = ModelEvent(
            model="mockllm/model",
            input=messages,
            tools=[],
            tool_choice="auto",
            config=GenerateConfig(),
            output=ModelOutput(),
        )
        events = [*(InfoEvent(source="bench", data=event) for event in sample["events"]), call]
        samples.append(EvalSample(id=n, epoch=1, input="x", target="y", messages=messages, events=events))
    log = EvalLog(
        status="success",
        eval=EvalSpec(created=now, task="bench", dataset=EvalDataset(), model="mockllm/model", config=EvalConfig()),
        samples=samples,
    )
    write_eval_log(log, target)


def read(path: str) -> None:
    """Times `samples_df`, `messages_df` and `events_df`, and refused commands by code and primitive from the last."""
    import pandas  # noqa: F401  what it imports itself within the first frame
    from inspect_ai.analysis import EventColumn, events_df, messages_df, samples_df

    def column(name: str) -> Any:
        return EventColumn(name, path=lambda event: getattr(event, "data", {}).get(name))

    seconds, cpu = {}, {}

    def timed(name: str, work: Any) -> Any:
        began, spent = time.perf_counter(), time.process_time()
        found = work()
        seconds[name], cpu[name] = time.perf_counter() - began, time.process_time() - spent
        return found

    timed("samples", lambda: samples_df(path, quiet=True))
    messages = timed("messages", lambda: messages_df(path, quiet=True))
    columns = [column(name) for name in ("kind", "phase", "refused", "code", "primitive")]
    events = timed("events", lambda: events_df(path, columns=columns, quiet=True))

    def refusals() -> Any:
        refused = events[(events["kind"] == "primitive_outcome") & (events["phase"] == "closed_loop")]
        refused = refused[refused["refused"] == True]  # noqa: E712  of a column of objects
        return refused.groupby(["code", "primitive"]).size().reset_index().values.tolist()

    answer = timed("question", refusals)
    print(
        json.dumps(
            {
                "peer": f"inspect_ai {version('inspect_ai')}",
                "events": len(events),
                "messages": len(messages),
                "seconds": seconds,
                "cpu": cpu,
                "answer": answer,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        read(*sys.argv[2:])
