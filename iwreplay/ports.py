"""The ports: the only places through which chance and the outside world enter an episode.

Simulator, Assistant and Human each have a contract suite in `tests/contracts/` that any implementation must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import msgspec

from iwreplay.events import ModelCall, Participant, PrimitiveOutcome
from iwreplay.pose import Pose, Vec3
from iwreplay.scene.model import CompiledScene

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "AnswerSchema",
    "Assistant",
    "AssistantAct",
    "AssistantView",
    "Clock",
    "Consults",
    "FrameView",
    "Human",
    "HumanAct",
    "HumanView",
    "Model",
    "ModelImage",
    "ModelMessage",
    "ModelReply",
    "ModelRequest",
    "Rng",
    "Said",
    "Simulator",
]


class Clock(Protocol):
    """Wall time, for envelopes and latencies only; never for anything hashed or compared."""

    def now_ns(self) -> int: ...


class Rng(Protocol):
    """Seeded chance, for participants that draw lots. The core draws none: the opening of a log determines everything
    that follows, but for what the participants and the simulator answer."""

    def randrange(self, n: int) -> int:
        """One of 0 .. n - 1, each as likely; the same draws for the same seed, on every machine."""
        ...


class Simulator(Protocol):
    """A physics engine. Everything semantic lives above it.

    World frame, metres, radians, seconds; pose (x y z qw qx qy qz). All collections come back in a fixed order.
    """

    #: seconds of one physics step
    dt_s: float

    def about(self) -> Participant:
        """Name, version, and capabilities in `params`: "snapshot" = exact | approximate, "deterministic" = yes | no."""
        ...

    def load(self, scene: CompiledScene) -> None:
        """Builds the scene in its initial state. Things whose attr `exists` is False start inactive.

        SimulatorError when the engine refuses the scene.
        """
        ...

    def set_body(self, *, head: Pose, right_hand: Pose, left_hand: Pose, root: Pose) -> None:
        """Kinematic pose of the wearer; attached things follow their hand rigidly at once."""
        ...

    def attach(self, thing: str, *, hand: str, hand_from_thing: Pose) -> None:
        """Holds a thing rigidly in "right_hand", "left_hand" or on "root"; no contact forces act on it meanwhile."""
        ...

    def detach(self, thing: str) -> None:
        """Lets go, at rest (zero velocity)."""
        ...

    def set_pose(self, thing: str, pose: Pose) -> None:
        """Puts a movable thing somewhere at rest (scripted events, exact placing)."""
        ...

    def set_active(self, thing: str, active: bool) -> None:
        """An inactive thing is off stage: no contacts, no motion, not found by queries."""
        ...

    def drive_joint(self, joint: str, position: float) -> None:
        """Target position of "thing.joint"; reached quickly while stepping and then held against loads."""
        ...

    def step(self, n: int = 1) -> None: ...

    def poses(self) -> dict[str, Pose]:
        """world_from_link0 of every thing, in scene order (inactive ones keep the last pose they had)."""
        ...

    def joints(self) -> dict[str, float]: ...

    def contacts(self) -> tuple[tuple[str, str], ...]:
        """Touching pairs of thing ids, each pair sorted, pairs sorted."""
        ...

    def overlap_box(self, half: Vec3, pose: Pose, *, ignore: Collection[str] = ()) -> tuple[str, ...]:
        """Ids of the active things whose collision shapes meet the box, sorted."""
        ...

    def capsule_depths(
        self, a: Vec3, b: Vec3, radius_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[tuple[str, float], ...]:
        """(thing, metres) of the active things whose collision shapes reach into the capsule about the segment from
        a to b, and how far one of the two would have to be moved for them to part, sorted by id."""
        ...

    def ray(
        self, origin: Vec3, direction: Vec3, max_m: float, *, ignore: Collection[str] = ()
    ) -> tuple[str, float] | None:
        """First active thing hit and its distance along the unit `direction`."""
        ...

    def snapshot(self) -> bytes:
        """Complete state: restored into a freshly loaded simulator it continues bit-equal (when "exact")."""
        ...

    def restore(self, state: bytes) -> None: ...

    def close(self) -> None: ...


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the dialogue that both participants know."""

    turn: int
    #: "assistant", "human", or a scripted speaker ("caller")
    speaker: str
    text: str


class FrameView(msgspec.Struct, frozen=True, kw_only=True):
    """A frame as shown to a participant. `pixels()` gives uint8 RGB (height, width, 3), or raises when undrawn."""

    frame_id: str
    sim_time_s: float
    pixels: Callable[[], np.ndarray]


