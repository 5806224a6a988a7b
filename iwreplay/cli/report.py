"""`iwreplay report`: tables and figures over what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, ReadStoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, say, stages

__all__ = ["add_to"]


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of benchmark runs, or episodes (ids or unique beginnings); all of the store by default.",
            metavar="[RUN]...",
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.", metavar="DIR")] = Path("report"),
    separate: Annotated[
        bool, typer.Option("--separate", help="Episodes with other prompts, limits or versions are counted apart.")
    ] = False,
    static: Annotated[
        Path | None,
        typer.Option(
            "--static", help="Answers to static questions: CSV with assistant, task and correct.", metavar="FILE"
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the resampling.", min=0)] = 11,
    resamples: Annotated[
        int, typer.Option("--resamples", help="Bootstrap resamples, and permutations.", min=100, max=1_000_000)
    ] = 10_000,
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace", help="Write nothing: tell which episodes a number of the report rests on.", metavar="NUMBER"
        ),
    ] = None,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Write a report: pass, capabilities, costs, first errors, Humans, memory, horizon, with intervals, beside what the
    paper prints. DIR gets report.html (which needs nothing else), report.md, tables/*.csv and numbers.json.

    Of each task, Assistant, Human and seed the first whole and valid episode counts; the report names the others with
    the reason. A missing task counts as not passed. --trace tells of one number, by the name in its tooltip and in the
    tables. --json prints {page, text, tables, counted, left_out, warnings}, or the number with its episodes.

    Example: iwreplay report --out report --resamples 500
    """
    if trace is not None:
        _trace(out, trace, json=json)
        return
    from iwreplay.app.reporting import write_report

    with stages("report") as tell:
        written = write_report(
            store,
            tuple(runs or ()),
            out=out,
            separate=separate,
            static=static,
            seed=seed,
            resamples=resamples,
            progress=tell,
        )
    if json:
        print_json(written)
        return
    for warning in written.warnings:
        note(warning)
    if written.left_out:
        note(f"{counted(written.left_out, 'episode')} left out: the end of the report says why")
    say(f"{counted(written.counted, 'episode')}: {written.page}, {written.text}, {written.tables}/*.csv")


def _trace(out: Path, name: str, *, json: bool) -> None:
    from iwreplay.app.reporting import trace as traced

    found = traced(out, name)
    if json:
        print_json(found)
        return
    from iwreplay.reports.words import written

    say(f"{found.number.id}: {written(found.number)}")
    print_table(("episode", "root_hash"), found.episodes)


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(report)
