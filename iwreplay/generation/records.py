"""What is written down of a generation, in this order: everything that was asked, answered and found."""

from __future__ import annotations

from typing import Literal

import msgspec

from iwreplay.generation.model import Proposal, Review, Target

__all__ = [
    "CheckFound",
    "ChecksReviewed",
    "GenerationClosed",
    "GenerationOpened",
    "GenerationRecord",
    "ModelCalled",
    "PackChecked",
    "ProposalReviewed",
    "Reviewed",
    "TargetFrozen",
]

#: version of these records
GENERATION_FORMAT = 1


class GenerationOpened(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="generation_opened"
):
    """What was asked for. A generation that is gone on with must have been opened in the same way."""

    format: int = GENERATION_FORMAT
    task_id: str
    family: str
    capability: str
    #: id of the scene that was asked for; "" leaves the choice to the author
    scene: str
    author: str
    reviewer: str
    seed: int
    temperature: float
    #: most revisions
    revisions: int
    #: how long a shorter oracle is looked for
    search: str
    #: name of a prompt file -> its SHA-256
    prompts: dict[str, str]
    #: version of iwreplay, whose checks were run
    iwreplay: str


class ModelCalled(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="model_called"
):
    """One question to a model, whole, and its answer, whole."""

    #: 1, 2, ...
    call: int
    role: Literal["author", "reviewer"]
    #: what was asked for: "proposal", "review", "target", "pack", "checks"
    stage: str
    #: of the request: model, messages, seed and temperature
    request_sha256: str
    #: (role, text) of each message
    messages: tuple[tuple[str, str], ...]
    answer: str
    finish: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    retries: int
    #: what the provider does not offer: "seed", "temperature"
    left_out: tuple[str, ...]
    provider_request_id: str | None


class Reviewed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the independent reviews of a proposal."""

    #: what this reviewer looks at
    lens: str
    review: Review


class ProposalReviewed(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="proposal_reviewed"
):
    """A proposal and what was found; `problems` are those that it was sent back with, none when it was accepted."""

    revision: int
    proposal: Proposal | None
    reviews: tuple[Reviewed, ...]
    problems: tuple[str, ...]


class TargetFrozen(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="target_frozen"
):
    """The assessment target, from here on unchanged."""

    revision: int
    sha256: str
    target: Target


class ChecksReviewed(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="checks_reviewed"
):
    """Whether the formulas of a task say what the target says."""

    revision: int
    #: of the formulas
    sha256: str
    review: Review


class CheckFound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One check of `iwreplay tasks check`."""

    name: str
    ok: bool
    detail: str = ""


class PackChecked(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="pack_checked"
):
    """A version of the task, and everything that was found when it was run."""

    revision: int
    #: of the file's text
    pack_sha256: str
    #: of the frozen target
    target_sha256: str
    checks: tuple[CheckFound, ...]
    #: what it was sent back with; none when it was accepted
    problems: tuple[str, ...]


class GenerationClosed(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="generation_closed"
):
    """How it ended."""

    outcome: Literal["accepted", "not_converged"]
    revisions: int
    calls: int
    #: of the accepted file; "" without one
    pack_sha256: str
    #: US dollars of all calls; None when the price of any is unknown
    cost_usd: float | None
    #: why it was given up
    reason: str = ""


GenerationRecord = (
    GenerationOpened | ModelCalled | ProposalReviewed | TargetFrozen | ChecksReviewed | PackChecked | GenerationClosed
)
