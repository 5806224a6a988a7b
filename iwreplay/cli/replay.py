"""`iwreplay replay`: verify by re-execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, progress, say

if TYPE_CHECKING:
    from iwreplay.app.replaying import Verdict

__all__ = ["add_to"]

_DAMAGED = 3


def replay(
    episodes: Annotated[
        list[str] | None,
        typer.Argument(help="Episodes (ids, unique beginnings or paths of logs); all of the store when none is given."),
    ] = None,
    *,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first difference of an episode.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Episodes re-executed at a time.", min=1)] = 1,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep each verdict with its episode, or only show it.")
    ] = True,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Re-execute episodes with the participants of their logs, and compare event by event.

    Exit code 0 only when every step of every episode is exact, else 1, or 3 when a log is damaged; the first
    divergence is named with its event, field, expected and actual value.

    Each verdict is kept with its episode as a new record, never in place of an older one. To list them:
    iwreplay query --named verdicts; to sum them up: iwreplay query --named fidelity.

    --json gives one object {episode, grade, steps, first_divergence, ...} when exactly
    one episode is named, and else a list of them, also when it has one or the store holds one.

    Example: iwreplay replay V06-oracle
    """
    from iwreplay.app.replaying import replay_episodes

    with progress("replaying") as tell:
        verdicts = replay_episodes(
            store, tuple(episodes or ()), fail_fast=fail_fast, keep=keep, jobs=jobs, progress=tell
        )
    if json:
        print_json(verdicts[0] if len(episodes or ()) == 1 else verdicts)
    else:
        print_table(("episode", "grade", "steps"), [(v.episode, v.grade, v.steps) for v in verdicts])
        for verdict in verdicts:
            _explain(verdict)
        kept = sum(v.replay is not None for v in verdicts)
        if kept:
            note(f"{kept} verdict{'s' if kept > 1 else ''} kept; see: iwreplay query --named verdicts")
    if any(v.problem is not None for v in verdicts):
        raise typer.Exit(_DAMAGED)
    if any(v.grade != "exact" for v in verdicts):
        raise typer.Exit(1)


def _explain(verdict: Verdict) -> None:
    if verdict.problem is None and not verdict.log_ended:
        say(f"{verdict.episode}: its log has no end; compared as far as it goes ({verdict.events} events)")
    if verdict.grade == "exact":
        return
    if verdict.problem is not None:
        note(f"{verdict.episode}: {verdict.problem}")
        return
    say(f"\n{verdict.episode}: " + ", ".join(f"{counted(n, 'step')} {grade}" for grade, n in verdict.grades.items()))
    if verdict.first_divergence is not None:
        say(f"first of {counted(verdict.differences, 'difference')}: {verdict.first_divergence}")
        if verdict.first_in_world is None and not verdict.stopped:
            say("the world is the same, event by event")
        elif verdict.first_in_world not in (None, verdict.first_divergence):
            say(f"first in the world: {verdict.first_in_world}")
    for difference in verdict.environment:
        say(f"environment: {difference.name} was {difference.recorded}, is {difference.here}")
    if verdict.recorded_root_hash not in (None, verdict.root_hash):
        say(f"root hash {verdict.root_hash}, recorded {verdict.recorded_root_hash}")


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(replay)
