"""`iwreplay tasks`: what there is, what it asks, and whether it holds together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from iwreplay.cli.options import DEFAULT_STORE, JsonOption, NoStoreOption
from iwreplay.cli.output import counted, exit_with, note, print_json, print_table, progress, say
from iwreplay.cli.secrets import secrets

if TYPE_CHECKING:
    from iwreplay.app.releases import PackState
    from iwreplay.app.validation import TaskReport
    from iwreplay.taskpack.model import TaskPack

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The benchmark's tasks: list, show, check by running them."
)

SearchName = Literal["bounded", "full"]
TaskArgument = Annotated[
    str, typer.Argument(help="Id of a task (G05), a unique beginning of it, or a TOML file.", metavar="TASK")
]


@app.command(name="list")
def list_tasks(*, store: NoStoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """List the tasks.

    A file that is malformed is named on stderr, and hides no other; the exit code is 1 then.

    Example: iwreplay tasks list --json
    """
    from iwreplay.app.tasks import list_tasks as listed

    tasks, problems = listed()
    rows = [{"id": t.id, "family": t.family, "title": t.title, "scene": t.scene, "version": t.version} for t in tasks]
    if json:
        print_json(rows)
    else:
        print_table(("id", "family", "title", "scene"), [(r["id"], r["family"], r["title"], r["scene"]) for r in rows])
    exit_with(problems)


@app.command()
def show(task: TaskArgument, *, store: NoStoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Show what a task asks, its oracle, and what is checked. (Spoils it.)

    Example: iwreplay tasks show V06
    """
    from iwreplay.app.tasks import find_task

    found = find_task(task)
    if json:
        print_json(found)
        return
    _describe(found)


@app.command()
def check(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Tasks to check; all when none is given.", metavar="TASK")
    ] = None,
    *,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Tasks checked at a time.", min=1)] = 1,
    search: Annotated[
        SearchName, typer.Option("--search", help="How long to look for a shorter oracle.", case_sensitive=False)
    ] = "bounded",
    checks: Annotated[bool, typer.Option("--checks", help="Print every check, with what was found.")] = False,
    write_report: Annotated[
        Path | None,
        typer.Option("--write-report", help="Write HTML pages to look at: an index, and one a task.", metavar="DIR"),
    ] = None,
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Check tasks by running them: the oracle passes, silence and no help fail, a near miss fails exactly its checks,
    and a hand gets to everything that is placed and used.

    A malformed file fails the check "loads", with its path and line, and the others are checked all the same. Exit code
    1 when any check fails.

    Example: iwreplay tasks check V06
    """
    from iwreplay.app.validation import check_tasks

    with progress("checking") as tell:
        reports = check_tasks(tuple(tasks or ()), jobs=jobs, search=search, pages=write_report, progress=tell)
    if json:
        print_json(reports)
    else:
        _print_reports(reports, every=checks)
    if not all(r.ok for r in reports):
        raise typer.Exit(1)


@app.command()
def new(
    task: Annotated[str, typer.Argument(help="Its id: the family's letter and two digits, such as G21.", metavar="ID")],
    *,
    family: Annotated[str, typer.Option("--family", help="Family that it belongs to.")],
    scene: Annotated[str, typer.Option("--scene", help="Id of a scene, or a unique beginning of it.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write; ID.toml when left out.", metavar="FILE")
    ] = None,
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Write a task file that loads, with comments that say what to put in its place; never over a file.

    Example: iwreplay tasks new G21 --family guidance --scene family_kitchen
    """
    from iwreplay.app.skeleton import new_task

    path = new_task(task, family=family, scene=scene, out=out)
    if json:
        print_json({"file": str(path)})
    else:
        say(f"{path}: docs/tasks.md leads through it; then: iwreplay tasks check {path}")


