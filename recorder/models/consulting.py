"""One participant's questions to a language model: asked, mended, kept and told.

- The whole request is kept by its content: its JSON under its hash, each picture once under its own.
- Every text of a request is scanned before it is sent; a hit is an error, and nothing is sent.
- A malformed answer is answered with what is wrong with it, at most `REPAIRS` times a turn.
- A request that is too long for the model loses pictures, never words: half of them at a time, the latest ones stay
  and the older ones are chosen as always. What fitted once is kept to for the rest of the episode.
- Each question is one ModelCall, whatever became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from iwreplay.canonical import canonical_bytes, sha256_hex
from iwreplay.errors import ContextOverflowError, ModelError
from iwreplay.events import ModelCall
from iwreplay.frames import choose_frames
from iwreplay.frames.png import png_bytes
from iwreplay.loop import AnswerError
from iwreplay.ports import AnswerSchema, FrameView, Model, ModelImage, ModelMessage, ModelReply, ModelRequest
from recorder.models.metering import MODEL_SHUT, BudgetSpentError
from recorder.models.objects import MalformedError
from recorder.prompts import load_prompt

__all__ = ["REPAIRS", "Consultant", "Guard", "Keep", "Sampling", "Unusable"]

T = TypeVar("T")

#: requests to mend a malformed answer, in one turn
REPAIRS = 2

Part = str | ModelImage
#: pictures of frames in a message
Pictures = tuple[tuple[FrameView, ModelImage], ...]


class Guard(Protocol):
    """Refuses what must not be sent."""

    def __call__(self, text: str, *, spoken: str) -> None:
        """`spoken` is no secret any more. AnswerError("LEAK") names what was found."""
        ...


class Keep(Protocol):
    """Keeps bytes under their hash, once."""

    def __call__(self, data: bytes, *, sha256: str, kind: str) -> None:
        """kind: "json", "png". StoreError or LogWriteError when the disk refuses."""
        ...


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is asked to answer. None: the provider's own."""

    temperature: float | None = 0.0
    seed: int | None = 11
    max_tokens: int | None = None
    #: for the whole answer; for each piece of one that comes in pieces, and ten times as long for all of them
    timeout_s: float = 600.0
    #: the answer comes in pieces
    stream: bool = False

    def facts(self) -> dict[str, str]:
        """As parameters of a participant and of a call."""
        return {k: "provider's own" if v is None else str(v) for k, v in msgspec.structs.asdict(self).items()}


class Unusable(msgspec.Struct, frozen=True):
    """There is no answer to be used: the model would not give one, or none that could be understood."""

    #: "REFUSED", "MALFORMED"
    code: str
    detail: str


