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

from iwreplay.app.pool import _born_deaf, each
from iwreplay.cli.interrupts import CtrlC, Pressed
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


def told_while(last_import: str, *args: object) -> tuple[int, str]:
    """(exit code, stderr) of the command line when Ctrl-C comes as soon as that module is imported."""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "iwreplay", *map(str, args)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stderr is not None
        said = ""
        for line in child.stderr:
            if not line.startswith("import time:"):
                said += line
            elif line.split("|")[-1].strip() == last_import:
                break
        else:
            pytest.fail(f"{last_import} was not imported: {said}")
        child.send_signal(signal.SIGINT)
        said += "".join(line for line in child.stderr if not line.startswith("import time:"))
        return child.wait(timeout=60), said


@pytest.mark.parametrize(
    "last_import",
    ["typer._click", "typer", "iwreplay.cli.query", "pyarrow.lib", "numba.core.types", "numba", "mujoco"],
)
def test_ctrl_c_during_any_import_is_quiet(last_import: str) -> None:
    code, said = told_while(last_import, "replay", ROOT / "episodes" / "samples" / "V06-silent.arrows")
    assert code == 130
    assert said in ("", "interrupted\n")


@pytest.mark.parametrize("delay_s", [0.15, 0.25, 0.4, 0.7, 1.2, 2.0, 3.0])
def test_ctrl_c_is_quiet_whenever_it_comes(delay_s: float) -> None:
    # the first line says that Python has come as far as the entry point
    code = "import iwreplay.__main__ as m; print(flush=True); m.main()"
    # all of them: a single one can be done before the last delay is over
    samples = sorted((ROOT / "episodes" / "samples").glob("*.arrows"))
    child = subprocess.Popen(
        [sys.executable, "-c", code, "replay", *map(str, samples)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    # after the handler is there; a signal before that is Python's own affair
    time.sleep(delay_s)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, err) in ((130, ""), (130, "interrupted\n")), out


class Closing:
    """Something whose finalizer is at work when Ctrl-C is pressed."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)


def test_ctrl_c_in_a_finalizer_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        thing = Closing()
        del thing
        for _ in range(500):
            time.sleep(0.01)

    with CtrlC(), pytest.raises(Pressed):
        work()
    assert capsys.readouterr().err == "", "nobody is told of an exception that was ignored"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_a_library_made_another_error_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*args: object, **options: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt as e:
            raise ImportError("the C extension could not be initialised") from e

    monkeypatch.setattr("iwreplay.app.scenes.list_scenes", load)
    assert run("scene", "list") == (130, "", "interrupted\n")


def test_other_errors_are_not_taken_for_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise ImportError("no")

    monkeypatch.setattr("iwreplay.app.scenes.list_scenes", load)
    with pytest.raises(ImportError):
        run("scene", "list")


def test_ctrl_c_while_workers_start_reaches_this_process_afterwards() -> None:
    started = []

    def start() -> None:
        with _born_deaf():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            started.append("went on")
        time.sleep(1)
        started.append("was not told")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert started == ["went on"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
