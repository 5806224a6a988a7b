"""`iwreplay score`: scores of episodes, kept and incremental."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from iwreplay.cli.output import note, print_json, print_table, progress

if TYPE_CHECKING:
    from iwreplay.app.scoring import ScoreLine

__all__ = ["add_to"]

_DAMAGED = 3


def score(
    episodes: Annotated[
        list[str] | None,
        typer.Argument(help="Episodes (ids, unique beginnings or paths of logs); all of the store when none is given."),
    ] = None,
    *,
    scorer: Annotated[
        list[str] | None,
        typer.Option("--scorer", help="Only this scorer (repeat); all when none is given.", metavar="NAME"),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Compute also what is kept and valid.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compute nothing; exit code 1 when a score is missing or stale.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Score episodes. What is kept for the same log, scorer and parameters is used again; a stale score says why.

    Exit code 3 when a log is damaged: its scores are "unscorable".

    Example: iwreplay score --json
    """
    from iwreplay.app.scoring import score_episodes

    with progress("scoring") as tell:
        lines = score_episodes(
            store, tuple(episodes or ()), scorers=tuple(scorer or ()), again=again, compute=not check, progress=tell
        )
    if json:
        print_json(lines)
    else:
        names = ("episode", "metric", "value", "status", "evidence")
        print_table(names, [(*(getattr(s, n) for n in names[:4]), _some(s.evidence)) for s in lines])
        for line in _failed(lines):
            note(line)
        for line in dict.fromkeys(f"{s.episode}, {s.scorer}: {s.stale_because}" for s in lines if s.stale_because):
            note(f"was stale: {line}" if not check else f"stale: {line}")
        for why in dict.fromkeys(f"{s.episode}: unscorable: {s.reason}" for s in lines if s.status == "unscorable"):
            note(why)
        if not check:
            kept = sum(s.kept for s in lines)
            note(f"{len(lines)} scores, {kept} of them kept from before")
    if any(s.root_hash is None for s in lines):
        raise typer.Exit(_DAMAGED)
    if check and not all(s.kept for s in lines):
        raise typer.Exit(1)


def _failed(lines: Iterable[ScoreLine]) -> Iterator[str]:
    """Which checks an episode that did not pass fails, by name."""
    for line in lines:
        names = [n for kind in ("objectives", "gates", "keeps") for n in line.details.get(f"failed_{kind}", ())]
        if line.metric == "pass" and names:
            yield f"{line.episode} fails {', '.join(names)}"


def _some(evidence: tuple[int, ...]) -> str:
    shown = ", ".join(str(seq) for seq in evidence[:6])
    return shown if len(evidence) <= 6 else f"{shown}, ... ({len(evidence)})"


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(score)
