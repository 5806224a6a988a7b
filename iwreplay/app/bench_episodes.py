"""What became of the episodes of a benchmark run, as its journal has it."""

from __future__ import annotations

import shutil

from iwreplay.app.recording import RecordedEpisode
from iwreplay.app.scoring import score_episode
from iwreplay.errors import LogError
from iwreplay.events import AssistantDecision, EpisodeEnded, Event, Fault, ModelCall
from iwreplay.log import read_log, seal
from iwreplay.store import Episode, status_of
from recorder.benchmark import Cell, Ended
from recorder.models.metering import MODEL_SHUT, RUN_BUDGET, Spent
from recorder.models.unheard import unheard

__all__ = ["ended_of", "given_up", "tidy", "whole"]


def tidy(episode: Episode) -> None:
    """Takes away the folder of an episode that was never begun: no event of it was committed, and nothing was sent."""
    if episode.folder is not None and episode.folder.is_dir() and not (episode.begun or episode.requests.exists()):
        shutil.rmtree(episode.folder)


def given_up(cell: Cell, episode: Episode) -> Ended:
    """An episode that kills its worker."""
    return Ended(
        cell=cell.key,
        episode=episode.id,
        root_hash="",
        status="unfinished",
        end_reason="fault",
        valid=False,
        passed=None,
        mcr=None,
        turns=0,
        actions=0,
        detail="its worker was killed, or ran out of memory, also when it played nothing else",
    )


def ended_of(cell: str, r: RecordedEpisode) -> Ended:
    return Ended(
        cell=cell,
        episode=r.episode,
        root_hash=r.root_hash,
        status=r.status,
        end_reason=r.end_reason,
        valid=r.valid,
        passed=r.passed,
        mcr=r.mcr,
        turns=r.turns,
        actions=r.actions,
        detail=r.detail,
        spent=r.spent,
        unheard=r.unheard,
    )


def whole(episode: Episode) -> Ended | None:
    """What became of an episode whose recorder did not live to say it; None when it was broken off."""
    ended, spent, stopped = None, Spent(), False
    told: list[Event] = []
    try:
        with read_log(episode.log) as log:
            for _, event in log:
                if isinstance(event, EpisodeEnded):
                    ended = event
                elif isinstance(event, ModelCall | AssistantDecision):
                    told.append(event)
                    if isinstance(event, ModelCall) and event.outcome not in ("overflow", "failed"):
                        spent = spent.plus(event)
                elif isinstance(event, Fault):
                    stopped = event.code in (RUN_BUDGET, MODEL_SHUT)
        if ended is None or ended.reason == "interrupted" or stopped:
            return None
        # its recorder may have been killed between the last event and the seal
        seal(episode.log)
        with read_log(episode.log) as log:
            root, state = log.root_hash, log.state
    except (LogError, OSError):
        return None
    assert root is not None, "a sealed log has a root hash"
    values = {line.metric: line.value for line in score_episode(episode)}
    passed = values["pass"]
    return Ended(
        cell="",
        episode=episode.id,
        root_hash=root,
        status=status_of(state, end_reason=ended.reason),
        end_reason=ended.reason,
        valid=ended.valid,
        passed=None if passed is None else passed == 1.0,
        mcr=values["mcr"],
        turns=ended.turns,
        actions=ended.actions,
        detail=ended.detail,
        spent=spent,
        unheard=unheard(told),
    )
