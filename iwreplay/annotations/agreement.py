"""How far annotators agree on the label, the onset and the validity of failed episodes.

A unit is an episode, a rating what one annotator says of it. Onsets are compared in turns. The figures themselves are
those of `iwreplay.statistics.agreement`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import msgspec

from iwreplay.annotations.model import LABELS, ErrorLabel
from iwreplay.statistics.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
    share_within,
)

__all__ = ["AgreementFigures", "PairFigures", "Rating", "agreement_figures"]

_UNEQUAL = "episodes have different numbers of labels"


class Rating(msgspec.Struct, frozen=True, kw_only=True):
    """What one annotator says of one episode."""

    annotator: str
    outcome: str
    #: of the onset; None without a label
    turn: int | None = None


class PairFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Two annotators, over the episodes that both labelled."""

    annotators: tuple[str, str]
    label_percent: Agreement
    label_kappa: Agreement


class AgreementFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement over a set of episodes. A figure says over how many episodes it is, and why it is None."""

    annotators: tuple[str, ...]
    #: share of pairs of labels that are the same
    label_percent: Agreement
    #: Cohen's with two annotators, else Fleiss', which needs as many labels of every episode
    label_kappa: Agreement
    #: Krippendorff's, nominal: any number of annotators, and of labels of an episode
    label_alpha: Agreement
    #: Krippendorff's over the turns of the onsets, on an interval scale
    onset_alpha: Agreement
    #: share of pairs of onsets that are at most one turn apart
    onset_within_1: Agreement
    #: share of pairs that say the same of whether the episode is valid; who labels says that it is
    validity_percent: Agreement
    pairs: tuple[PairFigures, ...]


def agreement_figures(episodes: Sequence[Sequence[Rating]]) -> AgreementFigures:
    """Of the ratings of each episode, at most one of an annotator."""
    names = tuple(sorted({r.annotator for ratings in episodes for r in ratings}))
    by_name = [{r.annotator: r for r in ratings} for ratings in episodes]
    labels = [[_label(row.get(name)) for name in names] for row in by_name]
    turns = [[row[name].turn if name in row else None for name in names] for row in by_name]
    validity = [[row[name].outcome != "invalid" if name in row else None for name in names] for row in by_name]
    return AgreementFigures(
        annotators=names,
        label_percent=percent_agreement(labels),
        label_kappa=_kappa(labels),
        label_alpha=krippendorff_alpha(labels),
        onset_alpha=krippendorff_alpha(turns, metric="interval"),
        onset_within_1=share_within(turns, turns=1),
        validity_percent=percent_agreement(validity),
        pairs=tuple(
            PairFigures(
                annotators=(names[i], names[j]),
                label_percent=percent_agreement([[row[i], row[j]] for row in labels]),
                label_kappa=cohen_kappa([[row[i], row[j]] for row in labels]),
            )
            for i, j in combinations(range(len(names)), 2)
        ),
    )


def _label(rating: Rating | None) -> ErrorLabel | None:
    return next((name for name in LABELS if rating is not None and rating.outcome == name), None)


def _kappa(labels: Sequence[Sequence[ErrorLabel | None]]) -> Agreement:
    if labels and len(labels[0]) == 2:
        return cohen_kappa(labels)
    rows = [given for row in labels if len(given := [label for label in row if label is not None]) >= 2]
    if len({len(row) for row in rows}) > 1:
        return Agreement(value=None, units=len(rows), ratings=sum(map(len, rows)), reason=_UNEQUAL)
    return fleiss_kappa(rows)
