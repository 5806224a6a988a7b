"""Pages about checked tasks, for a person to look at: what was asked, seen, said and found. Each file stands alone."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from iwreplay.app.evidence import Proof
from iwreplay.app.pictures import write_picture
from iwreplay.events import Event, FrameCaptured, HumanTurn, PrimitiveOutcome, Utterance
from iwreplay.frames.maker import FrameMaker
from iwreplay.frames.pages import Pixels, jpeg_bytes, scaled
from iwreplay.taskpack.model import TaskPack
from iwreplay.world.state import fold

__all__ = ["Row", "Verdict", "page_name", "write_index", "write_task_page"]

#: of a picture on a page, pixels and bytes
_WIDTH, _HEIGHT = 480, 360
_MOST_BYTES = 60_000

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; }
td.n, th.n { text-align: right; } code { font-size: .92em; background: #f3f3f3; }
figure { display: inline-block; margin: 0 1em 1em 0; width: 30em; vertical-align: top; } img { max-width: 100%; }
figcaption { font-size: .9em; color: #444; } .no { color: #a00; font-weight: bold; } .yes { color: #060; }
blockquote { margin: .5em 0; padding-left: 1em; border-left: 3px solid #bbb; }
"""


class Verdict(NamedTuple):
    """A check on a page."""

    name: str
    ok: bool
    detail: str


class Row(NamedTuple):
    """A task in the index."""

    task: str
    family: str
    #: "" when it has no page
    page: str
    turns: int
    actions: int
    by_lot: float | None
    verdicts: tuple[Verdict, ...]


class _Picture(NamedTuple):
    caption: str
    rgb: Pixels


def page_name(task: str) -> str:
    """File of a task's page."""
    return f"{task}.html"


def write_task_page(
    folder: Path,
    task: TaskPack,
    *,
    events: tuple[Event, ...],
    proofs: Sequence[Proof],
    verdicts: Sequence[Verdict],
    maker: FrameMaker,
) -> Path:
    """One task: its request, key frames of its oracle's episode, the dialogue, and its checks. PictureWriteError when
    the disk refuses."""
    body = [
        f"<h1>{escape(task.id)} {escape(task.title)}</h1>",
        f"<p>{escape(task.family)}, scene {escape(task.scene)}, version {task.version}. "
        f"Oracle: {len(task.oracle)} turns, {sum(len(s.do) for s in task.oracle)} actions. "
        f'<a href="index.html">All tasks</a></p>',
        f"<blockquote>{escape(task.request)}</blockquote>",
        f"<p>Human: {escape(task.human.role)}</p>",
        "<h2>Key frames</h2>",
        *(_figure(p) for p in _pictures(events, proofs, maker)),
        "<h2>Oracle</h2>",
        *_dialogue(task, events),
        "<h2>What must be true</h2>",
        *_asked(task),
        "<h2>Checks</h2>",
        *_checks(verdicts),
    ]
    path = folder / page_name(task.id)
    write_picture(path, _page(f"{task.id} {task.title}", body).encode())
    return path


def write_index(folder: Path, rows: Sequence[Row]) -> Path:
    """The table of all tasks, with what failed below it."""
    head = "<tr><th>task<th>family<th class=n>turns<th class=n>actions<th class=n>by lot<th class=n>ok<th>failed</tr>"
    lines = []
    for r in rows:
        failed = [v.name for v in r.verdicts if not v.ok]
        name = f'<a href="{escape(r.page)}">{escape(r.task)}</a>' if r.page else escape(r.task)
        cells = (str(r.turns or ""), str(r.actions or ""), "" if r.by_lot is None else f"{r.by_lot:.3g}")
        numbers = "".join(f"<td class=n>{c}" for c in (*cells, str(len(r.verdicts) - len(failed))))
        bad = f'<td class="{"no" if failed else "yes"}">{escape("; ".join(failed)) or "none"}'
        lines.append(f"<tr><td>{name}<td>{escape(r.family)}{numbers}{bad}</tr>")
    body = [f"<h1>{len(rows)} checked</h1>", "<table>", head, *lines, "</table>"]
    for r in rows:
        wrong = [v for v in r.verdicts if not v.ok]
        if wrong:
            body += [f"<h2>{escape(r.task)}</h2>", *_checks(wrong)]
    path = folder / "index.html"
    write_picture(path, _page("Checked tasks", body).encode())
    return path


