"""A person's terminal: `iwreplay` on a pseudo-terminal, typed at when it asks."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

__all__ = ["Playing"]

ROOT = Path(__file__).parents[2]
#: colours, moves of the cursor, and what else steers a terminal
_STEERING = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>])")
_FORWARD = re.compile(r"\x1b\[([0-9]*)C")
#: how a prompt begins: from now on, what is pasted is told from what is typed
_PASTING = "\x1b[?2004h"
_WITHIN_S = 120.0


class Playing:
    """One running command. `stdout` gets what is printed in the end; the terminal has stdin and stderr."""

    def __init__(self, *args: object, columns: int = 100, lines: int = 40, code: str = "", **env: str) -> None:
        """code: runs this in place of the entry point."""
        self._leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "TMUX", "NO_COLOR")}
        # nobody answers where the cursor is
        asked = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONPATH": str(ROOT), **env}
        self._process = subprocess.Popen(
            [sys.executable, *(["-c", code] if code else ["-m", "iwreplay"]), *map(str, args)],
            env={**kept, **asked},
            stdin=follower,
            stdout=subprocess.PIPE,
            stderr=follower,
            text=True,
        )
        os.close(follower)
        self.raw = ""
        self._answered = 0

    def __enter__(self) -> Playing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        os.close(self._leader)

    @property
    def text(self) -> str:
        """All that was on the terminal, without what steers it."""
        spaced = _FORWARD.sub(lambda m: " " * int(m[1] or 1), self.raw)
        return _STEERING.sub("", spaced).replace("\r", "")

    def until(self, words: str) -> None:
        """Waits for words to come on the terminal."""
        self._wait(lambda: words in self.text, repr(words))

    def asked(self) -> None:
        """Waits until the next line is asked for."""
        self._answered += 1
        self._wait(lambda: self.raw.count(_PASTING) >= self._answered, "a prompt")

    def types(self, keys: str) -> None:
        os.write(self._leader, keys.encode())

    def says(self, *lines: str) -> None:
        """Types lines, each when it is asked for."""
        for line in lines:
            self.asked()
            self.types(f"{line}\r")

    def _wait(self, come: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _WITHIN_S
        while not come():
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{what} never came; there is:\n{self.text}")

    def ends(self) -> tuple[int, str]:
        """Exit code, and what was printed on stdout."""
        end = time.monotonic() + _WITHIN_S
        while self._read(end - time.monotonic()):
            pass
        out, _ = self._process.communicate(timeout=_WITHIN_S)
        return self._process.returncode, out

    def _read(self, within_s: float) -> bool:
        ready, _, _ = select.select([self._leader], [], [], max(0.0, within_s))
        if not ready:
            return False
        try:
            piece = os.read(self._leader, 65536)
        except OSError:
            # the command has closed its end
            return False
        self.raw += piece.decode(errors="replace")
        return bool(piece)
