"""`iwreplay run`: record episodes."""

from __future__ import annotations

from typing import Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from iwreplay.cli.output import note, print_json, print_table, progress

__all__ = ["add_to"]

_MAX_SEED = 2**63 - 1


def run(
    tasks: Annotated[
        list[str], typer.Argument(help="Tasks: ids, unique beginnings of ids, TOML files, or 'all'.", metavar="TASK")
    ],
    *,
    assistant: Annotated[
        str, typer.Option("--assistant", help="oracle, silent, random, or scripted:FILE.", metavar="NAME")
    ] = "oracle",
    human: Annotated[str, typer.Option("--human", help="literal.", metavar="NAME")] = "literal",
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            help="What the random Assistant draws from; for the others it only tells repetitions apart.",
            min=0,
            max=_MAX_SEED,
        ),
    ] = 0,
    frames: Annotated[
        bool, typer.Option("--frames/--no-frames", help="Draw frames and log their hashes, or only what is visible.")
    ] = True,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Episodes recorded at a time.", min=1)] = 1,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Record one episode of each task, and score it.

    Recorded again, a task makes a new episode with "-r2" at the end of its id. Ctrl-C ends the episode in good order:
    its log is readable and marked interrupted, and the run can be repeated. Nothing is recorded when any of the tasks
    is malformed; every such file is named. Exit code 1 when an episode broke off with a fault, 130 after Ctrl-C, 3 when
    the disk is full (what was recorded until then is printed).

    Example: iwreplay run V06 --assistant oracle --human literal
    """
    from iwreplay.app.recording import RunBrokenError, RunInterrupted, record_tasks

    interrupted, broken = False, None
    try:
        with progress("recording") as tell:
            done = record_tasks(
                store,
                tuple(tasks),
                assistant=assistant,
                human=human,
                seed=seed,
                frames=frames,
                jobs=jobs,
                progress=tell,
            )
    except RunInterrupted as stopped:
        done, interrupted = stopped.done, True
    except RunBrokenError as stopped:
        done, broken = stopped.done, stopped.cause
    if json:
        print_json(done)
    else:
        names = ("episode", "passed", "mcr", "end_reason", "turns", "actions", "events")
        print_table(names, [[getattr(r, n) for n in names] for r in done])
    for r in done:
        if not r.valid:
            note(f"{r.episode} is not valid: {r.detail}")
    if broken is not None:
        note("what was recorded is kept, run the rest again")
        raise broken
    if interrupted:
        note("what was recorded is kept, run the rest again")
        raise KeyboardInterrupt
    if not all(r.valid for r in done):
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(run)
