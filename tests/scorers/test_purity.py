"""Scorers and checks touch nothing outside their arguments: proved by running them where they can't."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from iwreplay.taskpack.model import Gate, Objective, Point
from scorers import SCORERS, modules_of, score_all
from tests.checks.worlds import Story, task

_RUNNER = """
import builtins, os, random, socket, sys, time, uuid
import msgspec
from iwreplay.events import AnyEvent
import scorers
from iwreplay.checks import evaluate_task

events = msgspec.json.decode(sys.stdin.buffer.read(), type=list[AnyEvent])
write = sys.stdout.write

class Touched(BaseException):
    pass

def refuse(name):
    def call(*args, **kwargs):
        raise Touched(name)
    return call

ALLOWED = {"object.__getattr__", "code.__new__", "sys._getframe", "builtins.id"}
def hook(event, args):
    if event not in ALLOWED:
        raise Touched(event)

for module, names in (
    (time, ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
            "localtime", "gmtime", "sleep")),
    (random, ("random", "randint", "randrange", "choice", "shuffle", "seed", "getrandbits", "uniform")),
    (os, ("urandom", "getenv", "stat", "listdir", "getpid", "open", "getcwd")),
    (socket, ("socket", "create_connection", "getaddrinfo", "gethostname")),
    (uuid, ("uuid1", "uuid4")),
    (builtins, ("open", "input", "print", "__import__")),
):
    for name in names:
        setattr(module, name, refuse(f"{module.__name__}.{name}"))

class NoEnviron:
    def __getattr__(self, name):
        raise Touched("os.environ")
    def __getitem__(self, name):
        raise Touched("os.environ")
    def __iter__(self):
        raise Touched("os.environ")
    def __contains__(self, name):
        raise Touched("os.environ")

os.environ = NoEnviron()
if PROVOKE:
    SABOTAGE
sys.addaudithook(hook)
results = scorers.score_all(events)
evaluation = evaluate_task(events)
write(msgspec.json.encode([results, evaluation]).decode())
"""


def _events() -> list[Any]:
    pack = task(
        objectives=(
            Objective(id="clean", text="", formula=["attr", "mug_1", "clean", True]),
            Objective(id="near", text="", formula=["rel", "near", "mug_1", "mug_2"]),
            Objective(id="on", text="", formula=["bag", ["in", "ontop", "table_1"], "class", ["mug"]]),
        ),
        gates=(
            Gate(id="g", text="", formula=["gate", ["event", {"verb": "wash"}], ["rel", "inside", "mug_1", "box_1"]]),
        ),
        keeps=(
            Gate(id="k", text="", formula=["hist", ["implies", ["held", "mug_1"], ["ever", ["baseline", "mug_2"]]]]),
        ),
        points=(Point(id="p", capability="C1", text="", formula=["once", ["event", {"verb": "wash"}]]),),
    )
    s = Story(pack)
    s.warmup()
    s.live()
    s.say("wash it")
    s.do("wash", obj="mug_1")
    s.set("mug_1", "clean", True)
    s.move("mug_1", 0.3, 0.1, 0.8)
    s.periodic()
    s.end()
    return s.events


def _run(events: list[Any], *, sabotage: str = "") -> subprocess.CompletedProcess[bytes]:
    code = _RUNNER.replace("SABOTAGE", sabotage or "pass").replace("PROVOKE", str(bool(sabotage)))
    return subprocess.run(
        [sys.executable, "-c", code], input=msgspec.json.encode(events), capture_output=True, timeout=120, check=False
    )


def test_scorers_run_without_files_clock_network_chance_and_environment() -> None:
    events = _events()
    done = _run(events)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    expected = json.loads(msgspec.json.encode(score_all(events)))
    assert json.loads(done.stdout)[0] == expected
    assert expected[0]["type"] == "score"


def test_the_proof_would_notice() -> None:
    """Each way out, opened on purpose inside a check, ends the run."""
    for way, call in {
        "open": "open('x')",
        "time.time": "time.time()",
        "random.random": "random.random()",
        "os.environ": "os.environ['HOME']",
        "socket": "socket.socket()",
    }.items():
        sabotage = f"scorers.registry.SCORERS[0].judge.__globals__['Score'] = lambda **k: {call}"
        done = _run(_events(), sabotage=sabotage)
        assert done.returncode != 0
        assert way in done.stderr.decode(), done.stderr.decode()[-500:]


_ALLOWED = {"__future__", "ast", "collections", "dataclasses", "enum", "functools", "hashlib", "heapq", "importlib",
            "itertools", "math", "msgspec", "re", "typing", "iwreplay", "scorers"}  # fmt: skip


def test_what_judges_imports_nothing_that_could_reach_outside() -> None:
    names = {m for s in SCORERS for m in modules_of(s)} | {"scorers.identity", "scorers.aggregate", "scorers.registry"}
    assert len(names) > 25
    for name in sorted(names):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        for node in ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
            imported: list[str] = []
            if isinstance(node, ast.Import):
                imported = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [node.module or ""]
            for module in imported:
                assert module.split(".")[0] in _ALLOWED, f"{name} imports {module}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("open", "input", "print", "exec", "eval", "__import__"), (
                    f"{name}: {node.func.id}"
                )


def test_events_are_not_changed_by_scoring_them() -> None:
    events = _events()
    before = msgspec.json.encode(events)
    first = score_all(events)
    assert msgspec.json.encode(events) == before
    assert score_all(events) == first
