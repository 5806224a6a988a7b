"""`iwreplay run`: record episodes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.inline_pictures import Show
from iwreplay.cli.options import DEFAULT_STORE, JsonOption, MaxCostOption, MaxTokensOption, StoreOption
from iwreplay.cli.output import note, print_json, print_table, progress
from iwreplay.cli.person import TerminalConsole
from iwreplay.cli.secrets import secrets

if TYPE_CHECKING:
    from iwreplay.store import Episode

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
            help="oracle, silent, no-help, near-miss:ID, random, scripted:FILE, a hosted model "
            "(model:openai/NAME,memory=on), or person: you.",
            metavar="NAME",
        ),
    ] = "oracle",
    human: Annotated[
        str,
        typer.Option("--human", help="literal, a hosted model (model:openai/NAME), or person: you.", metavar="NAME"),
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
        bool,
        typer.Option(
            "--frames/--no-frames",
            help="Draw frames and log their hashes, or only what is visible. Hosted models and persons need them, but "
            "for a model as the Human of Accessibility.",
        ),
    ] = True,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    show: Annotated[
        Show,
        typer.Option(
            "--show", help="How a person sees pictures in the terminal; they are kept as PNG files in any case."
        ),
    ] = "auto",
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            help="Folder for what a person sees, with one for each episode in it; else the episode's own `seen`.",
            metavar="DIR",
        ),
    ] = None,
    cassette: Annotated[
        str | None,
        typer.Option(
            "--cassette",
            help="An episode whose hosted models answer again, word by word, in place of their providers.",
            metavar="EPISODE",
        ),
    ] = None,
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
    environment variable. It needs the extra "models". With --cassette no provider is asked: the models of an episode
    answer the same requests again, and the new episode has the same root hash; another request is a fault.

    A person plays at this terminal, as Human with commands of the action language or as Assistant with words; ? helps.
    Tab completes when the extra "person" is there. Where stdin is no terminal, its lines are read as they come. The
    person sees and types on stderr; Ctrl-C, Ctrl-D and the end of the input end the episode as interrupted.

    Example: iwreplay run V06 --assistant oracle --human literal

    Example: iwreplay run V06 --assistant model:openai/gpt-5.5,memory=on --human literal --max-cost 0.50

    Example: iwreplay run F19 --assistant oracle --human person
    """
    from iwreplay.app.recording import Budget, RunBrokenError, RunInterrupted, RunShut, is_person, record_tasks

    def console(episode: Episode) -> TerminalConsole:
        return TerminalConsole(episode.seen if pictures is None else pictures / episode.id, show=show)

    person = is_person(assistant, human)
    if not person and (pictures is not None or show != "auto"):
        raise typer.BadParameter("--show and --pictures are for a person; say --human person or --assistant person")
    # a bar would be drawn over what the person types
    bar: AbstractContextManager[Callable[[int, int], None]] = (
        nullcontext(lambda _done, _of: None) if person else progress("recording")
    )
    interrupted, broken = False, None
    left: tuple[str, ...] = ()
    try:
        with bar as tell:
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
                console=console if person else None,
                cassette=cassette,
                progress=tell,
            )
    except RunInterrupted as stopped:
        done, interrupted = stopped.done, True
    except RunShut as stopped:
        done, left = stopped.done, stopped.left
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
    for r in done:
        if r.unheard.silenced_turns or r.unheard.malformed_calls or r.unheard.refused_calls:
            note(f"{r.episode}: its Assistant was {r.unheard}; the answers: iwreplay show {r.episode}")
    if left:
        note(f"{', '.join(left)} not begun: every call would meet that; record the rest once it is mended")
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