class AssistantView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an Assistant may know at its turn (rule 14)."""

    turn: int
    request: str
    dialogue: tuple[Said, ...]
    frames: tuple[FrameView, ...]
    #: its own memory of last turn, in the memory arm only
    memory: str | None = None


class AssistantAct(msgspec.Struct, frozen=True, kw_only=True):
    """`decision`: silent (no text), interrupt (text), done (text or not)."""

    decision: str
    text: str | None = None
    memory: str | None = None


class HumanView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the Human may know at its turn (rules 15-20)."""

    turn: int
    role: str
    restriction: str
    request: str
    #: the Assistant's words of this turn, or None when it was silent
    instruction: str | None
    dialogue: tuple[Said, ...]
    #: none in Accessibility
    frames: tuple[FrameView, ...]
    #: words: "holding" -> "blue mug", "posture" -> "stand", "room" -> "kitchen", "touching" -> ...
    proprioception: dict[str, str]
    #: sentences of the refusals of the last turn
    failures: tuple[str, ...]
    #: the next command of its own scripted intent, or None (none left, or it was interrupted)
    intent: str | None = None
    #: what it can name now (in view, held, worn or in touch reach, and rooms) in words that may be typed as they stand:
    #: for completion on a screen; a model is not shown it. AnswerError("LEAK") when they hold what nobody may see.
    names: Callable[[], tuple[str, ...]] = tuple


class HumanAct(msgspec.Struct, frozen=True, kw_only=True):
    """Commands to carry out in order (none: `[NoOp]`), and what it says."""

    commands: tuple[str, ...] = ()
    reply: str | None = None
    #: the commands are the scripted intent, not an answer to the Assistant
    from_intent: bool = False


class Assistant(Protocol):
    def about(self) -> Participant: ...

    def decide(self, view: AssistantView) -> AssistantAct: ...


class Human(Protocol):
    def about(self) -> Participant: ...

    def act(self, view: HumanView) -> HumanAct: ...

    def report(self, outcomes: tuple[PrimitiveOutcome, ...]) -> str | None:
        """What it says after its commands were carried out: normally the sentence of a refusal, or None."""
        ...


class ModelImage(msgspec.Struct, frozen=True, kw_only=True, tag="image"):
    """A picture in a message, by what its bytes are; the bytes themselves come along when a model is asked."""

    #: the frame that it shows
    frame_id: str
    #: of its bytes
    sha256: str
    media_type: str = "image/png"


class ModelMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation with a language model: texts and pictures, in their order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | ModelImage, ...]

    @property
    def text(self) -> str:
        """Its texts, a line for each."""
        return "\n".join(p for p in self.parts if isinstance(p, str))

    @property
    def images(self) -> tuple[ModelImage, ...]:
        return tuple(p for p in self.parts if isinstance(p, ModelImage))


class AnswerSchema(msgspec.Struct, frozen=True, kw_only=True):
    """The form that an answer should have, for providers that can hold a model to one."""

    name: str
    #: JSON Schema
    schema: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a language model is asked. Its hash says whether the same was asked before."""

    #: name at the provider, with the provider before it: "openai/gpt-5.5"
    model: str
    messages: tuple[ModelMessage, ...]
    #: None: the provider's own
    temperature: float | None
    seed: int | None
    #: longest answer; None: the provider's own limit
    max_tokens: int | None = None
    answer: AnswerSchema | None = None

    @property
    def images(self) -> tuple[ModelImage, ...]:
        return tuple(image for message in self.messages for image in message.images)


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a language model answered, and what it took."""

    text: str
    #: as billed; None when the provider does not say
    input_tokens: int | None
    output_tokens: int | None
    #: US dollars, or None when unknown
    cost_usd: float | None
    #: why it ended: "stop", "length" when it was cut off, or what else the provider says
    finish: str
    #: calls that failed before this one
    retries: int
    #: it would not answer, in its own words or its provider's; then `text` is ""
    refusal: str | None = None
    #: what was asked for but is not offered by the provider: "seed", "temperature"
    left_out: tuple[str, ...] = ()
    #: for questions to the provider, or None
    provider_request_id: str | None = None
    #: wall seconds from the first call to the answer, with the waits between
    latency_s: float = 0.0


class Model(Protocol):
    """A language model. `name` is what requests call it."""

    @property
    def name(self) -> str: ...

    def ask(self, request: ModelRequest, *, content: Mapping[str, bytes] = MappingProxyType({})) -> ModelReply:
        """Its answer; `content` has the bytes of the request's images under their hashes. ModelError when there is none
        after all that may be tried, ContextOverflowError when the request is longer than the model reads; no secret is
        in its message."""
        ...


@runtime_checkable
class Consults(Protocol):
    """A participant that asks language models, and tells what it asked."""

    def take_calls(self) -> tuple[ModelCall, ...]:
        """Its calls since this was last asked, in order, also when it raised meanwhile. The loop gives each its instant
        and its phase."""
        ...
