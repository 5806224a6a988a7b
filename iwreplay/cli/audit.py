"""`iwreplay audit`: is the protocol kept to?"""

from __future__ import annotations

from typing import Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, ReadStoreOption
from iwreplay.cli.output import counted, print_json, print_table, progress, say

__all__ = ["add_to"]


def audit(
    episodes: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of episodes, unique beginnings of ids, or paths of logs.", metavar="EPISODE"),
    ] = None,
    *,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Audit episodes against the 43 statements of the evaluation protocol.

    Each statement holds, is broken, is open (this log can't tell), or is shown elsewhere (it speaks of many tasks or
    runs); with its evidence. What was sent to hosted models is read too where it is kept beside the log. One episode
    is told statement by statement, several in a line each, with what is broken. Exit code 1 when anything is broken.

    Example: iwreplay audit V06-oracle
    """
    from iwreplay.app.auditing import audit_episodes

    with progress("auditing") as tell:
        found = audit_episodes(store, tuple(episodes or ()), progress=tell)
    if json:
        print_json(found)
    elif len(found) == 1:
        (one,) = found
        say(f"Episode {one.episode}")
        rows = [(s.number, s.finding, s.statement, s.evidence) for s in one.statements]
        print_table(("no", "finding", "statement", "evidence"), rows)
        say(", ".join(f"{n} {name}" for name, n in one.findings.items()) + ".")
    else:
        columns = ("episode", "ok", "holds", "broken", "open", "elsewhere")
        print_table(columns, [(a.episode, a.ok, *(a.findings[c] for c in columns[2:])) for a in found])
        for a in found:
            for s in a.statements:
                if s.finding == "broken":
                    say(f"{a.episode}: {s.number}, {s.statement}: {s.evidence}")
        say(f"{counted(sum(a.ok for a in found), 'episode')} of {len(found)} with nothing broken.")
    if not all(a.ok for a in found):
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(audit)
