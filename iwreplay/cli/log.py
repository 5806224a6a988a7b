"""`iwreplay log`: is it whole, save what is left of it, close what was left open, take it into a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from iwreplay.cli.options import DEFAULT_STORE, EpisodeArgument, JsonOption, ReadStoreOption, StoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, progress, say

if TYPE_CHECKING:
    from iwreplay.app.recovering import RecoveredEpisode
    from iwreplay.log import LogCheck, Problem, Recovered
    from iwreplay.store import Episode

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check, recover, seal and import logs.")

_DAMAGED = 3


@app.command()
def check(episode: EpisodeArgument, *, store: ReadStoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Read a whole log and audit everything in it: checksums, hash chain, order, types, canonical form.

    Exit code 3 when it is truncated or corrupt; an open log (no seal, but intact) is good. --json gives {state, events,
    root_hash, problem, status, ...}; the status is the word that every command uses for what became of the episode.

    Example: iwreplay log check V06-oracle
    """
    from iwreplay.app.episodes import find_episode
    from iwreplay.log import check as check_log

    found = find_episode(store, episode)
    _print(found, check_log(found.log), json=json)


@app.command()
def seal(episode: EpisodeArgument, *, store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Compact and seal an intact log that its recorder left open. Its events and root hash stay the same.

    Example: iwreplay log seal V06-oracle
    """
    from iwreplay.app.episodes import find_episode
    from iwreplay.log import seal as seal_log

    found = find_episode(store, episode)
    _print(found, seal_log(found.log), json=json)


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

    The damaged log is only read. The new one names it by its hash. Exit code 2 when the log is whole and sealed, 3 when
    nothing of it is intact; nothing is written then.

    Example: iwreplay log recover V06-oracle --out saved.arrows
    """
    from iwreplay.app.episodes import find_episode
    from iwreplay.app.recovering import recover_episode

    done = recover_episode(find_episode(store, episode), out=out)
    if json:
        print_json(done)
        return
    source = find_episode(store, episode)
    _say_recovered(source, done)


@app.command("import")
def import_(
    files: Annotated[list[str], typer.Argument(help="Logs to take in: paths of sealed, intact logs.", metavar="FILE")],
    *,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Take logs into a store, and score them: then they can be queried, scored and replayed like what was recorded.

    Each is audited first, and none is taken when one is refused: damaged (exit code 3), not sealed, of a name that
    another log has, or there already under another name. The same log under the same name is left as it is. The files
    are only read. The store is made when there is none. --json gives a list of {episode, outcome, source, log,
    root_hash, events, passed, mcr}; the outcome is added or present.

    Example: iwreplay log import episodes/samples/*.arrows --store samples
    """
    from iwreplay.app.importing import import_logs

    with progress("importing") as tell:
        done = import_logs(store, tuple(files), progress=tell)
    if json:
        print_json(done)
        return
    names = ("episode", "outcome", "passed", "mcr", "events", "source")
    print_table(names, [[getattr(e, n) for n in names] for e in done])
    added = sum(e.outcome == "added" for e in done)
    there = len(done) - added
    note(f"{counted(added, 'episode')} added to {store}" + (f"; {there} of the logs had been in it" if there else ""))


def _print(episode: Episode, found: LogCheck, *, json: bool) -> None:
    from iwreplay.app.episodes import look_at
    from iwreplay.store import status_of

    reason = look_at(episode).end_reason
    lossless = found.recovered is None or found.recovered.lossless
    status = status_of(found.state, end_reason=reason, lossless=lossless)
    if json:
        print_json({**msgspec.structs.asdict(found), "status": status})
    else:
        ended = "" if found.ended else ", without the end of an episode"
        says = f"{found.state}, {found.events} events{ended}, format {found.format_version}"
        say(f"{episode.id}: {says} (status: {status})")
        if found.root_hash is not None:
            say(f"root hash {found.root_hash}")
        if found.problem is not None:
            say(f"problem: {_where(found.problem)}; {found.problem.lost}")
            name = episode.log if episode.folder is None else episode.id
            if found.events:
                say(f"save what is intact with: iwreplay log recover {name}")
        if found.recovered is not None:
            for line in _losses(found.recovered):
                say(line)
    if found.state in ("truncated", "corrupt"):
        raise typer.Exit(_DAMAGED)


def _where(p: Problem) -> str:
    return p.what + "".join(
        [f", event {p.seq}" if p.seq is not None else "", f", byte {p.offset}" if p.offset is not None else ""]
    )


def _say_recovered(source: Episode, done: RecoveredEpisode) -> None:
    r = done.recovered
    say(f"{source.id} is {'open: it was never sealed' if r.state == 'open' else f'{r.state}: {r.reason}'}")
    for line in _losses(r):
        say(line)
    name = done.episode if done.in_store else done.log
    where = f"episode {done.episode}, in {done.log}" if done.in_store else done.log
    say(f"new log: {where} (sealed, {done.check.events} events, status: {done.status}); {source.log} is as it was")
    say(f"next: iwreplay show {name}")
    if done.status in ("ended", "interrupted", "fault"):
        say(f"      iwreplay score {name}")
    else:
        why = "it has no end" if done.status == "unfinished" else "events are missing"
        say(f"      it can be shown and queried, and has no scores: {why}")


def _losses(r: Recovered) -> Iterator[str]:
    """What a recovery kept and what it could not, by the numbers of the damaged log."""
    number = sum(last - first + 1 for first, last in r.kept)
    yield f"kept: {number} events of {r.name}: {', '.join(f'{a} to {b}' for a, b in r.kept)}"
    for gap in r.missing:
        if gap.last is None:
            yield f"missing: all events from {gap.first} on; how many there were is not known"
        else:
            yield f"missing: {gap.last - gap.first + 1} events, {gap.first} to {gap.last}"
    if not r.missing:
        yield "missing: nothing"
