"""What models may take: so much money and so many tokens, and not more calls a minute than their provider likes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar

import msgspec

from iwreplay.errors import ModelError, ParticipantError
from iwreplay.ports import Model, ModelReply, ModelRequest

__all__ = [
    "EPISODE_BUDGET",
    "MODEL_SHUT",
    "RUN_BUDGET",
    "Budget",
    "BudgetSpentError",
    "EpisodeMeter",
    "Meter",
    "MeteredModel",
    "Spent",
]

#: codes of the faults that end an episode; after MODEL_SHUT no other episode of that model is worth beginning
EPISODE_BUDGET, RUN_BUDGET, MODEL_SHUT = "EPISODE_BUDGET", "RUN_BUDGET", "MODEL_SHUT"


class Took(Protocol):
    """What a call took, as a reply says it."""

    @property
    def input_tokens(self) -> int | None: ...

    @property
    def output_tokens(self) -> int | None: ...

    @property
    def cost_usd(self) -> float | None: ...


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What calls took. A reply that does not say how many tokens counts as none."""

    calls: int = 0
    tokens: int = 0
    #: at least: of the answers whose price is known; None when it is of none
    cost_usd: float | None = 0.0
    #: answers whose price nobody knows
    unpriced: int = 0

    def plus(self, reply: Took) -> Spent:
        return self.and_also(
            Spent(
                calls=1,
                tokens=(reply.input_tokens or 0) + (reply.output_tokens or 0),
                cost_usd=reply.cost_usd,
                unpriced=int(reply.cost_usd is None),
            )
        )

    def and_also(self, other: Spent) -> Spent:
        """Both together."""
        calls, unpriced = self.calls + other.calls, self.unpriced + other.unpriced
        return Spent(
            calls=calls,
            tokens=self.tokens + other.tokens,
            cost_usd=None if unpriced == calls > 0 else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
            unpriced=unpriced,
        )


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Limits; None: none. A call is begun while what was spent is below them, so the last one may exceed them."""

    cost_usd: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name, limit in (("US dollars", self.cost_usd), ("tokens", self.tokens)):
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise ParticipantError(f"a budget of {limit:g} {name} is no limit; give a number above 0")

    def narrowed(self, other: Budget) -> Budget:
        """The smaller limit of each."""
        return Budget(cost_usd=_least(self.cost_usd, other.cost_usd), tokens=_least(self.tokens, other.tokens))

    def used_up_by(self, spent: Spent) -> str | None:
        """Which limit is reached, in words; None while there is something left."""
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"{spent.tokens} of {self.tokens} tokens"
        known = spent.cost_usd or 0.0
        if self.cost_usd is not None and known >= self.cost_usd:
            return f"${known:.4f} of ${self.cost_usd:.4f}"
        return None


N = TypeVar("N", int, float)


def _least(one: N | None, two: N | None) -> N | None:
    if one is None or two is None:
        return one if two is None else two
    return min(one, two)


class BudgetSpentError(ModelError):
    """Nothing more may be spent. `code` says on what."""

    def __init__(self, model: str, code: str, used: str) -> None:
        self.code = code
        whose = "this episode" if code == EPISODE_BUDGET else "this run"
        super().__init__(model, f"the budget of {whose} is spent ({used})")
        self.args = (f"the budget of {whose} is spent ({used}), so that model {model!r} was not asked",)


class Meter(Protocol):
    """Counts, and refuses."""

    def admit(self, model: str) -> None:
        """Returns when a call may be made, which may take a while. BudgetSpentError when none may any more."""
        ...

    def charge(self, model: str, reply: ModelReply) -> None:
        """Counts what a call took."""
        ...


class EpisodeMeter:
    """The budget of one episode."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.spent = budget, Spent()

    def admit(self, model: str) -> None:
        used = self.budget.used_up_by(self.spent)
        if used is not None:
            raise BudgetSpentError(model, EPISODE_BUDGET, used)

    def charge(self, model: str, reply: ModelReply) -> None:
        self.spent = self.spent.plus(reply)


class MeteredModel:
    """A model whose calls are counted by some meters, in their order. What is limited must be told: a provider that
    does not say what a call took is not asked again."""

    def __init__(self, model: Model, *meters: Meter, limited: Budget) -> None:
        self._model, self._meters, self._limited = model, meters, limited

    @property
    def name(self) -> str:
        return self._model.name

    def ask(self, request: ModelRequest, *, content: Mapping[str, bytes] = MappingProxyType({})) -> ModelReply:
        """As the model answers. BudgetSpentError as of the meters; ModelError for an answer that does not say what it
        took of something that is limited."""
        for meter in self._meters:
            meter.admit(self.name)
        reply = self._model.ask(request, content=content)
        for meter in self._meters:
            meter.charge(self.name, reply)
        if reply.refusal is None:
            self._ask_what_it_took(reply)
        return reply

    def _ask_what_it_took(self, reply: ModelReply) -> None:
        untold = None
        if self._limited.tokens is not None and reply.input_tokens is None:
            untold = "how many tokens"
        elif self._limited.cost_usd is not None and reply.cost_usd is None:
            untold = "how much money"
        if untold is not None:
            error = ModelError(
                self.name, f"its provider does not say {untold} a call takes, so that it can't be limited"
            )
            error.retries, error.latency_s = reply.retries, reply.latency_s
            raise error
