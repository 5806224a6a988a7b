"""Episodes as a report counts them, and which of them count.

An arm is an Assistant with a Human. One episode counts for each place in it (task, seed): the first that is whole and
valid, so that recording again until it passes is of no use. What does not count is named with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from iwreplay.vocabulary import FAMILIES, Family

__all__ = ["Arm", "Instance", "LeftOut", "Selection", "TaskFacts", "select"]


class TaskFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the benchmark."""

    id: str
    family: Family
    #: version of the task file
    version: int
    oracle_actions: int


class Arm(msgspec.Struct, frozen=True, order=True):
    """Who is compared. `setup` is "" unless arms are kept apart by how they were recorded."""

    assistant: str
    human: str
    setup: str = ""

    @property
    def name(self) -> str:
        """For a row."""
        return f"{self.assistant} with {self.human}" + (f" ({self.setup})" if self.setup else "")


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """One episode."""

    episode: str
    root_hash: str | None
    task: str
    task_version: int
    #: how its task stands to the present one: "current", or see the catalogue's `task_state`
    task_state: str = "current"
    family: Family
    assistant: str
    human: str
    seed: int
    #: name of a setting -> how it was recorded: prompts, limits, versions
    setup: dict[str, str]
    #: see `iwreplay.store.STATUSES`
    status: str
    #: why it is not valid, or ""
    problem: str
    #: None: not scored
    passed: bool | None
    mcr: float | None
    #: (capability, status) of each point
    points: tuple[tuple[str, str], ...] = ()
    #: metric -> details of the score
    details: dict[str, dict[str, Any]] = {}
    #: metric -> value
    values: dict[str, float] = {}
    #: R1 to R6 as adjudicated; "" when there is no label
    first_error: str = ""
    #: why annotators found that it says nothing about its Assistant; "" when they did not
    invalid: str = ""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """An episode that no number rests on."""

    episode: str
    reason: str


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What counts."""

    tasks: tuple[TaskFacts, ...]
    arms: tuple[Arm, ...]
    #: arm -> its episodes, by task and seed
    counted: dict[Arm, tuple[Instance, ...]]
    left_out: tuple[LeftOut, ...]
    #: sentences
    warnings: tuple[str, ...]

    def of(self, arm: Arm, *, families: Sequence[str] = FAMILIES) -> tuple[Instance, ...]:
        """An arm's episodes of some families."""
        return tuple(i for i in self.counted[arm] if i.family in families)

    def missing(self, arm: Arm) -> dict[str, tuple[str, ...]]:
        """family -> tasks of which the arm has no episode that counts."""
        there = {i.task for i in self.counted[arm]}
        lacking = {f: tuple(t.id for t in self.tasks if t.family == f and t.id not in there) for f in FAMILIES}
        return {family: tasks for family, tasks in lacking.items() if tasks}


def select(instances: Iterable[Instance], *, tasks: Sequence[TaskFacts], separate: bool = False) -> Selection:
    """Which episodes count. `separate`: those that were recorded in another way are arms of their own."""
    known = {t.id for t in tasks}
    # of one place the first is the one whose name has no "-r2", "-r3" ... behind it
    found = sorted(instances, key=lambda i: (i.assistant, i.human, i.task, i.seed, len(i.episode), i.episode))
    left_out: list[LeftOut] = []
    usable: list[Instance] = []
    for i in found:
        reason = _unusable(i, known)
        if reason:
            left_out.append(LeftOut(episode=i.episode, reason=reason))
        else:
            usable.append(i)
    setups = _setups(usable)
    places: dict[tuple[Arm, str, int], Instance] = {}
    for i in usable:
        arm = Arm(i.assistant, i.human, setups[i.assistant, i.human][_key(i.setup)] if separate else "")
        first = places.setdefault((arm, i.task, i.seed), i)
        if first is not i:
            left_out.append(LeftOut(episode=i.episode, reason=f"the same place in the run as {first.episode}"))
    arms = tuple(sorted({arm for arm, _, _ in places}))
    return Selection(
        tasks=tuple(tasks),
        arms=arms,
        counted={arm: tuple(i for (a, _, _), i in places.items() if a == arm) for arm in arms},
        left_out=tuple(left_out),
        warnings=(*_of_other_tasks(places.values(), tasks), *_warnings(places, separate=separate)),
    )


def _unusable(instance: Instance, known: set[str]) -> str:
    if instance.status != "ended":
        return f"it is {instance.status}" + (f": {instance.problem}" if instance.problem else "")
    if instance.passed is None:
        return f"it can't be scored: {instance.problem or 'no score is kept'}"
    if instance.task not in known:
        return f"{instance.task} is no task of the benchmark"
    return ""


def _key(setup: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(setup.items()))


def _setups(instances: Iterable[Instance]) -> dict[tuple[str, str], dict[tuple[tuple[str, str], ...], str]]:
    """For each Assistant with a Human, a name of each way in which it was recorded; "" when there is one only."""
    keys: dict[tuple[str, str], dict[tuple[tuple[str, str], ...], str]] = {}
    for i in instances:
        keys.setdefault((i.assistant, i.human), {}).setdefault(_key(i.setup), "")
    for ways in keys.values():
        if len(ways) > 1:
            for n, way in enumerate(sorted(ways), start=1):
                ways[way] = f"setup {n}"
    return keys


def _of_other_tasks(instances: Iterable[Instance], tasks: Sequence[TaskFacts]) -> Iterable[str]:
    """Episodes whose log holds another task than the present one of that name."""
    now = {t.id: t.version for t in tasks}
    other: dict[tuple[str, int, str], int] = {}
    for i in instances:
        if i.task_state != "current":
            key = (i.task, i.task_version, i.task_state)
            other[key] = other.get(key, 0) + 1
    for (task, version, state), n in sorted(other.items()):
        yield (
            f"{task}: {n} {'episode has' if n == 1 else 'episodes have'} version {version} of the task ({state}); now "
            f"it is at version {now[task]}. Each was scored by the checks that it was recorded with."
        )


def _warnings(places: Mapping[tuple[Arm, str, int], Instance], *, separate: bool) -> Iterable[str]:
    by_arm: dict[Arm, list[Instance]] = {}
    for (arm, _, _), i in places.items():
        by_arm.setdefault(arm, []).append(i)
    for arm, mine in sorted(by_arm.items()):
        for name in sorted({n for i in mine for n in i.setup}):
            values = sorted({i.setup.get(name, "") for i in mine})
            if len(values) > 1 and not separate:
                few = ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")
                yield (
                    f"{arm.name}: episodes with different {name} are counted together ({few}). "
                    "--separate makes an arm of each."
                )
        seeds = {i.seed for i in mine}
        if len({sum(i.seed == s for i in mine) for s in seeds}) > 1:
            yield f"{arm.name}: some tasks lack some of the seeds; a task weighs the same whatever its number of seeds."