@app.command()
def generate(
    *,
    family: Annotated[str, typer.Option("--family", help="Family of the task.")],
    capability: Annotated[str, typer.Option("--capability", help="Capability that it must test: C1 to C9.")],
    author: Annotated[
        str, typer.Option("--author", help="Model that writes, as litellm names it: provider/name.", metavar="MODEL")
    ],
    reviewer: Annotated[str, typer.Option("--reviewer", help="Model that reviews; not the author.", metavar="MODEL")],
    task: Annotated[
        str, typer.Option("--id", help="Its id; the family's first free number when left out.", metavar="ID")
    ] = "",
    scene: Annotated[str, typer.Option("--scene", help="Scene to play in; the author's choice when left out.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder to work in; generated/ID when left out.", metavar="DIR")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Given to the models.", min=0)] = 11,
    revisions: Annotated[int, typer.Option("--revisions", help="Most revisions.", min=0, max=99)] = 8,
    search: Annotated[
        SearchName, typer.Option("--search", help="How long to look for a shorter oracle.", case_sensitive=False)
    ] = "bounded",
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Have language models write a task: proposal, two reviews, a frozen target, the task, and all that `tasks check`
    runs, again and again until nothing is wrong.

    What is wrong goes back to the author, which may change anything but the frozen target. Everything that was asked
    and answered is in DIR/generation.jsonl; stopped with Ctrl-C or by a provider, the same command goes on where it
    was. DIR/pages shows what the Assistant saw: look at it before you use the task. Keys are taken from the environment
    variables that litellm knows. Needs the extra `models`. Exit code 1 when the revisions did not suffice.

    Example: iwreplay tasks generate --family finding --capability C4 --author gemini/NAME --reviewer openai/NAME
    """
    from iwreplay.app.generating import generate_task, hosted_models, plan_generation
    from iwreplay.errors import ModelError

    plan = plan_generation(
        family=family, capability=capability, task_id=task, scene=scene, seed=seed, revisions=revisions, search=search
    )
    writes, reviews = hosted_models(author, reviewer, secrets=secrets())
    folder = out or Path("generated") / plan.task_id
    try:
        done = generate_task(plan, author=writes, reviewer=reviews, out=folder, progress=note)
    except ModelError:
        note(f"what was answered is kept in {folder}; the same command goes on from there")
        raise
    if json:
        print_json(done)
    else:
        price = "at an unknown price" if done.cost_usd is None else f"for {done.cost_usd:.2f} US dollars"
        asked = (
            f"{counted(done.revisions, 'revision')}, {counted(done.calls, 'call')} ({done.reused} from before) {price}"
        )
        if done.file is None:
            say(f"{done.task} was given up: {done.reason}")
        else:
            say(f"{done.file}: everything holds. Look at {done.pages} before you use it.")
        say(f"{asked}; all of it is in {done.journal}")
    if done.file is None:
        raise typer.Exit(1)


@app.command()
def pack(*, store: NoStoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """Say which release of the task pack this is, and which tasks are not as they were released.

    A task is its file and its scene with everything in it. Exit code 1 when anything differs from the latest release.

    Example: iwreplay tasks pack --json
    """
    from iwreplay.app.releases import pack_state
    from iwreplay.scene.loader import data_root

    with progress("comparing") as tell:
        state = pack_state(data_root(), progress=tell)
    _print_state(state, json=json)
    if state.changes:
        raise typer.Exit(1)


@app.command()
def release(
    *,
    why: Annotated[str, typer.Option("--why", help="What changed since the release before, and why.", metavar="TEXT")],
    store: NoStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Release the tasks as they are: write their hashes, and a paragraph in the pack's changelog.

    A task whose file changed needs a `version` above the released one. Releases are never changed afterwards.

    Example: iwreplay tasks release --why "The board of D07 is larger: it could not be read from the door."
    """
    from iwreplay.app.releases import release_pack
    from iwreplay.scene.loader import data_root

    root = data_root()
    if not isinstance(root, Path):
        raise typer.BadParameter("the task pack is not in a folder that can be written")
    with progress("comparing") as tell:
        state = release_pack(root, why=why, progress=tell)
    _print_state(state, json=json)


def _print_state(state: PackState, *, json: bool) -> None:
    if json:
        print_json(state)
        return
    if state.changes:
        rows = [(c.task, _CHANGES[c.what], c.version, c.released_version) for c in state.changes]
        print_table(("task", "change", "version", "released version"), rows)
        say("")
    changed, same = len(state.changes), state.tasks - sum(c.what != "removed" for c in state.changes)
    if not state.release:
        say(f"Nothing has been released yet: {counted(state.tasks, 'task')}.")
    elif changed:
        has = "has" if changed == 1 else "have"
        say(f"Since release {state.release}, {counted(changed, 'task')} {has} changed (see the table).")
        say(f"The other {same} of the {state.tasks} here are as they were released.")
        say(f"Content hash of release {state.release}: {state.release_sha256}")
    else:
        say(f"This is release {state.release}: all {counted(state.tasks, 'task')} are as they were released.")
    say(f"Content hash of the tasks here: {state.sha256}")


#: what a change is called
_CHANGES = {
    "added": "added",
    "removed": "removed",
    "scene": "its scene changed",
    "task": "changed",
    "version": "changed, and its version did not rise",
}


def _print_reports(reports: tuple[TaskReport, ...], *, every: bool) -> None:
    """The table, then every check that failed with its reason, then the sums."""
    columns = ("task", "family", "turns", "actions", "ok", "failed", "seconds", "by lot")
    print_table(columns, [_row(r) for r in reports])
    if every:
        say("")
        print_table(
            ("task", "check", "ok", "detail"), [(r.task, c.name, c.ok, c.detail) for r in reports for c in r.checks]
        )
    bad = [(r.task, c) for r in reports for c in r.checks if not c.ok]
    for name, failed in bad:
        say(f"\n{name}, {failed.name}: {failed.detail}")
    tasks = sum(r.turns > 0 for r in reports)
    done = counted(sum(len(r.checks) for r in reports), "check")
    say(f"\n{counted(tasks, 'task')}, {done}, {len(bad)} failed")


def _row(r: TaskReport) -> tuple[object, ...]:
    failed = sum(not c.ok for c in r.checks)
    is_task = r.turns > 0
    return (
        r.task,
        r.family or None,
        r.turns if is_task else None,
        r.actions if is_task else None,
        len(r.checks) - failed,
        failed,
        round(r.seconds, 1) if is_task else None,
        None if r.by_lot is None else round(r.by_lot, 3),
    )


def _describe(task: TaskPack) -> None:
    say(f"{task.id} {task.title}  ({task.family}, scene {task.scene}, version {task.version})")
    say(f"Request: {task.request}")
    say(f"Human: {task.human.role}")
    if task.warmup:
        say("Warmup: " + " ".join(task.warmup))
    for event in task.script:
        say(f"Scripted: {event.id}: " + "; ".join(f"{a.do} {a.text or a.thing}".strip() for a in event.do))
    say("Oracle:")
    for n, step in enumerate(task.oracle, start=1):
        say(f"  {n:>2}. {step.say or '(silent)'}  {' '.join(step.do)}".rstrip())
    for title, gates in (("Gates (must hold throughout)", task.gates), ("Keeps (must hold at the end)", task.keeps)):
        if gates:
            say(f"{title}:")
            for gate in gates:
                say(f"  {gate.id}: {gate.text}")
    say("Objectives:")
    for objective in task.objectives:
        say(f"  {objective.id}: {objective.text}")
    if task.points:
        say("Capability points:")
        for point in task.points:
            say(f"  {point.id} ({point.capability}): {point.text}")
    if task.near_misses:
        say("Near misses:")
        for miss in task.near_misses:
            say(f"  {miss.id}: {miss.text} Fails {', '.join(miss.fails)}.")
