"""Capability points (rule 35): which capability was shown, unaided."""

from __future__ import annotations

from scorers.examine import Examined
from scorers.model import Score, Scorer, Unscorable

__all__ = ["CAPABILITY"]


def _capability(examined: Examined) -> Score | Unscorable:
    """Share of the episode's points with status clean_pass; the details hold every point, for pooling over episodes."""
    found = examined.evaluation
    if not found.points:
        return Unscorable(metric="capability", reason="the task has no capability points", missing=("points",))
    clean = sum(p.status == "clean_pass" for p in found.points)
    return Score(
        metric="capability",
        value=clean / len(found.points),
        evidence=tuple(sorted({s for p in found.points for s in p.evidence})),
        details={
            "points": [
                {
                    "id": p.id,
                    "capability": p.capability,
                    "status": p.status,
                    "help": p.help,
                    "decided_seq": p.decided_seq,
                    "evidence": list(p.evidence),
                }
                for p in found.points
            ]
        },
    )


CAPABILITY = Scorer(name="capability", version=1, module=__name__, judge=_capability)
