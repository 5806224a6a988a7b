"""A refresh that is interrupted goes on later, reads in several processes what it reads in one, and compares tasks."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.synthetic import scene, task
from iwreplay.app.catalogue import DataTasks
from iwreplay.app.pool import in_order
from iwreplay.canonical import struct_hash
from iwreplay.catalogue import Catalogue, KnownTasks, PresentTask, ReleasedTask, question
from iwreplay.catalogue.schema import TABLES
from iwreplay.store import Store
from tests.catalogue.conftest import write_episode

SAMPLES = Path(__file__).resolve().parents[2] / "episodes" / "samples"
TASK, SCENE = struct_hash(task("G99")), struct_hash(scene())


class _Book:
    """Tasks as a test says that they are now."""

    def __init__(self, stamp: str, *present: PresentTask, released: tuple[ReleasedTask, ...] = ()) -> None:
        self.stamp, self.present, self.released = stamp, present, released

    def read(self) -> KnownTasks:
        return KnownTasks(self.present, self.released)


def _everything(catalogue: Catalogue) -> dict[str, tuple[tuple[Any, ...], ...]]:
    with catalogue:
        return {t.name: catalogue.ask(f"SELECT * FROM {t.name} ORDER BY ALL").rows for t in TABLES}


def _state(catalogue: Catalogue) -> tuple[Any, ...]:
    catalogue.refresh()
    return catalogue.ask("SELECT task_state, task_release FROM episodes").rows[0]


def test_one_that_is_interrupted_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iwreplay.catalogue.database._EPISODES_A_TIME", 1)
    monkeypatch.setattr("iwreplay.catalogue.filling._ROWS_PER_COMMIT", 1)
    for n in range(5):
        write_episode(store, seed=n)
    catalogue = Catalogue(store, scorers={})

    def pressed(done: int, of: int) -> None:
        assert of == 5
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catalogue.refresh(progress=pressed)
    assert catalogue.ask("SELECT count(*) FROM episodes").rows == ((3,),)
    told: list[tuple[int, int]] = []
    done = catalogue.refresh(progress=lambda n, of: told.append((n, of)))
    assert (len(done.added), done.unchanged) == (2, 3)
    assert told == [(1, 2), (2, 2)]
    grown = _everything(catalogue)
    catalogue.refresh(rebuild=True)
    assert _everything(catalogue) == grown


def test_two_processes_read_what_one_does(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iwreplay.catalogue.database._EPISODES_A_TIME", 2)
    for n in range(9):
        write_episode(store, seed=n, end=None if n == 4 else "done")
    one = Catalogue(store, scorers={})
    one.refresh()
    alone = _everything(one)
    two = Catalogue(store, scorers={}, each=partial(in_order, jobs=2))
    assert len(two.refresh(rebuild=True).added) == 9
    assert _everything(two) == alone


def test_nothing_waits_without_bound() -> None:
    """What is not asked for is not begun."""
    begun: list[int] = []
    found = in_order(lambda n: begun.append(n) or n, range(100), jobs=1)
    assert [next(found), next(found)] == [0, 1]
    assert begun == [0, 1]


@pytest.mark.parametrize(
    ("present", "released", "state"),
    [
        ((1, TASK, SCENE), (), ("current", None)),
        ((1, TASK, None), (), ("current", None)),
        ((1, TASK, SCENE), ((1, TASK, SCENE), (2, TASK, SCENE)), ("current", 2)),
        ((2, "other", SCENE), (), ("older", None)),
        ((2, "other", SCENE), ((1, TASK, SCENE), (2, "other", SCENE)), ("older", 1)),
        ((0, "other", SCENE), (), ("newer", None)),
        ((1, "other", SCENE), (), ("changed", None)),
        ((1, TASK, "another"), (), ("changed", None)),
        ((1, TASK, "another"), ((1, TASK, SCENE), (2, TASK, "another")), ("older", 1)),
        ((1, TASK, "another"), ((1, TASK, "a third"),), ("changed", None)),
    ],
)
def test_how_a_task_stands_to_the_present_one(
    store: Store,
    present: tuple[int, str, str | None],
    released: tuple[tuple[int, str, str], ...],
    state: tuple[str, int | None],
) -> None:
    write_episode(store)
    book = _Book("1", PresentTask("G99", *present), released=tuple(ReleasedTask("G99", *r) for r in released))
    assert _state(Catalogue(store, scorers={}, tasks=book)) == state


def test_tasks_that_change_are_compared_anew_and_no_log_is_read_for_it(store: Store) -> None:
    write_episode(store)
    there = PresentTask("G99", 1, TASK, SCENE)
    assert _state(Catalogue(store, scorers={})) == ("unknown", None)
    assert _state(Catalogue(store, scorers={}, tasks=_Book("1", there))) == ("current", None)
    later = Catalogue(store, scorers={}, tasks=_Book("2", PresentTask("G99", 2, "new", None)))
    done = later.refresh()
    assert (done.added, done.changed, done.unchanged) == ((), (), 1)
    assert _state(later) == ("older", None)
    write_episode(store, seed=1)
    later.refresh()
    rows = later.ask(question("tasks").sql).rows
    assert [(r[0], r[1], r[2], r[3], r[4], r[5], r[6]) for r in rows] == [("G99", 1, "older", None, 1, 2, 1)]


def test_what_does_not_say_its_task_is_unknown(store: Store) -> None:
    entry = store.new_episode(task="G99", assistant="a", human="b", seed=0)
    entry.log.write_bytes(b"no log")
    book = _Book("1", PresentTask("G99", 1, TASK, SCENE))
    assert _state(Catalogue(store, scorers={}, tasks=book)) == ("unknown", None)


def test_the_tasks_of_the_data_package(store: Store, tmp_path: Path) -> None:
    """A sample was recorded from a task as it is; a copy of the package in which that task is another says so."""
    store.take_in("V06", lambda path: shutil.copyfile(SAMPLES / "V06-oracle.arrows", path) and None)
    root = Path(__file__).resolve().parents[2] / "taskpacks"
    released = len(list((root / "releases").glob("*.toml")))
    assert _state(Catalogue(store, scorers={}, tasks=DataTasks(root))) == ("current", released)
    copy = tmp_path / "taskpacks"
    shutil.copytree(root, copy)
    assert DataTasks(copy).stamp == DataTasks(root).stamp
    (file,) = (copy / "prevention").glob("v06_*.toml")
    file.write_text(file.read_text(encoding="utf-8") + "# a word\n", encoding="utf-8")
    other = DataTasks(copy)
    assert other.stamp != DataTasks(root).stamp
    assert _state(Catalogue(store, scorers={}, tasks=other)) == ("current", released), "a comment changes no task"
    text = file.read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("title"))
    file.write_text(text.replace(title, 'title = "Another"'), encoding="utf-8")
    assert _state(Catalogue(store, scorers={}, tasks=DataTasks(copy))) == ("older", released)
