"""Read, score and write one inspect_ai log of many samples. Run by the peer's own Python, prints JSON.

python inspect_rescore.py make FILE EVENTS.json   # EVENTS.json: a list of lists of objects
python inspect_rescore.py score FILE              # times open-to-score
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any


def make(target: str, source: str) -> None:
    from inspect_ai.event import InfoEvent
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log

    now = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    samples = [
        EvalSample(
            id=n,
            epoch=1,
            input="x",
            target="y",
            messages=[],
            events=[InfoEvent(source="bench", data=event) for event in events],
        )
        for n, events in enumerate(json.loads(Path(source).read_text(encoding="utf-8")))
    ]
    log = EvalLog(
        status="success",
        eval=EvalSpec(created=now, task="bench", dataset=EvalDataset(), model="mockllm/model", config=EvalConfig()),
        samples=samples,
    )
    write_eval_log(log, target)


def score_file(path: str) -> None:
    from inspect_ai import score
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.scorer import Score, Target, accuracy, scorer
    from inspect_ai.solver import TaskState

    @scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]  # of a package that is not here
    def trivial() -> Any:
        async def run(state: TaskState, target: Target) -> Score:
            return Score(value=1.0)

        return run

    marks = [(time.perf_counter(), time.process_time())]
    log = read_eval_log(path)
    marks.append((time.perf_counter(), time.process_time()))
    scored = score(log, trivial(), action="append", display="none")
    marks.append((time.perf_counter(), time.process_time()))
    write_eval_log(scored, path + ".scored.eval")
    marks.append((time.perf_counter(), time.process_time()))
    parts = dict(zip(("read", "score", "write"), pairwise(marks), strict=True))
    events = sum(len(s.events) for s in log.samples or [])
    print(
        json.dumps(
            {
                "peer": f"inspect_ai {version('inspect_ai')}",
                "episodes": len(log.samples or []),
                "events": events,
                **{f"{name}_s": end[0] - begin[0] for name, (begin, end) in parts.items()},
                **{f"{name}_cpu_s": end[1] - begin[1] for name, (begin, end) in parts.items()},
                "bytes": Path(path).stat().st_size,
            }
        )
    )


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        score_file(*sys.argv[2:])