def _page(title: str, body: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def _figure(picture: _Picture) -> str:
    data = jpeg_bytes(scaled(picture.rgb, width=_WIDTH, height=_HEIGHT), most_bytes=_MOST_BYTES)
    source = f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
    words = escape(picture.caption)
    return f'<figure><img src="{source}" alt="{words}"><figcaption>{words}</figcaption></figure>'


def _pictures(events: tuple[Event, ...], proofs: Sequence[Proof], maker: FrameMaker) -> Iterator[_Picture]:
    """The start, the end of the warmup, every piece of evidence where it shows, and the end; each frame once."""
    frames = [e for e in events if isinstance(e, FrameCaptured)]
    if not frames:
        return
    captions: dict[str, list[str]] = {frames[0].frame_id: ["the start"]}
    before = [f for f in frames if f.phase != "closed_loop"]
    captions.setdefault(before[-1].frame_id, []).append("when the Assistant comes in")
    for proof in proofs:
        if proof.frame:
            trouble = "NOT AS NEEDED: " if proof.problem else ""
            captions.setdefault(proof.frame, []).append(f"{trouble}{proof.what}")
    captions.setdefault(frames[-1].frame_id, []).append("the end")
    flat = {p.frame: p for p in proofs if p.text is not None}
    for _, event, state in fold(enumerate(events)):
        if not isinstance(event, FrameCaptured) or event.frame_id not in captions:
            continue
        frame = maker.draw(state, camera=event.camera, focal_px=event.focal_px, width=event.width, height=event.height)
        said = ", ".join(captions[event.frame_id])
        if event.frame_id in flat and (text := flat[event.frame_id].text) is not None:
            said += f" (capitals of {text.cap_px:.1f} pixels, contrast {text.contrast:.1f})"
        yield _Picture(f"{event.frame_id}, {event.sim_time_s:.1f} s, turn {event.turn}: {said}", frame.rgb)


def _dialogue(task: TaskPack, events: tuple[Event, ...]) -> Iterator[str]:
    turns = {e.turn: e.commands for e in events if isinstance(e, HumanTurn)}
    heard: dict[int, list[str]] = {}
    for e in events:
        if isinstance(e, Utterance):
            heard.setdefault(e.turn, []).append(f"{e.speaker}: {e.text}")
        elif isinstance(e, PrimitiveOutcome) and not e.ok:
            heard.setdefault(e.turn, []).append(f"REFUSED {e.command}: {e.code}: {e.sentence}")
    yield "<table><tr><th>turn<th>the Assistant says<th>the Human does<th></tr>"
    yield f"<tr><td>warmup<td><td>{_code(task.warmup)}<td>{_lines(heard.get(0, []))}</tr>"
    for n, step in enumerate(task.oracle, start=1):
        said = escape(step.say.strip()) or "<i>silent</i>"
        yield f"<tr><td>{n}<td>{said}<td>{_code(turns.get(n, step.do))}<td>{_lines(heard.get(n, []))}</tr>"
    yield "</table>"


def _asked(task: TaskPack) -> Iterator[str]:
    yield "<table>"
    for kind, checks in (
        ("objective", [(o.id, o.text) for o in task.objectives]),
        ("gate", [(g.id, g.text) for g in task.gates]),
        ("keep", [(k.id, k.text) for k in task.keeps]),
        ("point", [(p.id, f"{p.capability}: {p.text}") for p in task.points]),
    ):
        yield from (f"<tr><td>{kind}<td><code>{escape(i)}</code><td>{escape(t)}</tr>" for i, t in checks)
    yield "</table>"


def _checks(verdicts: Iterable[Verdict]) -> Iterator[str]:
    yield "<table>"
    for v in verdicts:
        word = '<span class="yes">yes</span>' if v.ok else '<span class="no">NO</span>'
        yield f"<tr><td>{word}<td>{escape(v.name)}<td>{escape(v.detail)}</tr>"
    yield "</table>"


def _code(commands: Iterable[str]) -> str:
    return "<br>".join(f"<code>{escape(c)}</code>" for c in commands)


def _lines(lines: Iterable[str]) -> str:
    return "<br>".join(escape(line) for line in lines)
