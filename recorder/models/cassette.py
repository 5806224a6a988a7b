"""A recorded session of a model: the calls in an episode's log answer the same requests again, without a provider."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from iwreplay.canonical import struct_hash
from iwreplay.errors import ContextOverflowError, ModelError
from iwreplay.events import ModelCall
from iwreplay.ports import ModelReply, ModelRequest

__all__ = ["CassetteModel"]


class CassetteModel:
    """Answers what it was asked before, word by word, with what that took: the same request as often as it was made, in
    the same order. A request that is not on it is an error: it was recorded with another prompt, task, scene or look
    of things."""

    def __init__(self, name: str, calls: Iterable[ModelCall], *, shut: bool = False) -> None:
        """calls: of a log, those of other models are left out. shut: the failure that ended the log is one that every
        call would have met. ModelError when there is none of this model."""
        self._name, self._shut = name, shut
        self._left: dict[str, deque[ModelCall]] = {}
        for call in calls:
            if call.model == name:
                self._left.setdefault(call.request_sha256, deque()).append(call)
        if not self._left:
            raise ModelError(name, "the cassette has no call to it", hint="Name the log of an episode that it played.")

    @property
    def name(self) -> str:
        return self._name

    def ask(self, request: ModelRequest, *, content: Mapping[str, bytes] = MappingProxyType({})) -> ModelReply:
        """As the port says; never waits."""
        left = self._left.get(struct_hash(request))
        if not left:
            raise ModelError(
                self._name,
                "the cassette has no answer to this request",
                hint="It was recorded with another prompt, task, scene or renderer; record it anew.",
            )
        call = left.popleft()
        if call.outcome in ("overflow", "failed"):
            raise self._error(call)
        refused = call.outcome == "refused"
        return ModelReply(
            text=call.answer,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cost_usd=call.cost_usd,
            finish=_text(call.finish),
            retries=call.retries,
            refusal=_text(call.problem) if refused else None,
            left_out=tuple(filter(None, call.params.get("left_out", "").split(", "))),
            provider_request_id=call.provider_request_id,
            latency_s=call.latency_s,
        )

    def _error(self, call: ModelCall) -> ModelError:
        """The error that the call ended with, in its words."""
        error = (ContextOverflowError if call.outcome == "overflow" else ModelError)(call.model, "")
        error.args = (_text(call.problem),)
        error.retries, error.latency_s = call.retries, call.latency_s
        error.always = self._shut and call.outcome == "failed"
        return error


def _text(value: str | msgspec.UnsetType) -> str:
    return "" if value is msgspec.UNSET else value
