"""Ctrl-C in the middle of things: a documented exit code, no traceback, and nothing that is no answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from iwreplay.app.pool import each
from iwreplay.errors import WorkerError
from iwreplay.store import Store
from tests.cli.conftest import Run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
ROOT = Path(__file__).parents[2]


def nap(item: float) -> float:
    """Work of a pool: sleeps, and gives back how long."""
    time.sleep(item)
    return item


def die(item: float) -> float:
    """Work that kills its process."""
    os._exit(9)


def nothing(done: int, of: int) -> None:
    """No progress bar."""


@contextmanager
def ctrl_c(*, after_s: float) -> Iterator[None]:
    """Ctrl-C in this process, after a while."""
    timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def pressed(code: str, *, when: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process group of its own and sends Ctrl-C to all of it once it has printed `when`."""
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout is not None
    seen = ""
    while when not in seen:
        line = child.stdout.readline()
        assert line, "ended before Ctrl-C"
        seen += line
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    return subprocess.CompletedProcess(code, child.returncode, seen + out, err)


def test_the_results_so_far_come_before_the_interrupt() -> None:
    def press(done: int, of: int) -> None:
        if done == 1:
            os.kill(os.getpid(), signal.SIGINT)

    results = each(nap, [0.01, *[0.5] * 40], jobs=2, progress=press)
    assert next(results) == 0.01
    with pytest.raises(KeyboardInterrupt):
        # a pool takes a few more than it has workers
        deque(islice(results, 10))


@pytest.mark.parametrize("when", ["0 of 9", "1 of 9"], ids=["while workers start", "while they work"])
def test_ctrl_c_on_the_terminal_reaches_the_workers_and_breaks_no_pool(when: str) -> None:
    started = time.monotonic()
    done = pressed(
        "from iwreplay.app.pool import each\n"
        "from tests.cli.test_interrupts import nap\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        "        tell = lambda done, of: print(done, 'of', of, flush=True)\n"
        "        for result in each(nap, [0.01] + [30.0] * 8, jobs=2, progress=tell):\n"
        "            print('got', result)\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted')\n",
        when=when,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("interrupted\n")
    assert "got 30.0" not in done.stdout
    assert "Traceback" not in done.stderr
    assert time.monotonic() - started < 25


def test_a_worker_that_dies_is_an_error_of_one_line() -> None:
    with pytest.raises(WorkerError, match="a worker process was killed, or ran out of memory"):
        list(each(die, [1.0, 2.0], jobs=2, progress=nothing))


def test_an_endless_question_is_stopped(run: Run, store: Store) -> None:
    run("query", "SELECT 1", "--store", store.root)
    with ctrl_c(after_s=1.5):
        started = time.monotonic()
        done = run("query", ENDLESS, "--store", store.root)
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")
    assert time.monotonic() - started < 15


def test_a_long_question_draws_nothing_on_stdout(store: Store) -> None:
    """DuckDB draws a bar for what takes more than two seconds, on the descriptor itself."""
    code = (
        "import sys\n"
        f"sys.argv = ['iwreplay', 'query', {ENDLESS!r}, '--store', {str(store.root)!r}]\n"
        "import os, signal, threading\n"
        "threading.Timer(5.0, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "from iwreplay.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
