"""Releases of the task pack: what every task was, by hashes, so that none changes in place.

`taskpacks/releases/<n>.toml` names for every task its version, the hash of the frozen task and that of its scene with
its things in it, both as a log's opening holds them. A release names the hash of the one before, and
`taskpacks/CHANGELOG.md` says what changed and why. A task that is not what the latest release says is a change that
needs a release of its own, and when the task itself changed, a version of its own. Logs need none of this: each holds
its whole task.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec

from iwreplay.app.tasks import all_or_none
from iwreplay.canonical import canonical_bytes, sha256_hex, struct_hash
from iwreplay.errors import StoreDamagedError, TaskError
from iwreplay.scene.library import load_library
from iwreplay.scene.toml import Source, converted, parsed
from iwreplay.store.directory import write_whole
from iwreplay.taskpack.loader import compile_task, survey_tasks

__all__ = ["PackState", "Release", "TaskChange", "changelog", "pack_state", "read_releases", "release_pack"]

FOLDER = "releases"
CHANGES = "CHANGELOG.md"


class _Entry(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A task as it was released."""

    version: int
    task_sha256: str
    scene_sha256: str


class Release(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One release, as its file holds it."""

    number: int
    why: str
    #: SHA-256 of the file of the release before; "" for the first
    previous: str
    tasks: dict[str, _Entry]

    @property
    def sha256(self) -> str:
        """Content hash of the pack: over all tasks with their versions and hashes."""
        return sha256_hex(canonical_bytes(self.tasks))


class TaskChange(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is not as it was released."""

    task: str
    #: "added", "removed", "task", "scene"; "version" for a task that changed and kept its version
    what: str
    version: int | None
    released_version: int | None


class PackState(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks as they are beside the latest release."""

    #: number of the latest release; 0 when there is none
    release: int
    #: content hash of that release; ""
    release_sha256: str
    #: content hash of the tasks as they are
    sha256: str
    tasks: int
    changes: tuple[TaskChange, ...]


def read_releases(root: Source) -> tuple[Release, ...]:
    """All releases in their order. TaskError for a file that is malformed, StoreDamagedError for one that is missing or
    was changed after it was released."""
    folder = root / FOLDER
    if not folder.is_dir():
        return ()
    numbers = sorted(int(f.name[:-5]) for f in folder.iterdir() if f.name.endswith(".toml") and f.name[:-5].isdigit())
    found: list[Release] = []
    before = ""
    for expected, number in enumerate(numbers, start=1):
        file = folder / f"{number}.toml"
        where = f"{FOLDER}/{file.name}"
        release = converted(parsed(file, error=TaskError), Release, where=where, error=TaskError)
        if number != expected or release.number != number:
            raise StoreDamagedError(f"{where} is number {release.number}; release {expected} is missing")
        if release.previous != before:
            what = "a release" if number > 1 else "something"
            raise StoreDamagedError(f"{where} follows {what} other than release {number - 1} as it is now")
        found.append(release)
        before = sha256_hex(file.read_bytes())
    return tuple(found)


def pack_state(root: Source, *, progress: Callable[[int, int], None] = lambda done, of: None) -> PackState:
    """Compares every task with the latest release; errors as of `read_releases`, and TaskError for malformed tasks."""
    return _state(read_releases(root), _entries(root, progress=progress))


def _state(released: tuple[Release, ...], now: dict[str, _Entry]) -> PackState:
    latest = released[-1] if released else None
    return PackState(
        release=latest.number if latest else 0,
        release_sha256=latest.sha256 if latest else "",
        sha256=sha256_hex(canonical_bytes(now)),
        tasks=len(now),
        changes=_changes(latest.tasks if latest else {}, now),
    )


def _entries(root: Source, *, progress: Callable[[int, int], None]) -> dict[str, _Entry]:
    tasks, problems = survey_tasks(root)
    all_or_none(problems)
    library = load_library(root / "objects")
    found = {}
    for n, task in enumerate(tasks):
        progress(n, len(tasks))
        scene = compile_task(task, root=root, library=library)
        found[task.id] = _Entry(task.version, struct_hash(task), struct_hash(scene))
    progress(len(tasks), len(tasks))
    return found


def _changes(before: dict[str, _Entry], now: dict[str, _Entry]) -> tuple[TaskChange, ...]:
    found = (_change(name, before.get(name), now.get(name)) for name in sorted({*now, *before}))
    return tuple(c for c in found if c is not None)


def _change(name: str, before: _Entry | None, now: _Entry | None) -> TaskChange | None:
    if now == before:
        return None
    if before is None or now is None:
        what = "added" if before is None else "removed"
    elif now.task_sha256 == before.task_sha256:
        what = "scene"
    else:
        what = "task" if now.version > before.version else "version"
    versions = (entry.version if entry else None for entry in (now, before))
    return TaskChange(task=name, what=what, version=next(versions), released_version=next(versions))


def release_pack(root: Path, *, why: str, progress: Callable[[int, int], None] = lambda done, of: None) -> PackState:
    """Writes the next release, and the changelog anew from all of them. TaskError when nothing changed, when no reason
    is given, or when a task changed and its version did not rise; then nothing is written."""
    why = " ".join(why.split())
    if not why:
        raise TaskError("a release needs a reason: say with --why what changed and why")
    if not why.isprintable():
        raise TaskError(f"the reason {why!r} has characters that can't be printed; leave them out")
    released, now = read_releases(root), _entries(root, progress=progress)
    state = _state(released, now)
    if not state.changes:
        raise TaskError(f"nothing changed since release {state.release}")
    all_or_none(
        f"{c.task}: it is not what release {state.release} says and still version {c.version}; raise its `version` "
        f"above {c.released_version}"
        for c in state.changes
        if c.what == "version"
    )
    number = state.release + 1
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    previous = folder / f"{state.release}.toml"
    lines = [
        f"# Release {number} of the task pack, written by `iwreplay tasks release`. Never changed afterwards.",
        f"number = {number}",
        f"why = {json.dumps(why, ensure_ascii=False)}",
        f'previous = "{sha256_hex(previous.read_bytes()) if state.release else ""}"',
        "[tasks]",
        *(f'{name} = [{e.version}, "{e.task_sha256}", "{e.scene_sha256}"]' for name, e in now.items()),
    ]
    write_whole(folder / f"{number}.toml", ("\n".join(lines) + "\n").encode())
    released = read_releases(root)
    write_whole(root / CHANGES, changelog(released).encode())
    return _state(released, now)


_TITLE = """# Changelog of the task pack

One paragraph a release, the latest first, written by `iwreplay tasks release`. The hash is the pack's content hash.
"""


def changelog(released: tuple[Release, ...]) -> str:
    """The changelog of the pack, as its releases tell it."""
    before: dict[str, _Entry] = {}
    paragraphs = []
    for release in released:
        paragraphs.append(_paragraph(release, before))
        before = release.tasks
    return _TITLE + "".join(reversed(paragraphs))


def _paragraph(release: Release, before: dict[str, _Entry]) -> str:
    content = f"Content hash `{release.sha256}`, {len(release.tasks)} tasks.\n"
    said = [f"\n## Release {release.number}\n", f"{release.why}\n", content]
    changes = _changes(before, release.tasks)
    names = (("added", "Added"), ("removed", "Removed"), ("task", "Changed"), ("scene", "In a scene that changed"))
    for what, title in names:
        tasks = [c.task for c in changes if c.what == what]
        if tasks:
            said.append(f"- {title}: {', '.join(tasks)}")
    return "\n".join(said) + "\n"
