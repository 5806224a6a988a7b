"""Episodes as a report counts them, and which of them count.

An arm is an Assistant with a Human. One episode counts for each place in it (task, seed): the first that is whole and
valid, so that recording again until it passes is of no use. A store names the repetitions of an episode "-r2",
"-r3" ..., so the first is the one with the shortest id. What does not count is named with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from iwreplay.vocabulary import FAMILIES, Family

__all__ = ["Arm", "Instance", "LeftOut", "Selection", "TaskFacts", "select"]

#: settings whose name ends like this are the Assistant's own
OF_THE_ASSISTANT = "of the Assistant"
_Settings = tuple[tuple[str, str], ...]


class TaskFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the benchmark."""

    id: str
    family: Family
    #: version of the task file
    version: int
    oracle_actions: int


class Arm(msgspec.Struct, frozen=True, order=True):
    """Who is compared. Arms that are kept apart by how they were recorded have a `setup` (all but what the Assistant
    was told and set to: arms of one setup can be compared) and a `variant` of the Assistant; else these are ""."""

    assistant: str
    human: str
    setup: str = ""
    variant: str = ""

    @property
    def name(self) -> str:
        """For a row."""
        more = ", ".join(part for part in (self.setup, self.variant) if part)
        return f"{self.assistant} with {self.human}" + (f" ({more})" if more else "")


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
    #: what differs from task to task by its nature, such as the lines of a script, as hashes
    script: str = ""
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
    #: somebody gave a label, and none holds yet
    disputed: bool = False
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
    found = sorted(instances, key=lambda i: (i.assistant, i.human, i.task, i.seed, len(i.episode), i.episode))
    left_out: list[LeftOut] = []
    usable: list[Instance] = []
    for i in found:
        reason = _unusable(i, known)
        if reason:
            left_out.append(LeftOut(episode=i.episode, reason=reason))
        else:
            usable.append(i)
    arm_of = _arms(usable, separate=separate)
    places: dict[tuple[Arm, str, int], Instance] = {}
    otherwise: dict[Arm, dict[str, None]] = {}
    for i in usable:
        arm = arm_of(i)
        first = places.setdefault((arm, i.task, i.seed), i)
        if first is not i:
            differs = _differences(first, i)
            otherwise.setdefault(arm, {}).update(dict.fromkeys(differs))
            how = f", recorded with other {', '.join(differs)}" if differs else ""
            left_out.append(LeftOut(episode=i.episode, reason=f"the same place in the run as {first.episode}{how}"))
    arms = tuple(sorted({arm for arm, _, _ in places}))
    return Selection(
        tasks=tuple(tasks),
        arms=arms,
        counted={arm: tuple(i for (a, _, _), i in places.items() if a == arm) for arm in arms},
        left_out=tuple(left_out),
        warnings=(
            *_of_other_tasks(places.values(), tasks),
            *_mixed(places, separate=separate),
            *_displaced(otherwise),
            *_uneven(places),
        ),
    )


def _unusable(instance: Instance, known: set[str]) -> str:
    if instance.status != "ended":
        return f"it is {instance.status}" + (f": {instance.problem}" if instance.problem else "")
    if instance.passed is None:
        return f"it can't be scored: {instance.problem or 'no score is kept'}"
    if instance.task not in known:
        return f"{instance.task} is no task of the benchmark"
    return ""


def _differences(first: Instance, other: Instance) -> list[str]:
    """Settings in which two episodes of one place differ."""
    names = [n for n in first.setup | other.setup if first.setup.get(n) != other.setup.get(n)]
    return names + ["lines"] * (first.script != other.script)


def _arms(instances: Sequence[Instance], *, separate: bool) -> Callable[[Instance], Arm]:
    """The arm of each episode."""
    setups = sorted({_settings(i, own=False) for i in instances})
    variants: dict[str, list[_Settings]] = {}
    for i in instances:
        mine = variants.setdefault(i.assistant, [])
        if _settings(i, own=True) not in mine:
            mine.append(_settings(i, own=True))
    numbered = {name: sorted(mine) for name, mine in variants.items()}

    def arm(i: Instance) -> Arm:
        if not separate:
            return Arm(i.assistant, i.human)
        mine = numbered[i.assistant]
        return Arm(
            i.assistant,
            i.human,
            f"setup {setups.index(_settings(i, own=False)) + 1}" if len(setups) > 1 else "",
            f"variant {mine.index(_settings(i, own=True)) + 1}" if len(mine) > 1 else "",
        )

    return arm


def _settings(instance: Instance, *, own: bool) -> _Settings:
    """What the Assistant was told and set to, or all else."""
    return tuple(sorted((n, v) for n, v in instance.setup.items() if n.endswith(OF_THE_ASSISTANT) == own))


def _of_other_tasks(instances: Iterable[Instance], tasks: Sequence[TaskFacts]) -> Iterable[str]:
    """Episodes whose log holds another task than the present one of that name."""
    now = {t.id: t.version for t in tasks}
    other: dict[tuple[str, int], int] = {}
    for i in instances:
        if i.task_state != "current":
            other[i.task, i.task_version] = other.get((i.task, i.task_version), 0) + 1
    for (task, version), n in sorted(other.items()):
        have = "1 episode has" if n == 1 else f"{n} episodes have"
        which = "another task of this name" if version == now[task] else f"version {version} of it, not {now[task]}"
        yield f"{task}: {have} {which}; scored by the checks in the log."


def _mixed(places: Mapping[tuple[Arm, str, int], Instance], *, separate: bool) -> Iterable[str]:
    """Settings that differ within an arm."""
    for arm, mine in _by_arm(places):
        for name in sorted({n for i in mine for n in i.setup}):
            values = sorted({i.setup.get(name, "") or "none" for i in mine})
            if len(values) > 1 and not separate:
                few = ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")
                yield (
                    f"{arm.name}: episodes with different {name} are counted together ({few}). "
                    "--separate makes an arm of each."
                )


def _displaced(otherwise: Mapping[Arm, Mapping[str, None]]) -> Iterable[str]:
    """Settings that differ between an episode that counts and one that has the same place."""
    for arm, names in sorted(otherwise.items()):
        if names:
            yield (
                f"{arm.name}: episodes that were recorded with other {', '.join(names)} have the same place as others, "
                "and are left out. --separate makes an arm of each setting, but not of each script."
            )


def _uneven(places: Mapping[tuple[Arm, str, int], Instance]) -> Iterable[str]:
    for arm, mine in _by_arm(places):
        if len({sum(i.seed == s for i in mine) for s in {i.seed for i in mine}}) > 1:
            yield (
                f"{arm.name}: some tasks lack some of the seeds. In Pass each task weighs the same all the same; in "
                "the other figures each episode does."
            )


def _by_arm(places: Mapping[tuple[Arm, str, int], Instance]) -> list[tuple[Arm, list[Instance]]]:
    found: dict[Arm, list[Instance]] = {}
    for (arm, _, _), i in places.items():
        found.setdefault(arm, []).append(i)
    return sorted(found.items(), key=lambda pair: pair[0])
