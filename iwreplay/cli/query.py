"""`iwreplay query`: SQL over the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, ReadStoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, progress, say
from iwreplay.errors import QueryError

if TYPE_CHECKING:
    from iwreplay.catalogue import Catalogue

__all__ = ["add_to"]

_MAX_ROWS = 10_000


def query(
    sql: Annotated[str | None, typer.Argument(help="One SELECT statement.", metavar="SQL")] = None,
    *,
    named: Annotated[
        str | None, typer.Option("--named", help="Ask a named question instead (see --list).", metavar="NAME")
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List the named questions; with --named NAME or --json their SQL too.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the catalogue anew from the logs first.")] = False,
    max_rows: Annotated[int, typer.Option("--max-rows", help="Rows to print at most.", min=1)] = _MAX_ROWS,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            help="Write every row to this file instead, here or on an object store (s3://...): .arrow, .parquet, .csv "
            "or .jsonl.",
            metavar="FILE|URI",
        ),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the file of --out if it is there.")] = False,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Ask the store's catalogue in SQL (DuckDB), read-only. Its tables are described in docs/catalogue.md.

    The catalogue is brought up to date from the logs first; it can be deleted at any time. A refresh that is stopped
    with Ctrl-C goes on at the next question. A file of --out is written whole or not at all; lists and objects stay
    what they are in Arrow and Parquet, and are JSON in CSV.

    Example: iwreplay query "SELECT task, assistant, turns, actions FROM episodes ORDER BY 1, 2"
    """
    from iwreplay.catalogue import question, questions

    if list_all:
        if named is not None:
            question(named)
        if json:
            print_json(questions())
        else:
            for q in questions():
                if named in (None, q.name):
                    say(f"{q.name}: {q.title}")
                if named == q.name:
                    say("".join(f"    {line}\n" for line in q.sql.strip().splitlines()))
        return
    if (sql is None) == (named is None):
        raise QueryError("give either SQL or --named NAME (iwreplay query --list shows the names)")
    asked = sql if sql is not None else question(str(named)).sql
    from iwreplay.app.catalogue import open_catalogue

    if out is not None and not _is_remote(out):
        from iwreplay.catalogue.exporting import check_target

        check_target(Path(out), replace=replace)
    with open_catalogue(store) as catalogue:
        with progress("catalogue") as tell:
            catalogue.refresh(rebuild=rebuild, progress=tell)
        if out is not None:
            _export(catalogue, asked, out, replace=replace, json=json)
            return
        answer = catalogue.ask(asked, max_rows=max_rows)
    if json:
        print_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    else:
        print_table(answer.columns, answer.rows)
    if answer.cut:
        note(f"only the first {max_rows} rows are shown; --max-rows allows more")


def _is_remote(out: str) -> bool:
    from iwreplay.app.remoting import is_address

    return is_address(out)


def _export(catalogue: Catalogue, sql: str, out: str, *, replace: bool, json: bool) -> None:
    from iwreplay.app.remoting import export_to
    from iwreplay.catalogue.exporting import export

    with progress("rows") as tell:
        if _is_remote(out):
            done = export_to(catalogue, sql, out, replace=replace, progress=lambda rows: tell(rows, rows))
        else:
            done = export(catalogue, sql, Path(out), replace=replace, progress=lambda rows: tell(rows, rows))
    if json:
        print_json(done)
    else:
        note(f"{counted(done.rows, 'row')} of {counted(len(done.columns), 'column')} written to {done.file}")


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(query)
