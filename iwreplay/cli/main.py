"""`iwreplay`: the command tree, and what becomes of an error."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from iwreplay.cli import (
    annotate,
    audit,
    bench,
    frames,
    log,
    query,
    replay,
    report,
    run,
    scene_pictures,
    scenes,
    score,
    show,
    store,
    tasks,
)
from iwreplay.cli.interrupts import CtrlC
from iwreplay.cli.options import mirror_in
from iwreplay.cli.output import OutputClosedError, note
from iwreplay.errors import AmbiguousNameError, IwreplayError
from iwreplay.version import __version__

__all__ = ["app", "main"]

#: modules of the extra `record`
_EXTRA = ("mujoco", "numba", "llvmlite", "PIL")
#: module of the extra `video`
_VIDEO = "av"
#: module of the extra `usd`
_USD = "pxr"
#: what typer raises for wrong options and arguments; BadParameter is the part of it that has a public name
_UsageError: Any = typer.BadParameter.__base__
#: exit codes of Ctrl-C and of a reader that closes the pipe: 128 + the number of the signal, as shells give them
_INTERRUPTED, _OUTPUT_CLOSED = 130, 141
_DISK_REFUSED = 3
#: name of the threads of `iwreplay.remote.together`
_TRANSFER = "transfer"

app = typer.Typer(
    name="iwreplay",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Record, replay, verify, score and query closed-loop episodes of an Assistant that guides a Human.",
    epilog="Exit codes: 0 good, 1 the answer is no (diverged, a check failed), 2 wrong use, 3 damaged data or a disk "
    "that would not take it; 130 after Ctrl-C, 141 when a pipe was closed. "
    "Start with: iwreplay tasks list",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"iwreplay {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version_wanted: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror",
            help="Folder through which a store on an object store is read (--store URI); else one below iw-mirror.",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    mirror_in(mirror)


app.add_typer(tasks.app, name="tasks")
scene_pictures.add_to(scenes.app)
app.add_typer(scenes.app, name="scene")
run.add_to(app)
show.add_to(app)
audit.add_to(app)
replay.add_to(app)
frames.add_to(app)
score.add_to(app)
query.add_to(app)
report.add_to(app)
app.add_typer(log.app, name="log")
app.add_typer(bench.app, name="bench")
app.add_typer(annotate.app, name="annotate")
app.add_typer(store.app, name="store")


def main() -> None:
    """Runs the command line: every error that is foreseen becomes one line on stderr and its exit code."""
    with CtrlC():
        try:
            _run()
        except KeyboardInterrupt:
            # once more, while the first one was being answered
            sys.exit(_INTERRUPTED)
        except Exception as e:
            # a library may have made another error of it
            if not CtrlC.caused(e):
                raise
            note("interrupted")
            sys.exit(_INTERRUPTED)


def _run() -> NoReturn:
    try:
        _only_text(sys.argv[1:])
        code = app(standalone_mode=False, prog_name="iwreplay")
    except AmbiguousNameError as e:
        note(f"error: {e}")
        sys.exit(e.exit_code)
    except IwreplayError as e:
        _fail(str(e), _DISK_REFUSED if _disk_refused(e) else e.exit_code)
    except ModuleNotFoundError as e:
        if e.name == _VIDEO:
            _fail("PyAV (av) is not installed; a video needs: pip install 'iwreplay[video]'", 2)
        if e.name == _USD:
            _fail("USD (pxr) is not installed; a stage needs: pip install 'iwreplay[usd]'", 2)
        if e.name not in _EXTRA:
            raise
        _fail(f"{e.name} is not installed; recording, replaying and drawing need: pip install 'iwreplay[record]'", 2)
    except _UsageError as e:
        _wrong_use(e)
    except OutputClosedError:
        sys.exit(_OUTPUT_CLOSED)
    except OSError as e:
        # what no layer below could put better: a disk that is full, a file that may not be read
        _fail(f"{e.strerror or e}{f': {e.filename}' if e.filename else ''}", _DISK_REFUSED if _disk_refused(e) else 2)
    if code == _INTERRUPTED:
        note("interrupted")
        _leave_transfers()
    sys.exit(code or 0)


def _leave_transfers() -> None:
    """Python would wait at its end until Arrow has given up on a server that does not answer."""
    if any(t.name == _TRANSFER for t in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(_INTERRUPTED)


def _disk_refused(error: BaseException | None) -> bool:
    """True when what is behind the error is a disk that is full or broken."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            return True
        error = error.__cause__
    return False


def _only_text(arguments: list[str]) -> None:
    """Bytes that are no text here could be opened as a path, and then neither logged, nor printed, nor asked for."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            _fail(
                f"{os.fsencode(argument)!r} is no text in the encoding of this terminal, "
                f"{sys.getfilesystemencoding()}; rename it, or set a UTF-8 locale (LC_ALL=C.UTF-8)",
                2,
            )


def _wrong_use(error: Any) -> NoReturn:
    """What typer says of options and arguments, with the value that it is about and the way out."""
    if type(error).__name__ == "NoArgsIsHelpError":
        note(error.format_message())
        sys.exit(2)
    reasons: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    given = f", not {reasons[0]['input']!r}" if reasons and "input" in reasons[0] else ""
    path = error.ctx.command_path if error.ctx is not None else "iwreplay"
    said = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    if given and repr(reasons[0]["input"]) in said:
        given = ""
    _fail(f"{said}{given}; see: {path} --help", 2)


def _fail(message: str, code: int) -> NoReturn:
    # one line, whatever was quoted in it
    note(f"error: {' '.join(message.split())}")
    sys.exit(code)
