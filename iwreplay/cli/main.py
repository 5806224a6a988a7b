"""`iwreplay`: the command tree, and what becomes of an error."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from iwreplay import __version__
from iwreplay.cli import log, query, replay, run, score, show, tasks
from iwreplay.cli.output import note
from iwreplay.errors import IwreplayError

__all__ = ["app", "main"]

#: modules of the extra `record`
_EXTRA = ("mujoco", "numba", "llvmlite", "PIL")

app = typer.Typer(
    name="iwreplay",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Record, replay, verify, score and query closed-loop episodes of an Assistant that guides a Human.",
    epilog="Exit codes: 0 good, 1 the answer is no (diverged, a check failed), 2 wrong use, 3 damaged data. "
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
) -> None:
    pass


app.add_typer(tasks.app, name="tasks")
run.add_to(app)
show.add_to(app)
replay.add_to(app)
score.add_to(app)
query.add_to(app)
app.add_typer(log.app, name="log")


def main() -> None:
    """Entry point: errors of ours become one line on stderr and their exit code."""
    try:
        app()
    except IwreplayError as e:
        note(f"error: {e}")
        sys.exit(e.exit_code)
    except ModuleNotFoundError as e:
        if e.name not in _EXTRA:
            raise
        note(f"error: {e.name} is not installed; recording, replaying and drawing need: pip install 'iwreplay[record]'")
        sys.exit(2)
