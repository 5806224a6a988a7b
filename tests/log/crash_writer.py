"""Recorders to be killed: ``python -m tests.log.crash_writer``.

Reads lines ``PATH SEED open|seal``. For each it forks a recorder that appends events in groups of random size and
prints the number of acknowledged events after each commit, and ``sealed`` after a seal; the parent first prints
``pid N`` and, once that recorder is gone, ``gone``. One process serves many recorders, so that imports are paid once.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from random import Random

from iwreplay.log import LogWriter
from tests.log.samples import long_episode

EVENTS = long_episode(400)
#: how long a recorder that is done waits for its killer
_WAITS_S = 30.0


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def record(path: str, seed: str, then: str) -> None:
    random = Random(int(seed))
    with LogWriter.create(Path(path)) as log:
        for event in EVENTS:
            log.append(event)
            if random.random() < 0.2:
                log.commit()
                say(str(log.committed))
        if then == "seal":
            log.commit()
            say(str(log.committed))
            log.seal()
            say("sealed")


def main() -> None:
    say("ready")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            record(*line.split())
            # done sooner than its killer came: it stays to be killed, or the kill would find nobody
            time.sleep(_WAITS_S)
            os._exit(0)
        say(f"pid {pid}")
        os.waitpid(pid, 0)
        say("gone")


if __name__ == "__main__":
    main()
