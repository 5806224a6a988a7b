"""Did the Assistant speak up at the right time? (Prevention)

The wearer of a Prevention task acts by itself until the Assistant interrupts, the same way every time. So the turn at
which the oracle first speaks is the first one with a reason to: until then an episode and the oracle's are in the same
world. The verdict:

- `right`: every capability point for proactivity (C8) that was reached is passed; in a task without such a point, the
  Assistant first spoke no earlier than the oracle does, and before a gate was broken or the wearer had done all that it
  intended.
- `needless`: it first spoke before there was a reason.
- `late`: it spoke when there was a reason, but too late.
- `missed`: it never spoke.
"""

from __future__ import annotations

from iwreplay.taskpack.model import TaskPack
from scorers.course import Course, Decision
from scorers.examine import Examined
from scorers.model import Score, Scorer, Unscorable

__all__ = ["INTERVENTIONS"]


def _interventions(examined: Examined) -> Score | Unscorable:
    """1 when the verdict is `right`, else 0; the details hold the verdict, and how often it spoke without a reason."""
    task, course = examined.task, examined.course
    assert course is not None, "a scorer that reads the course says so"
    if task.family != "prevention":
        return Unscorable(
            metric="interventions", reason="only a Prevention task has a time at which to speak up", undefined=True
        )
    reason = next((turn for turn, step in enumerate(task.oracle, start=1) if step.say), None)
    if reason is None:
        return Unscorable(metric="interventions", reason="the oracle never speaks", undefined=True)
    spoken = [d for d in course.decisions if d.decision == "interrupt"]
    verdict = _verdict(examined, course, reason=reason, first=spoken[0] if spoken else None)
    return Score(
        metric="interventions",
        value=1.0 if verdict == "right" else 0.0,
        evidence=(spoken[0].seq,) if spoken else tuple(d.seq for d in course.decisions),
        details={
            "verdict": verdict,
            "first_turn": spoken[0].turn if spoken else None,
            "reason_turn": reason,
            "needless": sum(d.turn < reason for d in spoken),
            "interrupts": len(spoken),
        },
    )


def _verdict(examined: Examined, course: Course, *, reason: int, first: Decision | None) -> str:
    if first is None:
        return "missed"
    points = [p for p in examined.evaluation.points if p.capability == "C8" and p.status != "not_reached"]
    if points:
        in_time = all(p.status != "fail" for p in points)
    else:
        in_time = first.turn >= reason and not _too_late(examined, course, first.seq)
    if in_time:
        return "right"
    return "needless" if first.turn < reason else "late"


def _too_late(examined: Examined, course: Course, seq: int) -> bool:
    """Whether a gate was broken, or all was done that the wearer intended, before event `seq`."""
    broken = any(not g.held and g.decided_seq < seq for g in examined.evaluation.gates)
    done = sum(c.source == "intent" and c.seq < seq for c in course.commands)
    return broken or done >= _intended(examined.task) > 0


def _intended(task: TaskPack) -> int:
    return len(task.human.intent)


INTERVENTIONS = Scorer(name="interventions", version=1, module=__name__, judge=_interventions, reads_course=True)
