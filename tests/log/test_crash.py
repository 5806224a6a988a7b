"""A writer that is killed, refused by the disk or by another writer loses nothing that it acknowledged."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType

import pytest

from iwreplay.errors import LogLockedError, LogWriteError
from iwreplay.log import LogWriter, check, read_log, recover, seal, writer
from iwreplay.log.files import AppendFile, WritableFile, WriterLock
from iwreplay.log.sealing import compact
from tests.log.samples import long_episode, write

EVENTS = long_episode(400)
ROOT = Path(__file__).parents[2]


class Recorders:
    """Starts recorders one after another, kills each after a while, and gives what it had said."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.log.crash_writer"]
        self.server = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.server.stdout is not None
        return self.server.stdout.readline().strip()

    def run(self, path: Path, seed: int, *, then: str, kill_after_s: float) -> list[str]:
        assert self.server.stdin is not None
        self.server.stdin.write(f"{path} {seed} {then}\n")
        said: list[str] = []
        while not (line := self._line()).startswith("pid "):
            said.append(line)
        time.sleep(kill_after_s)
        os.kill(int(line.removeprefix("pid ")), signal.SIGKILL)
        while (line := self._line()) != "gone":
            said.append(line)
        return said

    def close(self) -> None:
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()


@pytest.fixture(scope="module")
def recorders() -> Iterator[Recorders]:
    if os.name != "posix":
        pytest.skip("kill -9 is a POSIX signal")
    served = Recorders()
    yield served
    served.close()


def kill_storm(recorders: Recorders, folder: Path, *, kills: int, then: str, window_s: float) -> set[str]:
    """Kills recorders at random moments; gives the states in which their logs were found."""
    random = Random(11)
    states: set[str] = set()
    for n in range(kills):
        path = folder / f"{n}" / "log.arrows"
        path.parent.mkdir(parents=True)
        said = recorders.run(path, n, then=then, kill_after_s=random.uniform(0.0, window_s))
        acknowledged = max((int(x) for x in said if x.isdecimal()), default=0)
        if not path.exists():
            assert not said
            continue
        found = check(path)
        states.add(found.state)
        assert found.state in ("open", "truncated", "sealed"), (n, found)
        assert (found.state == "sealed") >= ("sealed" in said), n
        assert found.events >= acknowledged, (n, found, acknowledged)
        with read_log(path, strict=False) as log:
            assert [e for _, e in log] == EVENTS[: found.events], n
        # what is left can be made whole: the lock died with its holder
        if found.state == "open":
            assert seal(path).root_hash == found.root_hash
        elif found.state == "truncated" and found.events:
            assert recover(path, path.with_name("out.arrows")).check.events == found.events
        shutil.rmtree(path.parent)
    return states


def test_a_killed_writer_loses_no_acknowledged_event(recorders: Recorders, tmp_path: Path) -> None:
    assert "open" in kill_storm(recorders, tmp_path, kills=15, then="open", window_s=0.1)


def test_a_writer_killed_while_sealing_leaves_the_open_or_the_sealed_log(recorders: Recorders, tmp_path: Path) -> None:
    kill_storm(recorders, tmp_path, kills=10, then="seal", window_s=0.15)


@pytest.mark.slow
def test_a_storm_of_kills(recorders: Recorders, tmp_path: Path) -> None:
    kill_storm(recorders, tmp_path / "a", kills=100, then="open", window_s=0.1)
    kill_storm(recorders, tmp_path / "b", kills=100, then="seal", window_s=0.2)


