"""Pass (rule 33) and MCR (rule 34)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iwreplay.checks import Evaluation, GateResult, ObjectiveResult
from scorers.examine import Examined
from scorers.model import Score, Scorer

__all__ = ["MCR", "PASS_RATE"]


def _pass(examined: Examined) -> Score:
    """1 when every objective is satisfied, every gate held throughout and every keep holds at the end; else 0."""
    found = examined.evaluation
    failed = [o.id for o in found.objectives if not o.satisfied]
    vetoes = [g.id for g in (*found.gates, *found.keeps) if not g.held]
    if found.passed:
        deciding = [o.evidence for o in found.objectives]
    else:
        deciding = [o.evidence for o in found.objectives if not o.satisfied]
        deciding += [g.evidence for g in (*found.gates, *found.keeps) if not g.held]
    return Score(
        metric="pass",
        value=1.0 if found.passed else 0.0,
        evidence=tuple(sorted({s for seqs in deciding for s in seqs})),
        details={
            "failed_objectives": failed,
            "failed_gates": [g.id for g in found.gates if not g.held],
            "failed_keeps": [k.id for k in found.keeps if not k.held],
            "vetoed": bool(vetoes) and not failed,
            "route_length_m": found.route_length_m,
            "checks": list(_checks(found)),
        },
    )


def _checks(found: Evaluation) -> Iterator[dict[str, Any]]:
    """Every objective, gate and keep with its verdict and what decided it."""
    for o in found.objectives:
        verdict = "satisfied" if o.satisfied else "withheld" if o.value else "not_satisfied"
        yield _check(o, kind="objective", passed=o.satisfied, verdict=verdict)
    for kind, results in (("gate", found.gates), ("keep", found.keeps)):
        for g in results:
            yield _check(g, kind=kind, passed=g.held, verdict="held" if g.held else "broken")


def _check(result: ObjectiveResult | GateResult, *, kind: str, passed: bool, verdict: str) -> dict[str, Any]:
    return {
        "id": result.id,
        "kind": kind,
        "verdict": verdict,
        "passed": passed,
        "decided_seq": result.decided_seq,
        "evidence": list(result.evidence),
    }


def _mcr(examined: Examined) -> Score:
    """Satisfied share of the objectives; gates and keeps leave it alone."""
    found = examined.evaluation
    return Score(
        metric="mcr",
        value=found.mcr,
        evidence=tuple(sorted({s for o in found.objectives for s in o.evidence})),
        details={
            "satisfied": [o.id for o in found.objectives if o.satisfied],
            "unsatisfied": [o.id for o in found.objectives if not o.satisfied],
            "withheld": [o.id for o in found.objectives if o.value and not o.satisfied],
        },
    )


PASS_RATE = Scorer(name="pass", version=1, module=__name__, judge=_pass)
MCR = Scorer(name="mcr", version=1, module=__name__, judge=_mcr)
