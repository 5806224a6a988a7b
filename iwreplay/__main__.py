"""The entry point of the command line, and of `python -m iwreplay`. It imports nothing that takes time before it
listens to Ctrl-C."""

from __future__ import annotations

import os
import signal
from types import FrameType

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Runs the command line. Ctrl-C while it is imported, and after it is done, leaves at once with exit code 130."""
    # a shell that starts a program in the background may have it ignore Ctrl-C: then so it stays
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        _command_line()
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        _command_line()
    finally:
        signal.signal(signal.SIGINT, _leave)


def _command_line() -> None:
    from iwreplay.cli.main import main as command_line

    command_line()


def _leave(number: int, frame: FrameType | None) -> None:
    """An exception would be lost, or become another one, in the middle of an import or of the end of Python."""
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
