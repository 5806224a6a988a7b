"""What the loop needs from its neighbours: an action engine, a frame maker, a formula watcher.

Structural types, so that the loop is tested with small fakes and the recorder and the replayer hand in what they like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from iwreplay.events import EpisodeConfig, Event, FrameCaptured, PrimitiveOutcome
from iwreplay.ports import Simulator
from iwreplay.pose import Pose
from iwreplay.scene.model import CompiledScene
from iwreplay.taskpack.model import Formula, TaskPack
from iwreplay.vocabulary import AttrValue, Phase
from iwreplay.world.state import WorldState

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Capture",
    "DrawnFrame",
    "Engine",
    "EngineFactory",
    "FollowingEngine",
    "Frames",
    "Perception",
    "Watch",
    "WatchFactory",
]

#: (cause, action) -> the frame of the present state, not yet emitted
Capture = Callable[[str, int | None], FrameCaptured]


class DrawnFrame(Protocol):
    """A frame's pixels; `rgb` is uint8 (height, width, 3)."""

    @property
    def rgb(self) -> np.ndarray: ...


class Frames(Protocol):
    """Draws frames as a pure function of the folded state."""

    @property
    def renderer_name(self) -> str: ...

    def event(self, state: WorldState, *, frame_id: str, cause: str, action: int | None) -> FrameCaptured: ...

    def draw(self, state: WorldState, *, camera: Pose, focal_px: float, width: int, height: int) -> DrawnFrame: ...


class Perception(Protocol):
    """What the wearer perceives, in public words."""

    def proprioception(self) -> dict[str, str]: ...


class Engine(Protocol):
    """Executes commands and lets time pass; emits every fact about the world."""

    #: stamped on the events it emits; told by the loop
    turn: int
    phase: Phase

    @property
    def perception(self) -> Perception: ...

    def begin(self) -> None: ...

    def names(self) -> tuple[str, ...]:
        """What the wearer can name now, in words that may be typed as they stand."""
        ...

    def execute(self, command: str, *, action: int) -> PrimitiveOutcome: ...

    def idle(self, seconds: float) -> None: ...

    def set_attr(self, thing: str, attr: str, value: AttrValue, *, cause: str) -> None: ...

    def place(self, thing: str, at: str, pos: tuple[float, float], yaw_rad: float, *, cause: str) -> None: ...


@runtime_checkable
class FollowingEngine(Engine, Protocol):
    """One that can take over in the middle of an episode."""

    def follow(self, event: Event) -> None:
        """Takes in an event of what came before, folded into the state already; emits nothing."""
        ...


class EngineFactory(Protocol):
    """Builds the engine of one episode."""

    def __call__(
        self,
        *,
        scene: CompiledScene,
        sim: Simulator,
        state: WorldState,
        emit: Callable[[Event], None],
        capture: Capture,
        config: EpisodeConfig,
        sighted: bool,
    ) -> Engine: ...


class Watch(Protocol):
    """Incremental value of one formula over the events so far."""

    def feed(self, seq: int, event: Event, state: WorldState) -> None: ...

    @property
    def value(self) -> bool: ...


class WatchFactory(Protocol):
    """Compiles the formula of a scripted event's trigger."""

    def __call__(self, formula: Formula, *, task: TaskPack, check: str, scene: CompiledScene) -> Watch: ...
