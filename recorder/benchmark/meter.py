"""What the models of a whole run take, over all its workers: one budget, and not more calls a minute than each provider
likes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from iwreplay.ports import ModelReply
from recorder.models.metering import RUN_BUDGET, Budget, BudgetSpentError, Spent

__all__ = ["Charged", "RemoteMeter", "RunMeter", "provider_of"]


class Charged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one call took, as kept in the run's folder: it is spent, whatever becomes of its episode."""

    model: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class RunMeter:
    """The one that counts, in the process that leads the run. Its methods may be called by several threads at once."""

    def __init__(
        self,
        budget: Budget,
        *,
        per_minute: Mapping[str, float],
        spent: Spent,
        keep: Callable[[Charged], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """per_minute: provider ("openai") -> calls; a provider without an entry is not held back. spent: before this
        run was begun again. keep: called with each charge, before it counts."""
        self._budget, self._per_minute, self._keep, self._now = budget, dict(per_minute), keep, now
        self._spent = spent
        self._lock = threading.Lock()
        #: provider -> when its next call may begin
        self._free: dict[str, float] = {}

    def limits(self) -> tuple[Budget, dict[str, float]]:
        """The budget, and calls a minute by provider: for one that counts elsewhere."""
        return self._budget, dict(self._per_minute)

    @property
    def spent(self) -> Spent:
        with self._lock:
            return self._spent

    def used_up(self) -> str | None:
        """Which limit is reached, in words; None while there is something left."""
        with self._lock:
            return self._budget.used_up_by(self._spent)

    def reserve(self, model: str) -> tuple[float, str | None]:
        """(seconds to wait before a call, why none may be made any more or None)."""
        with self._lock:
            used = self._budget.used_up_by(self._spent)
            if used is not None:
                return 0.0, used
            provider = provider_of(model)
            rate = self._per_minute.get(provider)
            if rate is None:
                return 0.0, None
            now = self._now()
            begins = max(now, self._free.get(provider, now))
            self._free[provider] = begins + 60.0 / rate
            return begins - now, None

    def charge(self, charged: Charged) -> None:
        """Counts a call."""
        with self._lock:
            self._keep(charged)
            self._spent = self._spent.plus(charged)


class Counter(Protocol):
    """A RunMeter, here or in another process."""

    def reserve(self, model: str) -> tuple[float, str | None]: ...

    def charge(self, charged: Charged) -> None: ...


class RemoteMeter:
    """The run's meter as a participant's model sees it: it waits where it is, and raises there."""

    def __init__(self, counter: Counter, *, wait: Callable[[float], None] = time.sleep) -> None:
        self._counter, self._wait = counter, wait

    def admit(self, model: str) -> None:
        """As `recorder.models.metering.Meter` says."""
        seconds, used = self._counter.reserve(model)
        if used is not None:
            raise BudgetSpentError(model, RUN_BUDGET, used)
        if seconds > 0.0:
            self._wait(seconds)

    def charge(self, model: str, reply: ModelReply) -> None:
        """As `recorder.models.metering.Meter` says."""
        self._counter.charge(
            Charged(
                model=model,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                cost_usd=reply.cost_usd,
            )
        )


def provider_of(model: str) -> str:
    """ "openai" of "openai/gpt-5.5"."""
    return model.partition("/")[0]