class _Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked in a turn, but for the pictures that go with it."""

    turn: int
    system: Callable[[Pictures], str]
    compose: Callable[[Pictures], tuple[Part, ...]]
    spoken: str


class Consultant(Generic[T]):
    """Asks one model for one participant of one episode."""

    def __init__(
        self,
        model: Model,
        *,
        role: str,
        sampling: Sampling,
        answer: AnswerSchema,
        read: Callable[[str], T],
        guard: Guard,
        keep: Keep,
    ) -> None:
        """read: an answer's text to what it says; MalformedError when it says nothing of the kind."""
        self.model, self.role, self.sampling = model, role, sampling
        self._answer, self._read, self._guard, self._keep = answer, read, guard, keep
        self._calls: list[ModelCall] = []
        #: most pictures that the model can read, once that is known
        self._fitting: int | None = None
        #: frame id -> its picture, of the frames shown last: each is drawn once while it is shown
        self._pictures: dict[str, tuple[ModelImage, bytes]] = {}
        self._kept: set[str] = set()

    def take_calls(self) -> tuple[ModelCall, ...]:
        """The calls since this was last asked."""
        calls, self._calls = tuple(self._calls), []
        return calls

    def ask(
        self,
        *,
        turn: int,
        system: Callable[[Pictures], str],
        frames: Sequence[FrameView],
        compose: Callable[[Pictures], tuple[Part, ...]],
        spoken: str,
    ) -> T | Unusable:
        """What the model says to the texts and parts that `system` and `compose` make of the pictures of these frames:
        of as many as it can read.

        AnswerError "MODEL" when there is no answer after all that may be tried, "MODEL_SHUT" when none will ever come
        (a wrong name, a missing key), that of the budget when none may be asked for any more, "LEAK" when the request
        holds what nobody may see; each ends the episode.
        """
        question = _Question(turn=turn, system=system, compose=compose, spoken=spoken)
        exchange: tuple[ModelMessage, ...] = ()
        for repair in range(REPAIRS + 1):
            reply, frames = self._reply(question, frames, exchange, repair=repair)
            if reply.refusal is not None:
                self._told("refused", reply.refusal)
                return Unusable("REFUSED", reply.refusal)
            try:
                return self._read(reply.text)
            except MalformedError as e:
                problem = str(e) if reply.finish != "length" else f"it was cut off after {reply.output_tokens} tokens"
                self._told("malformed", problem)
                said = load_prompt("repair").fill({"problem": problem})
                exchange = (
                    *exchange,
                    ModelMessage(role="assistant", parts=(reply.text or "(nothing)",)),
                    ModelMessage(role="user", parts=(said,)),
                )
        return Unusable("MALFORMED", f"{problem}, after {REPAIRS} requests to mend it")

    def _reply(
        self,
        question: _Question,
        frames: Sequence[FrameView],
        exchange: tuple[ModelMessage, ...],
        *,
        repair: int,
    ) -> tuple[ModelReply, Sequence[FrameView]]:
        """The answer, and the frames that could be sent with the question."""
        while True:
            frames = frames if self._fitting is None else choose_frames(frames, self._fitting)
            pictures = self._pictures_of(frames)
            shown = tuple(zip(frames, (i for i, _ in pictures), strict=True))
            request = ModelRequest(
                model=self.model.name,
                messages=(
                    ModelMessage(role="system", parts=(question.system(shown),)),
                    ModelMessage(role="user", parts=question.compose(shown)),
                    *exchange,
                ),
                temperature=self.sampling.temperature,
                seed=self.sampling.seed,
                max_tokens=self.sampling.max_tokens,
                answer=self._answer,
            )
            # what the model itself said in this exchange is no secret to it
            own = "\n".join(m.text for m in exchange)
            for message in request.messages:
                self._guard(message.text, spoken=f"{question.spoken}\n{own}")
            digest = self._keep_request(request, pictures)
            try:
                reply = self.model.ask(request, content={image.sha256: data for image, data in pictures})
            except ContextOverflowError as e:
                self._call(question.turn, request, digest, repair=repair, outcome="overflow", error=e)
                if not frames:
                    raise AnswerError("MODEL", f"{e} The words alone are more than it can read.") from e
                self._fitting = len(frames) // 2
            except BudgetSpentError as e:
                raise AnswerError(e.code, str(e)) from e
            except KeyboardInterrupt:
                stopped = ModelError(self.model.name, "stopped by the user before it answered")
                self._call(question.turn, request, digest, repair=repair, outcome="failed", error=stopped)
                raise
            except ModelError as e:
                self._call(question.turn, request, digest, repair=repair, outcome="failed", error=e)
                raise AnswerError(MODEL_SHUT if e.always else "MODEL", str(e)) from e
            else:
                self._call(question.turn, request, digest, repair=repair, reply=reply)
                return reply, frames

    def _pictures_of(self, frames: Sequence[FrameView]) -> list[tuple[ModelImage, bytes]]:
        known = self._pictures
        self._pictures = {f.frame_id: known.get(f.frame_id) or _picture(f) for f in frames}
        return list(self._pictures.values())

    def _keep_request(self, request: ModelRequest, pictures: list[tuple[ModelImage, bytes]]) -> str:
        for image, data in pictures:
            if image.sha256 not in self._kept:
                self._keep(data, sha256=image.sha256, kind="png")
                self._kept.add(image.sha256)
        body = canonical_bytes(request)
        digest = sha256_hex(body)
        self._keep(body, sha256=digest, kind="json")
        return digest

    def _call(
        self,
        turn: int,
        request: ModelRequest,
        digest: str,
        *,
        repair: int,
        reply: ModelReply | None = None,
        outcome: str = "answered",
        error: ModelError | None = None,
    ) -> None:
        took = reply or error
        assert took is not None, "a call has an answer or an error"
        params = self.sampling.facts()
        if reply is not None and reply.left_out:
            params["left_out"] = ", ".join(reply.left_out)
        self._calls.append(
            ModelCall(
                sim_time_s=0.0,
                turn=turn,
                phase="closed_loop",
                role=self.role,  # type: ignore[arg-type]
                model=request.model,
                request_sha256=digest,
                answer="" if reply is None else reply.text,
                input_tokens=None if reply is None else reply.input_tokens,
                output_tokens=None if reply is None else reply.output_tokens,
                cost_usd=None if reply is None else reply.cost_usd,
                latency_s=took.latency_s,
                retries=took.retries,
                params=params,
                provider_request_id=None if reply is None else reply.provider_request_id,
                outcome=outcome,  # type: ignore[arg-type]
                problem="" if error is None else str(error),
                finish="" if reply is None else reply.finish,
                frames=tuple(image.frame_id for image in request.images),
                repair=repair,
            )
        )

    def _told(self, outcome: str, problem: str) -> None:
        """What became of the answer that came last."""
        self._calls[-1] = msgspec.structs.replace(self._calls[-1], outcome=outcome, problem=problem)


def _picture(frame: FrameView) -> tuple[ModelImage, bytes]:
    data = png_bytes(frame.pixels())
    return ModelImage(frame_id=frame.frame_id, sha256=sha256_hex(data)), data
