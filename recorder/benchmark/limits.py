"""What the models of a run may take, as kept in its folder: it may change whenever the run is gone on with. Pure."""

from __future__ import annotations

import msgspec

from recorder.models.metering import Budget

__all__ = ["Limits"]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Budgets and rates of a run."""

    #: US dollars and tokens of the whole run, and of each episode
    run: Budget = Budget()
    episode: Budget = Budget()
    #: provider ("openai") -> calls a minute
    per_minute: dict[str, float] = {}

    def changed_by(self, given: Limits) -> Limits:
        """Those of `given` where it has any, else these."""
        return Limits(
            run=_changed(self.run, given.run),
            episode=_changed(self.episode, given.episode),
            per_minute={**self.per_minute, **given.per_minute},
        )


def _changed(kept: Budget, given: Budget) -> Budget:
    return Budget(
        cost_usd=kept.cost_usd if given.cost_usd is None else given.cost_usd,
        tokens=kept.tokens if given.tokens is None else given.tokens,
    )
