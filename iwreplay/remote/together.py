"""Many transfers at a time, in threads that Ctrl-C does not wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

__all__ = ["together"]

Item = TypeVar("Item")
Result = TypeVar("Result")

#: transfers at a time: most of one is waiting
_THREADS = 8
#: how often the waiting thread looks up, and how long threads are given to stop after Ctrl-C, seconds
_LOOK_UP_S, _STOP_S = 0.2, 2.0


def together(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    stopped: threading.Event,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Result, ...]:
    """`work` of every item, in their order. What one raises is raised here, once the others have stopped: `stopped` is
    set, which `work` looks at. Ctrl-C too stops them, and is waited for two seconds at most."""
    progress(0, len(items))
    todo: SimpleQueue[int] = SimpleQueue()
    for n in range(len(items)):
        todo.put(n)
    results: dict[int, Result] = {}
    raised: list[BaseException] = []
    # not Thread.join: an interrupted one takes the thread for ended before Python 3.13
    ended = [threading.Event() for _ in range(min(_THREADS, len(items)))]

    def run(over: threading.Event) -> None:
        try:
            while not stopped.is_set():
                n = todo.get_nowait()
                results[n] = work(items[n])
        except Empty:
            pass
        except BaseException as e:  # noqa: BLE001 - raised below, in the thread that asked
            raised.append(e)
            stopped.set()
        finally:
            over.set()

    for over in ended:
        threading.Thread(target=run, args=(over,), name="transfer", daemon=True).start()
    try:
        for over in ended:
            while not over.wait(_LOOK_UP_S):
                progress(len(results), len(items))
    except KeyboardInterrupt:
        stopped.set()
        for over in ended:
            over.wait(_STOP_S / len(ended))
        raise
    if raised:
        raise raised[0]
    progress(len(items), len(items))
    return tuple(results[n] for n in range(len(items)))
