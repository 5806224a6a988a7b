"""Task generation by language models: what is proposed, what is frozen, what is written down. Pure.

The steps are those of the paper's figure 7; `iwreplay.app.generating` walks through them.
"""

from __future__ import annotations

from iwreplay.generation.answers import read_pack_text, read_struct
from iwreplay.generation.model import Control, PointStatement, Proposal, Review, Statement, Target
from iwreplay.generation.prompts import PROMPT_NAMES, Prompts, load_prompts
from iwreplay.generation.records import (
    CheckFound,
    ChecksReviewed,
    GenerationClosed,
    GenerationOpened,
    GenerationRecord,
    ModelCalled,
    PackChecked,
    ProposalReviewed,
    Reviewed,
    TargetFrozen,
)
from iwreplay.generation.target import check_lines, proposal_problems, target_changes, target_problems

__all__ = [
    "PROMPT_NAMES",
    "CheckFound",
    "ChecksReviewed",
    "Control",
    "GenerationClosed",
    "GenerationOpened",
    "GenerationRecord",
    "ModelCalled",
    "PackChecked",
    "PointStatement",
    "Prompts",
    "Proposal",
    "ProposalReviewed",
    "Review",
    "Reviewed",
    "Statement",
    "Target",
    "TargetFrozen",
    "check_lines",
    "load_prompts",
    "proposal_problems",
    "read_pack_text",
    "read_struct",
    "target_changes",
    "target_problems",
]
