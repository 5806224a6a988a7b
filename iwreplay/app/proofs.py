"""What is proven of a task beside its runs: evidence is shown in time, nothing shorter passes, guessing fails."""

from __future__ import annotations

import msgspec

from iwreplay.app.evidence import Proof, prove_evidence
from iwreplay.app.shorter import MOST_COMMANDS, Marks, Search, find_shorter
from iwreplay.checks.lint import MOST_BY_LOT, choice_outcomes, expected_by_lot
from iwreplay.events import EpisodeConfig, Event
from iwreplay.frames.maker import FrameMaker
from iwreplay.ports import Simulator
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack

__all__ = ["Finding", "evidence_finding", "guessing_finding", "shortest_finding"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    #: what was found; says what is wrong, and what to do, when it is
    detail: str = ""


def evidence_finding(task: TaskPack, proofs: tuple[Proof, ...]) -> Finding:
    """What must be read, seen or remembered was in a frame that the Assistant was shown before it mattered."""
    problems = [p.problem for p in proofs if p.problem]
    if "C3" in task.tests and not any(p.reads for p in proofs):
        problems.append("the task tests C3 (scene text), but no text is read: have it Read, or declare it as evidence")
    if "C4" in task.tests and not task.evidence:
        problems.append("the task tests C4 (memory), but does not say what must be remembered: declare it as evidence")
    shown = "; ".join(_told(p) for p in proofs)
    return Finding(name="evidence is shown in time", ok=not problems, detail="; ".join(problems) or shown)


def _told(proof: Proof) -> str:
    seen = f"{proof.what} in {proof.frame}, shown in turn {proof.turn}"
    if proof.text is None:
        return seen
    return f"{seen} ({proof.text.cap_px:.1f} px, contrast {proof.text.contrast:.1f})"


def shortest_finding(
    task: TaskPack,
    scene: CompiledScene,
    *,
    oracle: tuple[Event, ...],
    marks: Marks,
    config: EpisodeConfig,
    simulator: Simulator,
    maker: FrameMaker,
    search: Search,
) -> Finding:
    """No shorter legal order of the oracle's commands passes, with the Assistant knowing what the task declares."""

    def knows_enough(events: tuple[Event, ...]) -> bool:
        # what is read is another matter here: leaving out a Read takes its exposure away too
        declared = prove_evidence(task, scene, events, maker=maker, exposed=False)
        return not any(p.problem for p in declared)

    found = find_shorter(
        task,
        scene,
        oracle=oracle,
        marks=marks,
        config=config,
        simulator=simulator,
        frames=maker,
        search=search,
        knows_enough=knows_enough,
    )
    name = "oracle is the shortest"
    left = f"; {found.left_out} left out after {MOST_COMMANDS} commands (--search full)" if found.left_out else ""
    if found.steps is None:
        return Finding(name=name, ok=True, detail=f"{found.tried} shorter ones fail{left}")
    written = "; ".join(f"{n}. {' '.join(s.do) or s.say or '(silent)'}" for n, s in enumerate(found.steps, start=1))
    advice = "use it, or add what makes the rest needed (a gate, or evidence that only it gives)"
    return Finding(name=name, ok=False, detail=f"{found.change} it passes too; {advice}: {written}{left}")


def guessing_finding(task: TaskPack) -> Finding:
    """Choosing by lot is right no more often than `MOST_BY_LOT`."""
    name = "guessing does not pay"
    chance = expected_by_lot(task)
    if chance is None:
        if task.family != "decision":
            return Finding(name=name, ok=True, detail="no choices are declared")
        text = "a decision task says what is chosen among what: add [[choices]] (docs/tasks.md)"
        return Finding(name=name, ok=False, detail=text)
    parts = [f"{c.text}: {c.right} of {choice_outcomes(c)}" for c in task.choices or ()]
    said = f"{chance:.3g} by lot ({'; '.join(parts)})"
    if chance <= MOST_BY_LOT:
        return Finding(name=name, ok=True, detail=said)
    text = f"{said}; at most {MOST_BY_LOT:g} is asked for: add alternatives, or ask for more of them to be right"
    return Finding(name=name, ok=False, detail=text)
