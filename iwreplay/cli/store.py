"""`iwreplay store`: episodes on an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, NoStoreOption, StoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, progress

if TYPE_CHECKING:
    from iwreplay.app.remoting import Moved

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Episodes on an object store (S3 and what speaks like it): push, pull, list. See docs/object-store.md.",
)

AddressArgument = Annotated[
    str,
    typer.Argument(help="Address of a folder there: s3://BUCKET/FOLDER, gs://..., file:///...", metavar="URI"),
]
EpisodesArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Ids of episodes or unique beginnings of ids; all when none is given.", metavar="EPISODE"),
]


@app.command()
def push(
    uri: AddressArgument,
    episodes: EpisodesArgument = None,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Send also what is there already: mends an object that was damaged there.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Put sealed episodes on an object store, with all that is kept beside their logs and what annotators say of them.

    An episode is there once all of it is. What is there already is not sent again, so a push that broke off is simply
    repeated. A log is never replaced by another one of the same name. Exit code 1 when an episode was left out, because
    it is damaged or not sealed. --json gives a list of {episode, outcome, root_hash, events, files, bytes, annotations,
    reason}; the outcome is added, updated, present or left out.

    Example: iwreplay store push s3://my-bucket/runs V06-oracle-literal-s0
    """
    from iwreplay.app.remoting import push_episodes

    with progress("pushing") as tell:
        done = push_episodes(store, uri, tuple(episodes or ()), again=again, progress=tell)
    _print(done, json=json)
    for m in done:
        if m.outcome == "left out":
            note(f"{m.episode} was left out: {m.reason}")
    if any(m.outcome == "left out" for m in done):
        raise typer.Exit(1)


@app.command()
def pull(
    uri: AddressArgument,
    episodes: EpisodesArgument = None,
    *,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Take episodes from an object store into a store, which is made when there is none.

    Each log is audited when it came, and its episode appears in one step, or not at all. A pull that broke off is
    simply repeated, and goes on where it was. Exit code 3 when what comes is damaged. --json as of push.

    Example: iwreplay store pull s3://my-bucket/runs --store runs
    """
    from iwreplay.app.remoting import pull_episodes

    with progress("pulling") as tell:
        done = pull_episodes(store, uri, tuple(episodes or ()), progress=tell)
    _print(done, json=json)


@app.command("list")
def list_all(uri: AddressArgument, *, store: NoStoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """List the episodes on an object store. No log is read.

    --json gives a list of {episode, task, assistant, human, status, events, files, bytes, root_hash}.

    Example: iwreplay store list s3://my-bucket/runs
    """
    from iwreplay.app.remoting import list_remote

    with progress("listing") as tell:
        listed = list_remote(uri, progress=tell)
    if json:
        print_json(listed)
        return
    names = ("episode", "task", "assistant", "human", "status", "events", "files", "bytes")
    print_table(names, [[getattr(e, n) for n in names] for e in listed])


def _print(done: tuple[Moved, ...], *, json: bool) -> None:
    if json:
        print_json(done)
        return
    names = ("episode", "outcome", "events", "files", "bytes", "annotations")
    print_table(names, [[getattr(m, n) for n in names] for m in done])
    counts = {o: sum(m.outcome == o for m in done) for o in ("added", "updated", "present")}
    note(", ".join(f"{counted(n, 'episode')} {o}" for o, n in counts.items() if n) or "nothing to do")
