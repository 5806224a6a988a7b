"""`iwreplay annotate`: first errors of failed episodes, as people see them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from iwreplay.cli.options import DEFAULT_STORE, EpisodeArgument, JsonOption, ReadStoreOption, StoreOption
from iwreplay.cli.output import counted, note, print_json, print_table, progress, say

if TYPE_CHECKING:
    from iwreplay.annotations import AgreementFigures, Distribution
    from iwreplay.app.annotating import Said
    from iwreplay.app.annotation_lists import Annotation, Assignment
    from iwreplay.app.first_errors import FirstErrors
    from iwreplay.statistics.agreement import Agreement

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="First errors: label, correct, adjudicate, agree, exchange. Labels: R1 visual misreading, R2 lost state "
    "tracking, R3 wrong rule or causal reasoning, R4 planning error, R5 instruction that can't be executed, R6 wrong "
    "time to intervene.",
)

_SHORT = 12
Code = Literal["R1", "R2", "R3", "R4", "R5", "R6"]
ReasonName = Literal["human_restriction", "task_defect", "world_defect", "other"]
AnnotatorOption = Annotated[str, typer.Option("--annotator", help="Who says it: one name a person.", metavar="NAME")]
LabelOption = Annotated[Code | None, typer.Option("--label", help="What kind of error the first one is.")]
OnsetOption = Annotated[
    str | None,
    typer.Option(
        "--onset", help="Where it begins: the number of an event, or turn:N for the decision in turn N.", metavar="AT"
    ),
]
InvalidOption = Annotated[
    ReasonName | None,
    typer.Option(
        "--invalid",
        help="It says nothing about the Assistant: the Human broke its restriction, the task or the world is "
        "defective, or another reason that --rationale says.",
    ),
]
RationaleOption = Annotated[str, typer.Option("--rationale", help="Why, in words.", metavar="TEXT")]
CorrectOption = Annotated[bool, typer.Option("--correct", help="Put it in the place of what was said before.")]
FormatOption = Annotated[
    Literal["jsonl", "csv"] | None, typer.Option("--format", help="Of the file; else as its name ends.")
]


@app.command()
def add(
    episode: EpisodeArgument,
    *,
    annotator: AnnotatorOption,
    label: LabelOption = None,
    onset: OnsetOption = None,
    confidence: Annotated[
        Literal["low", "medium", "high"] | None, typer.Option("--confidence", help="How sure of the label.")
    ] = None,
    invalid: InvalidOption = None,
    valid: Annotated[bool, typer.Option("--valid", help="It is valid; the label comes later.")] = False,
    rationale: RationaleOption = "",
    correct: CorrectOption = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Say what the first error of a failed episode is: a label and where it begins; or that the episode is invalid.

    Only episodes that ran to their end, are valid and failed have a first error. What was said stays for ever; a
    correction is a record of its own that supersedes it. Nothing of what others said is shown. --json gives {episode,
    root_hash, record, kind, annotator, added, label, seq, turn, reason, supersedes}.

    Example: iwreplay annotate add V06-silent --annotator anna --label R6 --onset turn:2 --store samples

    Example: iwreplay annotate add P04-no-help --annotator anna --invalid task_defect --store samples
    """
    from iwreplay.app.annotating import say_invalid, say_label, say_valid

    if (label is not None) + (invalid is not None) + valid != 1:
        raise typer.BadParameter("give one of --label, --invalid and --valid", param_hint="--label")
    if (label is None) != (onset is None):
        raise typer.BadParameter("a label has an onset, and nothing else has one", param_hint="--onset")
    if confidence is not None and label is None:
        raise typer.BadParameter("is of a label", param_hint="--confidence")
    if label is not None and onset is not None:
        done = say_label(
            store,
            episode,
            annotator=annotator,
            label=label,
            onset=onset,
            confidence=confidence,
            rationale=rationale,
            correct=correct,
        )
    elif invalid is not None:
        done = say_invalid(store, episode, annotator=annotator, reason=invalid, rationale=rationale, correct=correct)
    else:
        done = say_valid(store, episode, annotator=annotator, rationale=rationale, correct=correct)
    _said(done, json=json)


