"""A user's scorer is read without being run: what it is, its hash, and everything that it may not be."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from iwreplay.app.scorer_file import ScorerFileError, load_scorer
from scorers import identity
from tests.scorers.own import written

SCORE = "def score(events, task):\n    return 1\n"


def test_what_is_known_of_it(tmp_path: Path) -> None:
    path = written(tmp_path, 'PARAMETERS = {"k": "v"}\nraise SystemExit("it is not run")\n' + SCORE, name="tidy")
    found = load_scorer(path)
    assert (found.name, found.version, found.params, found.path) == ("tidy", 1, {"k": "v"}, str(path))
    assert pickle.loads(pickle.dumps(found)) == found
    named = load_scorer(written(tmp_path, 'NAME: str = "other"\n' + SCORE, name="tidy"))
    assert named.name == "other"


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        ("VERSION = 1\n", "", "mine.py has no function score(events, task); it has no function"),
        ("VERSION = 1\n", "def scored(events, task):\n    return 1\n", "it has scored"),
        ("VERSION = 1\n", "async " + SCORE, "mine.py:2: score is async"),
        ("VERSION = 1\n", "def score(events):\n    return 1\n", "mine.py:2: score takes (events), and is called as"),
        ("VERSION = 1\n", "def score(a, b, c):\n    return 1\n", "mine.py:2: score takes (a, b, c)"),
        ("VERSION = 1\n", "def score(a, b, *, c):\n    return 1\n", "mine.py:2: score takes (a, b, *, c)"),
        ("", SCORE, "mine.py has no VERSION"),
        ('VERSION = "1"\n', SCORE, "mine.py:1: VERSION is '1'"),
        ("VERSION = True\n", SCORE, "mine.py:1: VERSION is True"),
        ("VERSION = 0\n", SCORE, "mine.py:1: VERSION is 0"),
        ("VERSION = max(1, 2)\n", SCORE, "mine.py:1: 'VERSION = max(1, 2)': VERSION is read without running"),
        ("VERSION = 1\nVERSION = 2\n", SCORE, "mine.py:2: 'VERSION = 2': VERSION is read without running"),
        ("VERSION = 1\nPARAMETERS = {'a': 1}\n", SCORE, "mine.py:2: PARAMETERS is {'a': 1}"),
        ("VERSION = 1\nPARAMETERS = 'a'\n", SCORE, "mine.py:2: PARAMETERS is 'a'"),
        ("VERSION = 1\nNAME = 'pass'\n", SCORE, "mine.py:2: a built-in scorer is called 'pass'"),
        ("VERSION = 1\nNAME = 'a@b'\n", SCORE, "mine.py:2: the metric's name is 'a@b'"),
        ("VERSION = 1\nNAME = 7\n", SCORE, "mine.py:2: the metric's name is 7"),
        ("VERSION = 1\n", "def score(events, task)\n", "mine.py:2: expected ':'"),
    ],
)
def test_what_is_no_scorer_is_refused_with_line_and_value(tmp_path: Path, head: str, body: str, said: str) -> None:
    with pytest.raises(ScorerFileError) as refused:
        load_scorer(written(tmp_path, body, head=head))
    assert said in str(refused.value)
    assert str(tmp_path / "mine.py") in str(refused.value)
    assert refused.value.exit_code == 2


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScorerFileError, match=r"none\.py can't be read: No such file"):
        load_scorer(tmp_path / "none.py")
    latin = tmp_path / "latin.py"
    latin.write_bytes(b"# \xe9\n")
    with pytest.raises(ScorerFileError, match=r"latin\.py is no text in UTF-8: byte 2 is 0xe9"):
        load_scorer(latin)
    (tmp_path / "big.py").write_text("#" * 1_000_001)
    with pytest.raises(ScorerFileError, match="has 1000001 bytes; a scorer may have 1000000"):
        load_scorer(tmp_path / "big.py")
    with pytest.raises(ScorerFileError, match="the metric's name is '2nd-try!'"):
        load_scorer(written(tmp_path, SCORE, name="2nd-try!"))


IMPURE = [
    ("import time\n", "2: imports time, which reads the clock"),
    ("from datetime import datetime\n", "2: imports datetime, which reads the clock"),
    ("import random\n", "2: imports random, which draws lots"),
    ("import os.path\n", "2: imports os.path, which reaches files or the system"),
    ("from pathlib import Path\n", "2: imports pathlib, which reaches files"),
    ("import urllib.request\n", "2: imports urllib.request, which reaches the network"),
    ("import subprocess\n", "2: imports subprocess, which starts processes"),
    ("import numpy as np\n", "2: imports numpy, which has sums that differ in the last bit"),
    ("import iwreplay\n", "2: imports iwreplay, which is neither"),
    ("from iwreplay.log import read_log\n", "2: imports iwreplay.log, which is neither"),
    ("import iwreplay.checks\nX = iwreplay.log.read_log\n", "3: uses iwreplay.log, which is not a module"),
    (
        "import somewhere\n",
        "2: imports somewhere, which is neither a module that a scorer may use nor a file beside it",
    ),
    ("from . import x\n", "2: imports from .: a scorer is no package"),
    ("from math import *\n", "2: imports * from math"),
    ("def f():\n    import secrets\n", "3: imports secrets, which draws lots"),
    ("from statistics import random\n", "2: uses statistics.random, the module random, which draws lots"),
    ("import statistics as s\nX = s.random.random()\n", "3: uses statistics.random, the module random"),
    ("import json\nX = json.load\n", "3: uses json.load, which reads files"),
    ("import decimal\nX = decimal.getcontext()\n", "3: uses decimal.getcontext, which changes how the whole process"),
    ("X = open('x').read()\n", "2: uses open, which opens files"),
    ("read = open\n", "2: uses open, which opens files"),
    ("def f(x):\n    print(x)\n", "3: uses print, which writes to the terminal"),
    ("X = [eval(x) for x in '12']\n", "2: uses eval, which runs text as code"),
    ("exec('x = 1')\n", "2: uses exec, which runs text as code"),
    ("X = __import__('os')\n", "2: uses __import__, which imports past this check"),
    ("X = input()\n", "2: uses input, which reads the terminal"),
    ("def f(x):\n    return hash(x) % 2\n", "3: uses hash, which gives another number"),
    ("def f(x):\n    return id(x) % 2\n", "3: uses id, which gives another number"),
    ("X = __builtins__\n", "2: uses __builtins__, which reaches past this check"),
    ("def f():\n    return f.__globals__\n", "3: uses __globals__, which reaches past this check"),
    ("N = 0\ndef f():\n    global N\n    N += 1\n", "4: global N: it would be kept from one episode to the next"),
    ("SEEN = []\ndef f(x):\n    SEEN.append(x)\n", "4: changes SEEN, which belongs to the module"),
    ("def f(x):\n    type(x).n = getattr(type(x), 'n', 0) + 1\n", "3: changes the class of something"),
    ("def f(x):\n    x.a.__class__.n = 1\n", "3: changes the class of something"),
    ("def f(x):\n    kind = type(x)\n    kind.seen.append(x)\n", "4: changes the class of something"),
    ("SEEN = {}\ndef f(x):\n    SEEN[x] = 1\n", "4: changes SEEN, which belongs to the module"),
    ("SEEN = {}\nf = lambda x: SEEN.setdefault(x, 1)\n", "3: changes SEEN, which belongs to the module"),
    ("SEEN = {'a': []}\ndef f(x):\n    SEEN['a'] += [x]\n", "4: changes SEEN, which belongs to the module"),
    ("SEEN = {}\ndef f(x):\n    (y, SEEN[x]) = 1, 2\n", "4: changes SEEN, which belongs to the module"),
    ("SEEN = {}\ndef f(x):\n    del SEEN[x]\n", "4: changes SEEN, which belongs to the module"),
    ("def f():\n    f.n = 1\n", "3: changes f, which belongs to the module"),
    ("def f(seen=[]):\n    return seen\n", "2: has the default [], which can change"),
    ("def f(*, seen=dict()):\n    return seen\n", "2: has the default dict(), which can change"),
    ("from itertools import count\nC = count()\ndef f():\n    return next(C)\n", "5: takes the next of C"),
]


@pytest.mark.parametrize(("body", "said"), IMPURE, ids=[said[:40] for _, said in IMPURE])
def test_what_reaches_outside_is_refused_with_its_line(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ScorerFileError) as refused:
        load_scorer(written(tmp_path, body + SCORE))
    assert f"mine.py:{said}" in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        "import math, json, functools\nfrom collections import Counter, defaultdict\nimport collections.abc\n",
        "from iwreplay import checks\nfrom iwreplay.world.state import fold\nimport scorers\nX = scorers.SCORERS\n",
        "import iwreplay.checks\nX = iwreplay.checks.evaluate_task\n",
        "TABLE = {}\nfor i in range(3):\n    TABLE[i] = i\n",
        "def f():\n    seen = []\n    seen.append(1)\n    for id, hash in seen:\n"
        "        seen[id] = hash\n    return seen\n",
        "LIMIT = 3\ndef f(LIMIT):\n    LIMIT = [LIMIT]\n    LIMIT.append(1)\n",
        "def open(x):\n    return x\nX = open(1)\n",
        "class C:\n    n = 0\n    def add(self, x):\n        self.n += x\n",
        "from re import sub\nimport operator\ndef f(x):\n    return operator.add(1, x), sub('a', 'b', x)\n",
    ],
)
def test_what_is_pure_is_let_through(tmp_path: Path, body: str) -> None:
    assert load_scorer(written(tmp_path, body + SCORE)).name == "mine"


def test_a_file_beside_it_is_read_the_same_way(tmp_path: Path) -> None:
    written(tmp_path, "def two():\n    import deeper\n    return deeper.X\n", name="counting")
    deeper = written(tmp_path, "X = 2\n", name="deeper")
    path = written(tmp_path, "from counting import two\n" + SCORE)
    before = load_scorer(path)
    assert set(before.sources) == {"", "counting", "deeper"}
    deeper.write_text("X = 3\n")
    assert load_scorer(path).hash != before.hash
    deeper.write_text("import os\n")
    with pytest.raises(ScorerFileError, match=r"deeper\.py:1: imports os"):
        load_scorer(path)
    written(tmp_path, "", name="json")
    with pytest.raises(ScorerFileError, match=r"mine\.py:2: imports json, which is a module of Python, and .*json\.py"):
        load_scorer(written(tmp_path, "import json\n" + SCORE))
    with pytest.raises(ScorerFileError, match="imports mine, which is the scorer itself"):
        load_scorer(written(tmp_path, "import mine\n" + SCORE))


def test_what_a_file_beside_it_has_is_not_changed_either(tmp_path: Path) -> None:
    written(tmp_path, "SEEN = set()\ndef add(x):\n    return x + 1\n", name="beside")
    assert load_scorer(written(tmp_path, "import beside\ndef score(events, task):\n    return beside.add(1)\n"))
    for way in ("import beside\n{}    beside.SEEN.add(1)\n", "from beside import SEEN\n{}    SEEN.add(1)\n",
                "import beside\n{}    beside.SEEN = 1\n"):  # fmt: skip
        with pytest.raises(ScorerFileError, match=r"mine\.py:4: changes (beside|SEEN), which belongs to the module"):
            load_scorer(written(tmp_path, way.format("def score(events, task):\n")))


def test_the_hash_follows_what_decides_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_scorer(written(tmp_path, SCORE))
    assert load_scorer(written(tmp_path, SCORE)).hash == first.hash
    (tmp_path / "elsewhere").mkdir()
    assert load_scorer(written(tmp_path / "elsewhere", SCORE)).hash == first.hash
    assert load_scorer(written(tmp_path, SCORE.replace("\n", "\r\n"), head="VERSION = 1\r\n")).hash == first.hash
    others = [
        written(tmp_path, SCORE.replace("1", "2"), name="mine"),
        written(tmp_path, SCORE, head="VERSION = 2\n", name="mine"),
    ]
    hashes = {load_scorer(p).hash for p in others} | {load_scorer(written(tmp_path, SCORE, name="other")).hash}
    assert len(hashes | {first.hash}) == len(hashes) + 1
    plain, checks = SCORE, "from iwreplay.checks import evaluate_task\n" + SCORE
    before = [load_scorer(written(tmp_path, text)).hash for text in (plain, checks)]
    real = identity._source
    monkeypatch.setattr(
        identity, "_source", lambda m: real(m) + ("\n# changed\n" if m == "iwreplay.world.relations" else "")
    )
    # both rest on the checks: they decide whether a log can be scored at all
    after = [load_scorer(written(tmp_path, text)).hash for text in (plain, checks)]
    assert all(a != b for a, b in zip(before, after, strict=True))
