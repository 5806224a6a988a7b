"""From what is kept beside a log (scores, verdicts of replays) to rows of the catalogue: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from iwreplay.catalogue.project import Rows
from iwreplay.store import BookedScore, KeptVerdict, ReplayVerdict

__all__ = ["kept_rows"]

_PASSED = {"clean_pass": True, "assisted_pass": True, "fail": False, "not_reached": None}
#: built-in scorers whose details tell of checks and points
_OF_CHECKS = ("pass", "capability")
_GRADES = ("exact", "state-equal", "within-tolerance", "outcome-equal", "diverged")


def kept_rows(
    episode: str, *, root_hash: str | None, scores: Iterable[BookedScore], verdicts: Iterable[KeptVerdict]
) -> Rows:
    """Rows of the tables `KEPT` for one episode, whose log has that root hash (None when it is damaged)."""
    rows: Rows = {"scores": [], "points": [], "checks": [], "replays": [], "replay_steps": []}
    for score in scores:
        rows["scores"].append(_score_row(score))
        rows["points"] += _points_of(score)
        rows["checks"] += _checks_of(score)
    for kept in verdicts:
        rows["replays"].append(_replay_row(kept, root_hash=root_hash))
        if kept.verdict is not None:
            rows["replay_steps"] += _step_rows(kept.replay, kept.verdict)
    return {name: [{"episode": episode, **row} for row in found] for name, found in rows.items()}


def _score_row(score: BookedScore) -> dict[str, Any]:
    return {
        "scorer": score.key.scorer,
        "scorer_hash": score.key.scorer_hash,
        "root_hash": score.key.root_hash,
        "parameters": _json(score.key.parameters),
        "metric": score.metric,
        "value": score.value,
        "status": score.status,
        "reason": score.reason,
        "evidence": list(score.evidence),
        "details": _json(score.details),
    }


def _points_of(score: BookedScore) -> Iterator[dict[str, Any]]:
    """The capability points in a score's details; none in those of other scorers."""
    for p in _details_of(score, "points"):
        yield {"point": p["id"], "capability": p["capability"], "status": p["status"], "help": p["help"]}


def _checks_of(score: BookedScore) -> Iterator[dict[str, Any]]:
    for c in _details_of(score, "checks"):
        yield {
            "check_id": c["id"],
            "kind": c["kind"],
            "capability": None,
            "verdict": c["verdict"],
            "passed": c["passed"],
            "decided_seq": c["decided_seq"],
            "evidence": c["evidence"],
        }
    for p in _details_of(score, "points"):
        yield {
            "check_id": p["id"],
            "kind": "point",
            "capability": p["capability"],
            "verdict": p["status"],
            "passed": _PASSED[p["status"]],
            "decided_seq": p["decided_seq"],
            "evidence": p["evidence"],
        }


def _details_of(score: BookedScore, name: str) -> Iterable[dict[str, Any]]:
    """A part of the details of a scorer of checks; one's own may have anything under the same name."""
    return score.details.get(name, ()) if score.key.scorer in _OF_CHECKS else ()


def _replay_row(kept: KeptVerdict, *, root_hash: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "replay": kept.replay,
        "verified_at": None if kept.wall_ns is None else kept.wall_ns // 1000,
        "problem": kept.problem,
    }
    verdict = kept.verdict
    if verdict is None:
        return {**row, "about": "unreadable"}
    counts = {grade: sum(s.grade == grade for s in verdict.steps) for grade in _GRADES}
    row |= {
        "about": "this log" if verdict.root_hash == root_hash else "another log",
        "root_hash": verdict.root_hash,
        "grade": verdict.grade,
        "steps": len(verdict.steps),
        **{f"steps_{grade.replace('-', '_')}": n for grade, n in counts.items()},
        "events": verdict.events,
        "differences": verdict.differences,
        "replayed_root_hash": verdict.replayed_root_hash,
        "log_ended": verdict.log_ended,
        "stopped": verdict.stopped,
        "iwreplay": verdict.iwreplay,
        "simulator": verdict.simulator,
        "renderer": verdict.renderer,
        "fingerprint": _json(verdict.fingerprint),
        "environment": _json(verdict.environment),
        "parameters": _json(verdict.parameters),
    }
    first = verdict.first_divergence
    if first is not None:
        row |= {
            "first_seq": first.seq,
            "first_sim_time_s": first.sim_time_s,
            "first_turn": first.turn,
            "first_kind": first.kind,
            "first_object": first.object,
            "first_field": first.field,
            "first_expected": first.expected,
            "first_got": first.got,
        }
    return row


def _step_rows(replay: int, verdict: ReplayVerdict) -> Iterator[dict[str, Any]]:
    for n, step in enumerate(verdict.steps):
        yield {
            "replay": replay,
            "step": n,
            "seq": step.seq,
            "kind": step.kind,
            "turn": step.turn,
            "action": step.action,
            "command": step.command,
            "grade": step.grade,
        }


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
