"""Episodes are independent: one after the other in this process, or a few at a time in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event
from types import FrameType, TracebackType
from typing import Any, TypeVar

from iwreplay.errors import WorkerError

__all__ = ["Workers", "each", "in_order", "threads_for", "was_stopped"]

#: when this process is killed, what it held is taken away by a helper of Python's, which would complain of it
_QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"
#: results for each job that are worked out before they are asked for
_AHEAD = 3

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    jobs: int,
    progress: Callable[[int, int], None],
    enough: Callable[[Result], bool] = lambda result: False,
) -> Iterator[Result]:
    """`work` of every item, in the order of the items. `work` and what goes through it must pickle when `jobs` > 1.

    After a result that is `enough`, no other item is begun. Ctrl-C raises KeyboardInterrupt. With several jobs each
    worker gets the signal too: what they are at is waited for, and the results that there are come first. WorkerError
    when a worker process dies. When this process dies, its workers do too, in the middle of what they are at.
    """
    progress(0, len(items))
    if jobs <= 1 or len(items) <= 1:
        for n, item in enumerate(items, start=1):
            result = work(item)
            progress(n, len(items))
            yield result
            if enough(result):
                return
        return
    with Workers(min(jobs, len(items))) as workers:
        futures = workers.submit(work, *items)
        interrupted = stopped = False
        try:
            for n, future in enumerate(as_completed(futures), start=1):
                progress(n, len(items))
                if future.exception() is None and enough(future.result()):
                    stopped = True
                    break
        except KeyboardInterrupt:
            interrupted = stopped = True
        if stopped:
            workers.stop()
        for future in futures:
            if not (stopped and was_stopped(future)):
                yield _result(future)
        if interrupted:
            raise KeyboardInterrupt


def in_order(work: Callable[[Item], Result], items: Sequence[Item], *, jobs: int) -> Iterator[Result]:
    """`work` of every item, in the order of the items, each as soon as it is there: at most a few results for each job
    wait to be taken. Otherwise as `each`, but that Ctrl-C loses what has not been taken."""
    if jobs <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    with Workers(min(jobs, len(items))) as workers:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            if len(waiting) >= _AHEAD * jobs:
                yield _result(waiting.popleft())
            waiting += workers.submit(work, item)
        while waiting:
            yield _result(waiting.popleft())


class Workers:
    """Processes that work for this one. A context: when it is left, what has not begun is dropped, because what raised
    is more urgent; what has begun is waited for."""

    def __init__(self, jobs: int) -> None:
        if _QUIET not in sys.warnoptions:
            # the helper is started with the options of this process
            sys.warnoptions.append(_QUIET)
        context = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_be_a_worker, initargs=(self._stop,))

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def submit(self, work: Callable[[Item], Result], *items: Item) -> list[Future[Result]]:
        """Work on each item, which is begun when a process is free. A process that dies takes all of them with it:
        BrokenProcessPool is what their futures then have, and these workers are of no more use."""
        with _born_deaf():
            return [self._pool.submit(partial(_interruptibly, work), item) for item in items]

    def stop(self) -> None:
        """Returns when what was begun is done; nothing more is begun."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)


def threads_for(jobs: int) -> int:
    """Threads that one of `jobs` workers may use for drawing; the pixels are the same for any number."""
    return max(1, (os.cpu_count() or 1) // max(1, jobs))


def _result(future: Future[Result]) -> Result:
    try:
        return future.result()
    except BrokenProcessPool as e:
        raise WorkerError(
            "a worker process was killed, or ran out of memory; what was finished is kept. "
            "Run the rest again, with fewer --jobs when memory is short"
        ) from e


def was_stopped(future: Future[Result]) -> bool:
    """Whether there is no result because of Ctrl-C."""
    return future.cancelled() or isinstance(future.exception(), KeyboardInterrupt | BrokenProcessPool)


@contextmanager
def _born_deaf() -> Iterator[None]:
    """Processes started within don't hear Ctrl-C from their first instruction: a worker that dies while it starts would
    take the whole pool with it. One that comes meanwhile reaches this process afterwards, and they hear of it once
    they are ready. (Only the main thread may change what a signal does; elsewhere nothing is changed.)"""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    # not held back only: threads of libraries take signals too, and Python hands them to this one
    handler = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    held_back: Any = None
    if hasattr(signal, "pthread_sigmask"):
        # started within, it would let the signal through again
        resource_tracker.ensure_running()
        held_back = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if held_back is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, held_back)
        signal.signal(signal.SIGINT, handler)
    if pressed:
        signal.raise_signal(signal.SIGINT)


class _Worker:
    """What a worker process knows of the one that started it, and of the terminal."""

    #: set once nothing more is to begin: a pool hands out work before it is needed, and can't take it back
    stop: Event | None = None
    #: Ctrl-C came while it was not at work: what it is given now is stopped before it begins
    pressed = False


def _be_a_worker(stop: Event) -> None:
    signal.signal(signal.SIGINT, _remember)
    if hasattr(signal, "pthread_sigmask"):
        # born with it held back: one that came until now is delivered here
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _Worker.stop = stop
    threading.Thread(target=_die_with_parent, name="die-with-parent", daemon=True).start()


def _remember(number: int, frame: FrameType | None) -> None:
    _Worker.pressed = True


def _die_with_parent() -> None:
    """Ends this worker at once when the process that started it is gone, however that came about: it would finish what
    was handed out, and then wait for ever for more, because it holds both ends of the queue itself."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker was started by another process"
    wait([parent.sentinel])
    os._exit(1)


def _interruptibly(work: Callable[[Item], Result], item: Item) -> Result:
    """Runs in a worker, which listens to Ctrl-C only while it works."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if _Worker.pressed or (_Worker.stop is not None and _Worker.stop.is_set()):
            raise KeyboardInterrupt
        return work(item)
    finally:
        signal.signal(signal.SIGINT, _remember)
