"""Drawings of a report, as SVG: readable in greyscale (markers, hatches, line styles carry what colour would), the same
bytes for the same numbers and versions. The only home of matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from iwreplay.errors import ReportError
from iwreplay.reports.document import Bar, Figure

__all__ = ["curves", "intervals", "matrix", "outcomes", "stacked"]

_WIDTH_IN, _ROW_IN = 8.0, 0.3
#: characters of a label, and curves that have a name of their own
_LONGEST_LABEL, _MOST_NAMED = 44, 12
_GREYS = ("0.15", "0.35", "0.55", "0.7", "0.82", "0.95")
_HATCHES = ("", "///", "", "...", "", "xxx")
_LINES = ("-", "--", "-.", ":")
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # letters stay letters, to be found and copied
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def intervals(id: str, title: str, bars: Sequence[Bar], *, unit: str = "percent") -> Figure:
    """A point with its interval for each bar, the first on top; published ones are hollow."""
    scale = 100.0 if unit == "percent" else 1.0
    shown = [b for b in bars if b.value is not None]

    def draw(axes: Any) -> None:
        for y, b in enumerate(shown):
            assert b.value is not None, "those without a value are not shown"
            if b.low is not None and b.high is not None:
                axes.plot([scale * b.low, scale * b.high], [y, y], color="0.45", linewidth=1.4, zorder=1)
            fill = "white" if b.published else "black"
            axes.plot(scale * b.value, y, marker="o", markersize=6, color="black", markerfacecolor=fill, zorder=2)
        axes.set_yticks(range(len(shown)), [_short(b.label) for b in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        if unit == "percent":
            axes.set_xlim(0, 100)
        else:
            axes.set_xlim(left=min(0.95, *axes.get_xlim()))
            axes.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":")
        axes.set_xlabel("percent" if unit == "percent" else "times the oracle")
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)

    words = "; ".join(f"{b.label}: {scale * (b.value or 0.0):.3g}" for b in shown)
    return Figure(id=id, title=title, svg=_svg(id, draw, rows=len(shown)), alt=f"{title}. {words}.")


def stacked(id: str, title: str, labels: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> Figure:
    """A bar for each row, of parts that add up to 1."""

    def draw(axes: Any) -> None:
        for k, label in enumerate(labels):
            lefts = [100.0 * sum(parts[:k]) for _, parts in rows]
            axes.barh(
                range(len(rows)),
                [100.0 * parts[k] for _, parts in rows],
                left=lefts,
                color=_GREYS[k % len(_GREYS)],
                hatch=_HATCHES[k % len(_HATCHES)],
                edgecolor="black",
                linewidth=0.5,
                label=label,
            )
        axes.set_yticks(range(len(rows)), [_short(name) for name, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_xlabel("percent")
        axes.figure.legend(ncols=len(labels), loc="outside upper center", frameon=False)

    words = "; ".join(
        f"{name}: " + ", ".join(f"{label} {100.0 * p:.0f} %" for label, p in zip(labels, parts, strict=True))
        for name, parts in rows
    )
    return Figure(id=id, title=title, svg=_svg(id, draw, rows=len(rows) + 1), alt=f"{title}. {words}.")


def matrix(
    id: str, title: str, *, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float | None]]
) -> Figure:
    """Shares as shades of grey with their numbers."""

    def draw(axes: Any) -> None:
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                shade = 1.0 if value is None else 1.0 - 0.75 * value
                axes.add_patch(_rectangle(x, y, str(round(shade, 3))))
                text = "-" if value is None else f"{100.0 * value:.0f}"
                axes.text(x, y, text, ha="center", va="center", color="white" if shade < 0.5 else "black")
        axes.set_xticks(range(len(columns)), [_short(c) for c in columns], rotation=20, ha="right")
        axes.set_yticks(range(len(rows)), [_short(r) for r in rows])
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)

    words = "; ".join(
        f"{row} with {column}: {'-' if v is None else f'{100.0 * v:.0f} %'}"
        for row, line in zip(rows, values, strict=True)
        for column, v in zip(columns, line, strict=True)
    )
    return Figure(id=id, title=title, svg=_svg(id, draw, rows=len(rows) + 2), alt=f"{title}. {words}.")


def outcomes(
    id: str,
    title: str,
    *,
    rows: Sequence[str],
    groups: Sequence[tuple[str, int]],
    passed: Sequence[Sequence[bool | None]],
) -> Figure:
    """A square for each task: filled where it was passed, open where not, a dash where it was not recorded.

    groups: name of a family and how many of the columns are its own, one after the other.
    """
    places: list[float] = []
    middles: list[float] = []
    for g, (_, count) in enumerate(groups):
        first = len(places) + 1.5 * g
        places += [first + k for k in range(count)]
        middles.append(first + (count - 1) / 2)

    def draw(axes: Any) -> None:
        for y, line in enumerate(passed):
            for x, ok in zip(places, line, strict=True):
                marker, fill = ("_", "black") if ok is None else ("s", "black" if ok else "white")
                axes.plot(x, y, marker=marker, markersize=5, color="black", markerfacecolor=fill, markeredgewidth=0.7)
        axes.set_yticks(range(len(rows)), [_short(r) for r in rows])
        axes.set_xticks(middles, [name for name, _ in groups])
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-1, max(places) + 1)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.spines["bottom"].set_visible(False)

    words = "; ".join(
        f"{row}: {sum(o is True for o in line)} of {sum(o is not None for o in line)}"
        for row, line in zip(rows, passed, strict=True)
    )
    width_in = max(_WIDTH_IN, 1.8 + 0.098 * max(places))
    return Figure(
        id=id, title=title, svg=_svg(id, draw, rows=len(rows) + 1, width_in=width_in), alt=f"{title}. {words}."
    )


def curves(
    id: str,
    title: str,
    *,
    grid: Sequence[float],
    pooled: Sequence[float],
    band: Sequence[tuple[float, float] | None],
    each: Sequence[tuple[str, Sequence[float]]],
) -> Figure:
    """The pooled curve with its band, and thin ones."""

    def draw(axes: Any) -> None:
        there = [i for i, b in enumerate(band) if b is not None]
        if there:
            low = [100.0 * b[0] for b in band if b is not None]
            high = [100.0 * b[1] for b in band if b is not None]
            axes.fill_between([grid[i] for i in there], low, high, color="0.88", label="95 % band")
        for n, (name, curve) in enumerate(each):
            style, shade = _LINES[n % len(_LINES)], _GREYS[(n // len(_LINES)) % 4]
            label = _short(name) if len(each) <= _MOST_NAMED else None
            axes.plot(grid, [100.0 * v for v in curve], linestyle=style, color=shade, linewidth=1, label=label)
        axes.plot(grid, [100.0 * v for v in pooled], color="black", linewidth=2.6, label="all together")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 100)
        axes.set_xlabel("task length, scaled within its family")
        axes.set_ylabel("probability of passing, percent")
        axes.figure.legend(loc="outside right upper", frameon=False)

    ends = f"all together from {100.0 * pooled[0]:.0f} % to {100.0 * pooled[-1]:.0f} %"
    unnamed = "" if len(each) <= _MOST_NAMED else f"; each thin line is one of {len(each)}, in the order of the table"
    return Figure(id=id, title=f"{title}{unnamed}", svg=_svg(id, draw, rows=10), alt=f"{title}: {ends}.")


def _short(name: str) -> str:
    """A name that leaves room for what is drawn; the tables have it whole. A line beneath at its beginning would keep
    it out of a legend."""
    name = " ".join(name.split())
    if len(name) > _LONGEST_LABEL:
        half = _LONGEST_LABEL // 2
        name = f"{name[: half - 1]}...{name[-half + 2 :]}"
    return f" {name}" if name.startswith("_") else name


def _svg(id: str, draw: Any, *, rows: int, width_in: float = _WIDTH_IN) -> str:
    """The text of an SVG element, `draw` having drawn on its axes."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise ReportError("figures need matplotlib: pip install 'iwreplay[report]'") from None
    # ids of parts come from a hash, which is another for each figure of a page
    settings: Any = {**_SETTINGS, "svg.hashsalt": id}
    with mpl.rc_context(settings):
        figure = Canvas(figsize=(width_in, 0.7 + _ROW_IN * max(rows, 2)), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    # groups are named alike in every figure, and nothing points at them
    return re.sub(r'<g id="[^"]*"', "<g", text[text.index("<svg") :])


def _rectangle(x: int, y: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white")
