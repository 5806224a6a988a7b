"""Opening, phases, faults and end of an episode."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.events.base import Event
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import TaskPack
from iwreplay.vocabulary import Phase

__all__ = ["EndReason", "EpisodeConfig", "EpisodeEnded", "EpisodeOpened", "Fault", "Participant", "PhaseChanged"]

EndReason = Literal["done", "turn_limit", "action_limit", "fault", "interrupted"]


class Participant(msgspec.Struct, frozen=True, kw_only=True):
    """Who played a role, as recorded."""

    #: "oracle", "silent", "literal", "logged", a model's name ...
    name: str
    #: its version, as it states it
    version: str
    #: parameters that change its behaviour, as strings (never a key or a secret)
    params: dict[str, str] = {}


class EpisodeConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that shapes a recording and is not in the task."""

    #: pixels
    frame_width: int = 640
    #: pixels
    frame_height: int = 480
    #: vertical field of view, degrees
    fovy_deg: float = 60.0
    #: False: frames are not drawn (no pixel hash); visibility still comes from a small id buffer
    draw_frames: bool = True
    #: poses and body samples between frame instants, per simulated second
    pose_rate_hz: float = 10.0
    #: a world_snapshot event at least every so many events
    snapshot_every: int = 512
    #: a thing counts as visible from so many pixels at 640x480 (scaled with the frame's area)
    visible_px: int = 12
    #: of the recording; part of the episode's id
    seed: int = 0
    #: turns of live interaction, rule 8
    max_turns: int
    #: commands of live interaction, refused ones included, rule 8
    max_actions: int


class EpisodeOpened(Event, frozen=True, kw_only=True, tag="episode_opened"):
    """First event of every log: all that is needed to re-execute it."""

    #: of the log
    format_version: int
    #: the whole task as it was, with its checks
    task: TaskPack
    #: the compiled scene with the task's things in it
    scene: CompiledScene
    #: sha256 of the canonical scene
    scene_hash: str
    #: how it is recorded
    config: EpisodeConfig
    #: who speaks
    assistant: Participant
    #: who acts
    human: Participant
    #: the physics
    simulator: Participant
    #: name and version of what draws the frames
    renderer: str
    #: versions and platform that can change a bit of the result: name -> value
    fingerprint: dict[str, str]
    #: behaviours switched on when recorded, sorted; an old log keeps its old behaviour
    behaviour_flags: tuple[str, ...] = ()
    #: (root hash, seq) of the log that this one was forked or recovered from, or None
    parent: tuple[str, int] | None = None


class PhaseChanged(Event, frozen=True, kw_only=True, tag="phase_changed"):
    """`phase` of this event is the phase that begins."""

    #: the phase that ends; None before the first
    previous: Phase | None


class Fault(Event, frozen=True, kw_only=True, tag="fault"):
    """Something outside the protocol broke; the episode ends as invalid."""

    #: participant:assistant, participant:human, simulator, recorder, user
    source: str
    #: what kind of break, in capitals
    code: str
    #: a sentence about it
    detail: str


class EpisodeEnded(Event, frozen=True, kw_only=True, tag="episode_ended"):
    """Last event of a whole log."""

    #: why it ended
    reason: EndReason
    #: False: spoilt by a fault or an interruption; the reason is in `detail`
    valid: bool
    #: turns of live interaction
    turns: int
    #: commands of live interaction, refused ones included
    actions: int
    #: why it is not valid, or ""
    detail: str = ""