@app.command()
def withdraw(
    episode: EpisodeArgument,
    *,
    annotator: AnnotatorOption,
    rationale: RationaleOption = "",
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Take back what an annotator said of an episode, and put nothing in its place. The record stays, superseded.

    Example: iwreplay annotate withdraw P04-no-help --annotator anna --rationale "read again" --store samples
    """
    from iwreplay.app.annotating import withdraw as take_back

    _said(take_back(store, episode, annotator=annotator, rationale=rationale), json=json)


@app.command()
def adjudicate(
    episode: EpisodeArgument,
    *,
    annotator: AnnotatorOption,
    rationale: RationaleOption,
    label: LabelOption = None,
    onset: OnsetOption = None,
    invalid: InvalidOption = None,
    correct: CorrectOption = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Decide what holds for an episode whose annotators differ. Their records stay as they are.

    An adjudication names what it knew: when annotators say other things later, the result says that it is outdated.

    Example: iwreplay annotate adjudicate V06-silent --annotator carla --label R6 --onset turn:2 --rationale "the \
sponge was in view" --store samples
    """
    from iwreplay.app.annotating import adjudicate as decide

    done = decide(
        store,
        episode,
        annotator=annotator,
        label=label,
        onset=onset,
        reason=invalid,
        rationale=rationale,
        correct=correct,
    )
    _said(done, json=json)


@app.command(name="list")
def list_of_annotations(
    episodes: Annotated[
        list[str] | None, typer.Argument(help="Episodes; all of the store when none is given.", metavar="EPISODE")
    ] = None,
    *,
    annotator: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="As this annotator may see it: every failed episode, and what others say only of those that the "
            "annotator has labelled.",
            metavar="NAME",
        ),
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Also what was superseded.")] = False,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """List what was said, by all; or, with --for NAME, what NAME has labelled and has still to label, blind.

    A record about a log that is not in the store is listed, and said to be. --json gives every field of the records.

    Example: iwreplay annotate list --for anna --store samples
    """
    from iwreplay.app.annotation_lists import list_annotations, list_for

    wanted = tuple(episodes or ())
    if annotator is not None:
        if history:
            raise typer.BadParameter("shows what others said before; it does not go with --for", param_hint="--history")
        with progress("reading") as tell:
            assigned = list_for(store, annotator, wanted, progress=tell)
        _assigned(assigned, json=json)
        return
    with progress("reading") as tell:
        found = list_annotations(store, wanted, history=history, progress=tell)
    if json:
        print_json(found)
        return
    columns = ("episode", "annotator", "says", "turn", "event", "confidence", "record", "rationale")
    print_table(columns, [_row(a) for a in found])
    for a in found:
        if a.problem is not None:
            note(f"{a.record[:_SHORT]} ({a.annotator}): {a.problem}")
    note(counted(len(found), "record"))


@app.command()
def agree(
    *,
    needed: Annotated[
        int, typer.Option("--needed", help="Annotators who must say something before anything holds.", min=1)
    ] = 2,
    check: Annotated[
        bool, typer.Option("--check", help="Exit code 1 while a valid failure has no label that holds.")
    ] = False,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show what holds for every failed episode, how first errors are distributed, and how far annotators agree.

    What strictly more than half say holds, an adjudication before that; the rest is open. Shares are of valid failures
    with a label that holds; what is left out is counted. Agreement is shown of what is said at present, and of what the
    same annotators said first. It shows all labels: who still labels uses list --for.

    Example: iwreplay annotate agree --store samples
    """
    from iwreplay.app.first_errors import first_errors

    with progress("reading") as tell:
        found = first_errors(store, needed=needed, progress=tell)
    if json:
        print_json(found)
    else:
        _first_errors(found)
    if check and not found.settled:
        raise typer.Exit(1)


@app.command(name="export")
def export(
    file: Annotated[Path, typer.Argument(help="The file to write: NAME.jsonl or NAME.csv.", metavar="FILE")],
    *,
    form: FormatOption = None,
    annotator: Annotated[
        str | None, typer.Option("--annotator", help="Only what this annotator said; no adjudications.", metavar="NAME")
    ] = None,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Write all annotations to a file, superseded ones too: JSON Lines, or CSV for a spreadsheet.

    What is imported again is the same, record by record. A file that is there is not overwritten.

    Example: iwreplay annotate export labels.csv --store samples
    """
    from iwreplay.app.annotation_files import export_annotations

    done = export_annotations(store, file, form=form, annotator=annotator)
    if json:
        print_json(done)
    else:
        say(f"{counted(done.records, 'record')} written to {done.file} ({done.format})")


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="The file to read, in UTF-8.", metavar="FILE")],
    *,
    form: FormatOption = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Take in annotations from a file: all of them, or none when a line is refused; the error names the line.

    What is there already is left as it is. A table of your own needs the columns annotator, label, episode (or
    root_hash) and turn (or seq); docs/annotations.md has them all.

    Example: iwreplay annotate import labels.csv --store samples
    """
    from iwreplay.app.annotation_files import import_annotations

    done = import_annotations(store, file, form=form)
    if json:
        print_json(done)
        return
    say(f"{counted(done.added, 'record')} added, {done.present} there already")
    if done.elsewhere:
        note(f"{done.elsewhere} of the new ones are about logs that are not in {store}")
    for root_hash, name in done.torn:
        note(f"{name} now says two things of the log {root_hash[:_SHORT]}; settle it: iwreplay annotate add --correct")


def _said(done: Said, *, json: bool) -> None:
    if json:
        print_json(done)
        return
    what = done.label or done.reason or ""
    where = "" if done.seq is None else f" at event {done.seq}, turn {done.turn}"
    how = "" if done.added else " (it was there already)"
    say(f"{done.episode}: {' '.join(p for p in (done.kind, what) if p)}{where} by {done.annotator}{how}")
    say(f"record {done.record[:_SHORT]}" + "".join(f", in place of {s[:_SHORT]}" for s in done.supersedes))


def _first_errors(found: FirstErrors) -> None:
    rows = [
        (e.episode, r.status, r.outcome, e.turn, r.seq, len(r.votes), r.why or ("outdated" if r.outdated else None))
        for e in found.episodes
        for r in (e.result,)
    ]
    print_table(("episode", "status", "holds", "turn", "event", "annotators", "why"), rows)
    say()
    codes = tuple(found.total.counts)
    columns = ("assistant", "failures", "labelled", *codes, *(f"{c}%" for c in codes), "open", "unlabelled", "invalid")
    parts = [*found.by_assistant.items(), ("all", found.total)]
    print_table(columns, [_shares(name, part) for name, part in parts])
    say()
    say("failures: valid ones; R1% to R6%: of those labelled; invalid: as annotators found, in no share.")
    for reason, n in found.total.reasons.items():
        say(f"invalid, {reason}: {n}")
    out = found.left_out
    say(
        f"Left out: {out.passed} passed, {out.spoilt} spoilt, {out.unfinished} unfinished, {out.damaged} damaged, "
        f"{out.unscorable} unscorable; {counted(out.records_about_other_logs, 'record')} about other logs."
    )
    say()
    columns = ("agreement", "at present", "episodes", "first given", "episodes")
    print_table(columns, list(_agreement(found.agreement, found.agreement_first)))
    for pair in found.agreement.pairs if len(found.agreement.pairs) > 1 else ():
        percent, kappa = _figure(pair.label_percent), _figure(pair.label_kappa)
        say(f"{' and '.join(pair.annotators)}: the same label {percent}, kappa {kappa}, {pair.label_percent.units}")


def _shares(name: str, part: Distribution) -> tuple[object, ...]:
    percents = (None if share is None else round(100.0 * share, 1) for share in part.shares.values())
    counts = part.counts.values()
    return (name, part.failures, part.labelled, *counts, *percents, part.open, part.unlabelled, part.invalid)


_FIGURES = {
    "label_percent": "the same label, share of pairs",
    "label_kappa": "label, kappa (Cohen, or Fleiss for more than two)",
    "label_alpha": "label, Krippendorff's alpha, nominal",
    "onset_alpha": "onset in turns, Krippendorff's alpha, interval",
    "onset_within_1": "onset within one turn, share of pairs",
    "validity_percent": "the same on validity, share of pairs",
}


def _agreement(present: AgreementFigures, first: AgreementFigures) -> Iterator[tuple[object, ...]]:
    for name, text in _FIGURES.items():
        now, then = getattr(present, name), getattr(first, name)
        yield text, _figure(now), now.units, _figure(then), then.units


def _figure(value: Agreement) -> str:
    return f"undefined: {value.reason}" if value.value is None else f"{value.value:.3f}"


def _assigned(found: tuple[Assignment, ...], *, json: bool) -> None:
    if json:
        print_json(found)
        return
    rows = [(a.episode, a.task, _briefly(a.mine) or None, _briefly(a.others, names=True) or None) for a in found]
    print_table(("episode", "task", "mine", "others"), rows)
    todo = sum(not a.mine for a in found)
    note(f"{counted(len(found), 'failed episode')}, {todo} of them to annotate")


def _briefly(said: tuple[Annotation, ...], *, names: bool = False) -> str:
    return "; ".join(
        f"{a.annotator + ': ' if names else ''}{_says(a)}{'' if a.turn is None else f' turn {a.turn}'}" for a in said
    )


def _says(a: Annotation) -> str:
    """What a record comes to, in a word or two."""
    if a.kind == "withdrawal":
        return "withdrawn"
    said = a.label or ("valid" if a.valid else f"invalid: {a.reason}")
    return f"{said} (adjudicated)" if a.kind == "adjudication" else said


def _row(a: Annotation) -> tuple[object, ...]:
    says = _says(a) + (" (superseded)" if a.superseded else "")
    return (
        a.episode or f"log {a.root_hash[:_SHORT]}",
        a.annotator,
        says,
        a.turn,
        a.seq,
        a.confidence,
        a.record[:_SHORT],
        a.rationale or None,
    )
