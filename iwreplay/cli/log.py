"""`iwreplay log`: is it whole, save what is left of it, close what was left open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, EpisodeArgument, JsonOption, StoreOption
from iwreplay.cli.output import print_json, say

if TYPE_CHECKING:
    from iwreplay.log import LogCheck, Recovered

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check, recover and seal logs.")

_DAMAGED = 3


@app.command()
def check(episode: EpisodeArgument, *, store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Read a whole log and audit everything in it: checksums, hash chain, order, types, canonical form.

    Exit code 3 when it is truncated or corrupt; an open log (no seal, but intact) is good.

    Example: iwreplay log check G05-oracle
    """
    from iwreplay.app.episodes import find_episode
    from iwreplay.log import check as check_log

    found = find_episode(store, episode)
    _print(found.id, check_log(found.log), json=json)


@app.command()
def seal(episode: EpisodeArgument, *, store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Compact and seal an intact log that its recorder left open. Its events and root hash stay the same.

    Example: iwreplay log seal G05-oracle
    """
    from iwreplay.app.episodes import find_episode
    from iwreplay.log import seal as seal_log

    found = find_episode(store, episode)
    _print(found.id, seal_log(found.log), json=json)


@app.command()
def recover(
    episode: EpisodeArgument,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File of the new log; else episode '<id>-recovered'.", metavar="FILE"),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Write every intact event of a damaged log to a new, sealed one, and state what is missing.

    The damaged log is only read. The new one names it by its hash.

    Example: iwreplay log recover G05-oracle --out saved.arrows
    """
    from iwreplay.app.episodes import find_episode
    from iwreplay.app.recovering import recover_episode

    done = recover_episode(find_episode(store, episode), out=out)
    if json:
        print_json(done)
        return
    say(f"recovered to {done.log}")
    _say_loss(done.recovered)
    _print(done.episode, done.check, json=False)


def _print(name: str, found: LogCheck, *, json: bool) -> None:
    damaged = found.state in ("truncated", "corrupt")
    if json:
        print_json(found)
    else:
        ended = "" if found.ended else ", without the end of an episode"
        say(f"{name}: {found.state}, {found.events} events{ended}, format {found.format_version}")
        if found.root_hash is not None:
            say(f"root hash {found.root_hash}")
        if found.problem is not None:
            p = found.problem
            where = "".join(
                [f", event {p.seq}" if p.seq is not None else "", f", byte {p.offset}" if p.offset is not None else ""]
            )
            say(f"problem: {p.what}{where}; {p.lost}")
        if found.recovered is not None and found.recovered.missing:
            _say_loss(found.recovered)
    if damaged:
        raise typer.Exit(_DAMAGED)


def _say_loss(statement: Recovered) -> None:
    kept = ", ".join(f"{a} to {b}" for a, b in statement.kept)
    say(f"kept events {kept} of the {statement.state} log {statement.name}")
    for gap in statement.missing:
        last = "an unknown end" if gap.last is None else str(gap.last)
        say(f"missing: events {gap.first} to {last}")
