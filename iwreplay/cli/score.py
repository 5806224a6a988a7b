"""`iwreplay score`: scores of episodes, kept and incremental."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, AddressOption, EngineOption, JsonOption, ReadStoreOption
from iwreplay.cli.output import counted, exit_with, note, print_json, print_table, progress, say
from iwreplay.cli.score_diff import show_difference

if TYPE_CHECKING:
    from iwreplay.app.explaining import CheckLine
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
        typer.Option(
            "--scorer",
            help="Only this scorer (repeat), or the file of your own; all built-in ones when none is given.",
            metavar="NAME|FILE.py",
        ),
    ] = None,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--diff",
            help="Compare two scorers: names, files, or NAME@HASH for what is kept of an older version.",
            metavar="OLD NEW",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Compute also what is kept and valid.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compute nothing; exit code 1 when a score is missing or stale.")
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Explain: every check, its verdict, and the event that decided it.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Episodes scored at a time; as many as pay by default.", min=1)
    ] = None,
    engine: EngineOption = "local",
    ray_address: AddressOption = None,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Score episodes. What is kept for the same log, scorer and parameters is used again; a stale score says why.

    An episode that is damaged, unfinished or spoilt is "unscorable", which is never the same as 0; exit code 3 when a
    log is damaged. "undefined" is what has no meaning for an episode: the cost of one that did not pass. --json gives a
    list with an object a score: {episode, metric, value, status, stale_because, ...}.
    With --why --json it is an object a check: {episode, id, kind, capability, text, verdict, passed, help, seq,
    sim_time_s, turn, by_end, command, timeline, evidence}; an episode that can't be scored has none.

    A scorer of your own is a Python file (docs/scorers.md). Where it fails, the episode has no score, and the exit code
    is 1. --diff shows the episodes whose value changes, the events that made it change, and the reported numbers.

    Example: iwreplay score --why V06-oracle

    Example: iwreplay score --diff mcr pass
    """
    if why:
        if check or scorer or diff:
            said = "explains every check, without --check and --scorer, and without --diff"
            raise typer.BadParameter(said, param_hint="--why")
        _why(store, tuple(episodes or ()), again=again, json=json)
        return
    named = tuple(episodes or ())
    if diff:
        if check or scorer:
            raise typer.BadParameter("compares two scorers, without --check and --scorer", param_hint="--diff")
        from iwreplay.app.score_diff import diff_scores

        old, new = diff
        show_difference(
            lambda tell: diff_scores(
                store,
                named,
                old=old,
                new=new,
                again=again,
                jobs=jobs,
                engine=engine,
                ray_address=ray_address,
                progress=tell,
            ),
            json=json,
        )
        return
    from iwreplay.app.scoring import other_tasks, score_episodes

    with progress("scoring") as tell:
        lines = score_episodes(
            store,
            named,
            scorers=tuple(scorer or ()),
            again=again,
            compute=not check,
            jobs=jobs,
            engine=engine,
            ray_address=ray_address,
            progress=tell,
        )
    if json:
        print_json(lines)
    else:
        names = ("episode", "metric", "value", "status", "evidence")
        shown = [s for s in lines if s.status != "undefined" or s.scorer in (scorer or ())]
        print_table(names, [(*(getattr(s, n) for n in names[:4]), _some(s.evidence)) for s in shown])
        for line in _failed(lines):
            note(line)
        for line in dict.fromkeys(f"{s.episode}, {s.scorer}: {s.stale_because}" for s in lines if s.stale_because):
            note(f"was stale: {line}" if not check else f"stale: {line}")
        for line in _unscorable(lines):
            note(line)
        for line in other_tasks(lines):
            note(line)
        if len(shown) < len(lines):
            note(f"{counted(len(lines) - len(shown), 'score')} not shown: they have no meaning for the episode")
        if not check:
            note(_counted(lines))
    if any(s.root_hash is None for s in lines):
        raise typer.Exit(_DAMAGED)
    exit_with(_errors(lines))
    if check and not all(s.kept for s in lines):
        raise typer.Exit(1)


def _errors(lines: Iterable[ScoreLine]) -> Iterator[Exception]:
    """What went wrong in scorers of users, once for each reason, with the episodes."""
    by_reason: dict[str, list[str]] = {}
    for s in lines:
        if s.status == "error":
            by_reason.setdefault(s.reason, []).append(s.episode)
    for reason, episodes in by_reason.items():
        more = f" and {len(episodes) - 1} more" if len(episodes) > 1 else ""
        yield ValueError(f"{episodes[0]}{more}: {reason}")


