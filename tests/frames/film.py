"""A short episode in the test kitchen, with small frames: what is said and done, and a wearer who walks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.synthetic import episode
from iwreplay.body import standing
from iwreplay.events import (
    AssistantDecision,
    BodyPosed,
    CommandIssued,
    EpisodeConfig,
    EpisodeEnded,
    EpisodeOpened,
    Event,
    HumanTurn,
    PhaseChanged,
    PrimitiveOutcome,
)
from iwreplay.frames.maker import FrameMaker
from iwreplay.log import LogWriter
from iwreplay.world.state import WorldState
from tests.render.kitchen import kitchen

WORDS = "Stop. Take the blue mug from the table, not the red one."
COMMAND = "[Grab] blue mug"
#: seconds from one frame to the next
STEP_S = 0.5
TURN_FRAMES = 3


def film(*, frames: int, drawn: bool = True, size: tuple[int, int] = (64, 48)) -> Iterator[Event]:
    """Events of the episode; a turn has three frames."""
    scene = kitchen()
    opened = next(iter(episode(8, seed=0, task_id="G99", assistant="oracle", end=None)))
    assert isinstance(opened, EpisodeOpened)
    config = EpisodeConfig(frame_width=size[0], frame_height=size[1], draw_frames=drawn, max_turns=99, max_actions=99)
    opened = msgspec.structs.replace(opened, scene=scene, config=config)
    state, maker = WorldState(scene), FrameMaker(scene, config=config, threads=1)
    state.apply(opened)
    yield opened
    for i in range(frames):
        turn, t = 1 + i // TURN_FRAMES, i * STEP_S
        at: dict[str, Any] = {"sim_time_s": t, "turn": turn, "phase": "closed_loop"}
        more: list[Event] = [] if i else [PhaseChanged(previous="scene_init", **at)]
        if i % TURN_FRAMES == 0:
            words = WORDS if turn == 1 else None
            command: dict[str, Any] = {"action": turn, **at}
            more += [
                AssistantDecision(decision="interrupt" if words else "silent", text=words, **at),
                HumanTurn(commands=(COMMAND,), reply="Yes.", **at),
                CommandIssued(text=COMMAND, source="human", **command),
                PrimitiveOutcome(
                    command=COMMAND,
                    verb="Grab",
                    primitive="grab",
                    ok=False,
                    code="UNREACHABLE",
                    sentence="The blue mug is too far away.",
                    refused=True,
                    started_s=t,
                    duration_s=0.0,
                    **command,
                ),
            ]
        body = standing(1.4 + 0.2 * math.sin(0.3 * i), 0.5 + 0.01 * (i % 20), math.pi / 2)
        more.append(BodyPosed(step=i, values=body, **at))
        for event in more:
            state.apply(event)
            yield event
        yield maker.event(state, frame_id=f"f{i:06d}", cause="initial" if i == 0 else "action")
    yield EpisodeEnded(
        sim_time_s=frames * STEP_S,
        turn=1 + frames // TURN_FRAMES,
        phase="end",
        reason="done",
        valid=True,
        turns=1,
        actions=1,
    )


def write_film(path: Path, *, frames: int, drawn: bool = True, size: tuple[int, int] = (64, 48)) -> Path:
    """The episode as a sealed log."""
    with LogWriter.create(path) as log:
        for event in film(frames=frames, drawn=drawn, size=size):
            log.append(event, wall_ns=0)
        log.seal()
    return path
