"""`iwreplay run`: record episodes."""

from __future__ import annotations

from typing import Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, MaxCostOption, MaxTokensOption, StoreOption
from iwreplay.cli.output import note, print_json, print_table, progress
from iwreplay.cli.secrets import secrets

__all__ = ["add_to"]

_MAX_SEED = 2**63 - 1


def run(
    tasks: Annotated[
        list[str], typer.Argument(help="Tasks: ids, unique beginnings of ids, TOML files, or 'all'.", metavar="TASK")
    ],
    *,
    assistant: Annotated[
        str,
        typer.Option(
            "--assistant",
            help="oracle, silent, no-help, near-miss:ID, random, scripted:FILE, or a hosted model: "
            "model:openai/NAME,memory=on.",
            metavar="NAME",
        ),
    ] = "oracle",
    human: Annotated[
        str, typer.Option("--human", help="literal, or a hosted model: model:openai/NAME.", metavar="NAME")
    ] = "literal",
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
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Episodes recorded at a time.", min=1)] = 1,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Record one episode of each task, and score it.

    near-miss:ID is the wrong way of that name in the task's file. With no-help nobody speaks, and the Human does by
    itself what the task says that it would do alone.

    Recorded again, a task makes a new episode with "-r2" at the end of its id. Ctrl-C ends the episode in good order:
    its log is readable and marked interrupted, and the run can be repeated. Nothing is recorded when any of the tasks
    is malformed; every such file is named. Exit code 1 when an episode broke off with a fault, 130 after Ctrl-C, 3 when
    the disk is full (what was recorded until then is printed).

    A hosted model is named as litellm names it, with its settings behind it: temperature, seed, max_tokens, timeout
    (seconds), stream=on, and for an Assistant memory=on (the memory arm). Its key is taken from the provider's own
    environment variable. It needs the extra "models".

    Example: iwreplay run V06 --assistant oracle --human literal

    Example: iwreplay run V06 --assistant model:openai/gpt-5.5,memory=on --human literal --max-cost 0.50
    """
    from iwreplay.app.recording import Budget, RunBrokenError, RunInterrupted, record_tasks

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
                secrets=secrets(),
                budget=Budget(cost_usd=max_cost, tokens=max_tokens),
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