def _counted(lines: Sequence[ScoreLine]) -> str:
    valid = [s for s in lines if s.status not in ("missing", "error") and s.root_hash is not None]
    kept = sum(s.kept for s in valid)
    if not kept:
        return f"{counted(len(valid), 'score')} computed"
    if kept == len(valid):
        all_kept = "all kept from before (run and log import score at once), and still valid: nothing to do"
        return f"{counted(kept, 'score')}, {all_kept}"
    return f"{counted(len(valid), 'score')}: {len(valid) - kept} computed now, {kept} kept from before and still valid"


def _unscorable(lines: Iterable[ScoreLine]) -> Iterator[str]:
    """Why an episode has no scores, once for each reason."""
    yield from dict.fromkeys(
        f"{s.episode} is {s.episode_status}: unscorable: {s.reason}{_lacking(s)}"
        for s in lines
        if s.status == "unscorable"
    )


def _lacking(line: ScoreLine) -> str:
    missing = line.details.get("missing", ())
    return f" (missing: {', '.join(missing)})" if missing else ""


def _why(store: Path, episodes: tuple[str, ...], *, again: bool, json: bool) -> None:
    from iwreplay.app.explaining import explain_episodes
    from iwreplay.cli.timeline import timeline

    def rendered(check: CheckLine) -> list[str]:
        return [line.strip() for line in timeline([(check.seq, check.event)], everything=True)]

    with progress("explaining") as tell:
        explained = explain_episodes(store, episodes, again=again, progress=tell)
    if json:
        print_json([_why_json(e.episode, c, rendered(c)) for e in explained for c in e.checks])
    for n, found in enumerate(explained):
        if not json and found.checks:
            passed = next(s.value for s in found.scores if s.metric == "pass")
            say(f"{'' if n == 0 else chr(10)}{found.episode}: {'passes' if passed == 1.0 else 'does not pass'}")
            for check in found.checks:
                say()
                for line in (*_why_words(check), *(f"       {line}" for line in rendered(check))):
                    say(line)
        for line in _unscorable(found.scores):
            note(line)
    if any(s.root_hash is None for found in explained for s in found.scores):
        raise typer.Exit(_DAMAGED)


def _why_json(episode: str, check: CheckLine, rendered: list[str]) -> dict[str, object]:
    return {
        "episode": episode,
        "id": check.id,
        "kind": check.kind,
        "capability": check.capability,
        "text": check.text,
        "verdict": check.verdict,
        "passed": check.passed,
        "help": check.help,
        "seq": check.seq,
        "sim_time_s": check.event.sim_time_s,
        "turn": check.event.turn,
        "by_end": check.by_end,
        "command": check.command,
        "timeline": "\n".join(rendered),
        "evidence": check.evidence,
    }


_VERDICTS = {
    "satisfied": "satisfied",
    "not_satisfied": "not satisfied",
    "withheld": "withheld: done, but what it needs for credit is not",
    "held": "held",
    "broken": "broken",
    "clean_pass": "passed without help",
    "assisted_pass": "passed with help",
    "fail": "failed",
    "not_reached": "not reached",
}
_HELP = {"retry": " (a retry after words of the Assistant)", "human_repair": " (the Human repaired it by itself)"}
_MARKS = {True: "yes", False: "NO", None: "-"}


def _why_words(check: CheckLine) -> Iterator[str]:
    capability = f" {check.capability}" if check.capability else ""
    yield f"  {_MARKS[check.passed]:<4} {check.id} ({check.kind}{capability}): {check.text}"
    at = f"event {check.seq}, {check.event.sim_time_s:.2f} s, turn {check.event.turn}"
    if not check.by_end:
        when = f" {'since' if check.passed else 'by'} {at}{f', during {check.command}' if check.command else ''}"
    elif check.passed:
        when = f" to the end ({at})"
    else:
        when = f": it never came about, to the end ({at})"
    verdict = _VERDICTS[check.verdict] + _HELP.get(check.help, "")
    yield f"       {verdict}{when}; evidence: {_some(check.evidence) or 'none'}"


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