class Failing:
    """A file on which the n-th operation fails, part of a write having gone through."""

    def __init__(self, path: Path, *, fail: str, at: int, cut_fails: bool = False) -> None:
        self.real = AppendFile(path)
        self.fail, self.at, self.cut_fails, self.calls = fail, at, cut_fails, 0

    def _maybe(self, name: str) -> bool:
        if name == self.fail:
            self.calls += 1
        return name == self.fail and self.calls == self.at

    def write(self, data: bytes | memoryview) -> None:
        if self._maybe("write"):
            self.real.write(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        self.real.write(data)

    def sync(self) -> None:
        if self._maybe("sync"):
            raise OSError(errno.EIO, "Input/output error")
        self.real.sync()

    def truncate(self, size: int) -> None:
        if self.cut_fails:
            raise OSError(errno.EIO, "Input/output error")
        self.real.truncate(size)

    def close(self) -> None:
        self.real.close()


def record(log: LogWriter) -> None:
    """Appends every event, in groups of ten."""
    for i, event in enumerate(EVENTS):
        log.append(event)
        if i % 10 == 9:
            log.commit()


@pytest.mark.parametrize("fail", ["write", "sync"])
@pytest.mark.parametrize("cut_fails", [False, True])
def test_a_failing_disk_ends_the_writer_and_keeps_what_was_acknowledged(
    tmp_path: Path, fail: str, cut_fails: bool
) -> None:
    path = tmp_path / "log.arrows"

    def failing(p: Path) -> WritableFile:
        return Failing(p, fail=fail, at=4, cut_fails=cut_fails)

    log = LogWriter.create(path, open_file=failing)
    with pytest.raises(LogWriteError, match=r"20 events are safe: .*(No space left|Input/output)"):
        record(log)
    assert log.committed == 20
    for use in (lambda: log.append(EVENTS[30]), log.commit, log.seal):
        with pytest.raises(LogWriteError, match="takes no more events since a write failed"):
            use()
    log.close()
    found = check(path)
    cut = fail == "write" and cut_fails
    assert found.state == ("truncated" if cut else "open")
    assert found.events >= 20
    assert cut or found.events == 20 or (fail == "sync" and cut_fails)
    with read_log(path, strict=False) as reader:
        assert [e for _, e in reader] == EVENTS[: found.events]


def test_an_interrupt_within_a_write_tears_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"

    class Interrupted(AppendFile):
        writes = 0

        def write(self, data: bytes | memoryview) -> None:
            self.writes += 1
            if self.writes == 4:
                super().write(data[: len(data) // 2])
                raise KeyboardInterrupt
            super().write(data)

    with pytest.raises(KeyboardInterrupt), LogWriter.create(path, open_file=Interrupted) as log:
        record(log)
    found = check(path)
    assert (found.state, found.events) == ("open", 30)


class Interruption:
    """Ctrl-C at the n-th step of the writer's own code, once; counts the steps until then."""

    def __init__(self, at: int | None) -> None:
        self.at, self.steps = at, 0

    def __call__(self, frame: FrameType, what: str, _: object) -> Interruption | None:
        if frame.f_code.co_filename != writer.__file__:
            return None
        frame.f_trace_opcodes = True
        if what == "opcode":
            self.steps += 1
            if self.steps == self.at:
                raise KeyboardInterrupt
        return self

    def run(self, work: Callable[[], object]) -> bool:
        """True when the work was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


def record_interrupted(path: Path, interruption: Interruption) -> int | None:
    """Records 12 events in groups of four and goes on after an interrupt; gives the event that was being appended."""
    hit: int | None = None
    with LogWriter.create(path) as log:
        for i, event in enumerate(EVENTS[:12]):
            if interruption.run(partial(log.append, event)):
                hit = i
            if i % 4 == 3:
                interruption.run(log.commit)
        log.commit()
    return hit


def test_an_interrupt_at_any_moment_loses_at_most_its_event_and_repeats_none(tmp_path: Path) -> None:
    whole = Interruption(None)
    record_interrupted(tmp_path / "whole.arrows", whole)
    assert whole.steps > 1000
    for n in sorted(Random(8).sample(range(1, whole.steps + 1), 150)):
        path = tmp_path / f"{n}.arrows"
        hit = record_interrupted(path, Interruption(n))
        found = check(path)
        assert (found.state, found.problem) == ("open", None), n
        with read_log(path) as reader:
            events = [e for _, e in reader]
        without = [e for i, e in enumerate(EVENTS[:12]) if i != hit]
        assert events in (EVENTS[:12], without), n


def test_a_log_that_cannot_even_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    with pytest.raises(LogWriteError, match="0 events are safe"):
        LogWriter.create(path, open_file=lambda p: Failing(p, fail="write", at=1))
    assert list(tmp_path.iterdir()) == []
    LogWriter.create(path).close()
    with pytest.raises(LogWriteError, match=r"there is no folder .*/no/such/folder"):
        LogWriter.create(tmp_path / "no" / "such" / "folder" / "log.arrows")


# the writes of a seal of one batch: schema, batch, seal, end of stream, trailer; then one sync
@pytest.mark.parametrize(("fail", "at"), [*(("write", n) for n in range(1, 6)), ("sync", 1)])
def test_a_seal_that_the_disk_refuses_leaves_the_open_log(tmp_path: Path, fail: str, at: int) -> None:
    path = tmp_path / "log.arrows"
    root = write(path, EVENTS[:50])
    before = path.read_bytes()
    with pytest.raises(LogWriteError, match="the open log is intact"):
        compact(path, recovered=None, open_file=lambda p: Failing(p, fail=fail, at=at))
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.arrows", "log.arrows.lock"]
    assert seal(path).root_hash == root


def test_a_stale_file_of_a_killed_seal_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    root = write(path, EVENTS[:50])
    (tmp_path / "log.arrows.sealing").write_bytes(b"half")
    assert seal(path).root_hash == root
    assert [p.name for p in tmp_path.iterdir()] == ["log.arrows"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    mount = shutil.which("mount")
    if sys.platform != "linux" or os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small file system, and only Linux has tmpfs")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip(f"this system lets nobody mount a tmpfs: {made.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_fills_up(small_disk: Path) -> None:
    path = small_disk / "log.arrows"
    log = LogWriter.create(path)
    with pytest.raises(LogWriteError, match="No space left on device"):
        record(log)
    log.close()
    found = check(path)
    assert (found.state, found.events) == ("open", log.committed)
    assert found.events > 50
    with pytest.raises(LogWriteError, match="the open log is intact"):
        seal(path)
    assert check(path).root_hash == found.root_hash
    subprocess.run(["mount", "-o", "remount,size=2m", str(small_disk)], check=True)
    assert seal(path).root_hash == found.root_hash


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    with LogWriter.create(path) as log:
        with pytest.raises(LogLockedError, match="another process is writing"):
            LogWriter.create(path)
        log.append(EVENTS[0])
        log.commit()
        assert check(path).events == 1
    with pytest.raises(LogWriteError, match="exists"):
        LogWriter.create(path)


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is a POSIX signal")
def test_a_second_process_is_refused_until_the_first_dies(tmp_path: Path) -> None:
    path = tmp_path / "log.arrows"
    code = (
        "import sys, time; from iwreplay.log import LogWriter; log = LogWriter.create(sys.argv[1]); "
        "print('up', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    for use in (LogWriter.create, seal):
        with pytest.raises(LogLockedError):
            use(path)
    child.kill()
    child.stdout.close()
    child.wait()
    assert seal(path).state == "sealed"
    assert not WriterLock(path).path.exists()
