"""The plan of a benchmark run: which episodes, of what. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from iwreplay.vocabulary import Family

__all__ = ["PLAN_FORMAT", "Cell", "Plan", "PlanTask", "differences"]

PLAN_FORMAT = 1


class PlanTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task as it was when the run was planned."""

    id: str
    family: Family
    version: int
    #: of the task, and of its scene with everything in it
    task_sha256: str
    scene_sha256: str


class Cell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One episode that is wanted."""

    task: str
    assistant: str
    human: str
    seed: int

    @property
    def key(self) -> str:
        """Its name within its run."""
        return f"{self.task} | {self.assistant} | {self.human} | {self.seed}"


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that shapes the episodes of a run. It does not change while the run goes on."""

    format: int
    assistants: tuple[str, ...]
    humans: tuple[str, ...]
    #: as they were asked for: ids, beginnings of ids, files, "all"
    asked: tuple[str, ...]
    tasks: tuple[PlanTask, ...]
    seeds: tuple[int, ...]
    #: whether frames are drawn
    frames: bool
    #: prompt of hosted models: name -> sha256
    prompts: dict[str, str]
    #: lines of scripted Assistants: as named -> sha256 of what they say
    scripts: dict[str, str] = {}
    #: iwreplay's version
    made_by: str

    def cells(self) -> Iterator[Cell]:
        """The episodes: for each seed and task all pairs of participants, so that pairs can be compared early."""
        for seed in self.seeds:
            for task in self.tasks:
                for assistant in self.assistants:
                    for human in self.humans:
                        yield Cell(task=task.id, assistant=assistant, human=human, seed=seed)


def differences(kept: Plan, asked: Plan) -> tuple[str, ...]:
    """In what two plans differ, in words; empty when a run of one can go on with the other."""
    found: list[str] = []
    for field in msgspec.structs.fields(Plan):
        was, now = getattr(kept, field.name), getattr(asked, field.name)
        if was == now:
            continue
        if field.name == "tasks":
            found += _of_tasks(kept.tasks, asked.tasks)
        else:
            found.append(f"{field.name}: {_short(was)}, now {_short(now)}")
    return tuple(found)


def _of_tasks(kept: tuple[PlanTask, ...], asked: tuple[PlanTask, ...]) -> list[str]:
    was, now = {t.id: t for t in kept}, {t.id: t for t in asked}
    found = [f"task {i} is not in the run" for i in now if i not in was]
    found += [f"task {i} of the run is not asked for" for i in was if i not in now]
    found += [f"task {i} was changed since the run began" for i in was if i in now and was[i] != now[i]]
    return found or ["the order of the tasks"]


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 120 else text[:120] + " ..."
