"""Auditing recorded episodes against the evaluation protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from iwreplay.app.episodes import find_episodes
from iwreplay.log import read_log
from iwreplay.loop import Audited, audit_episode
from iwreplay.store import Contents, Episode

__all__ = ["EpisodeAudit", "audit_episodes"]


class EpisodeAudit(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit of one episode found."""

    episode: str
    #: no statement is broken
    ok: bool
    #: holds, broken, open, elsewhere -> statements
    findings: dict[str, int]
    statements: tuple[Audited, ...]


def audit_episodes(
    store: Path, wanted: tuple[str, ...] = (), *, progress: Callable[[int, int], None] = lambda done, of: None
) -> tuple[EpisodeAudit, ...]:
    """Audits episodes (all of the store when none is named), with what was sent to their models. LogError for a log
    that can't be read whole."""
    episodes = find_episodes(store, wanted)
    found = []
    progress(0, len(episodes))
    for n, episode in enumerate(episodes, start=1):
        found.append(_audit(episode))
        progress(n, len(episodes))
    return tuple(found)


def _audit(episode: Episode) -> EpisodeAudit:
    kept = Contents(episode.requests)
    with read_log(episode.log) as log:
        statements = audit_episode(log, content=lambda sha256, kind: kept.get(sha256, kind=kind))
    findings = Counter(s.finding for s in statements)
    return EpisodeAudit(
        episode=episode.id,
        ok=not findings["broken"],
        findings={name: findings[name] for name in ("holds", "broken", "open", "elsewhere")},
        statements=statements,
    )
