"""Pages about checked tasks, for a person to look at: what was asked, seen, said and found. Each file stands alone."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, assert_never

import msgspec

from iwreplay.app.evidence import Proof
from iwreplay.app.pictures import write_picture
from iwreplay.app.task_frames import StepFrame, evidence_frames, step_frames
from iwreplay.events import Event, HumanTurn, PrimitiveOutcome, ScriptedEvent, Utterance
from iwreplay.frames.maker import FrameMaker
from iwreplay.frames.pages import Pixels, jpeg_bytes, scaled
from iwreplay.taskpack.model import NearMiss, OracleStep, ScriptAction, TaskPack
from iwreplay.vocabulary import FAMILIES

__all__ = ["Row", "Verdict", "page_name", "write_index", "write_task_page"]

#: of a picture of a step, pixels; what it takes on the page with its margin, CSS pixels; of any picture, bytes
_STEP_PX = (320, 240)
_STEP_CSS_PX = 250
_MOST_BYTES = 120_000

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; }
td.n, th.n { text-align: right; } code { font-size: .92em; background: #f3f3f3; }
figure { display: inline-block; margin: 0 10px .6em 0; width: 240px; vertical-align: top; } img { max-width: 100%; }
figure.big { width: 640px; } .flat img { border: 1px solid #ccc; max-height: 15em; } q { white-space: pre-line; }
.turn { display: inline-block; max-width: 100%; vertical-align: top; margin: 0 0 .8em; }
.turn p { margin: 0 .6em .3em 0; }
p.heard { color: #46a; } ul { margin: .2em 0; padding-left: 1.4em; } details { color: #666; }
figcaption { font-size: .85em; color: #444; } .no { color: #a00; font-weight: bold; } .yes { color: #060; }
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


def page_name(task: str) -> str:
    """File of a task's page."""
    return f"{task}.html"


def write_task_page(
    folder: Path,
    task: TaskPack,
    *,
    about: str = "",
    events: tuple[Event, ...],
    alone: tuple[Event, ...],
    proofs: Sequence[Proof],
    verdicts: Sequence[Verdict],
    maker: FrameMaker,
) -> Path:
    """One task: what it is about, what must be known and the frames that show it, its oracle's episode step by step,
    what must be true, the wrong ways, and every check. PictureWriteError when the disk refuses.

    about: what its author says of it. events: the oracle's episode. alone: the one without help.
    """
    wrong = [v for v in verdicts if not v.ok]
    holds = f'<p class="yes">All {len(verdicts)} checks hold.</p>'
    body = [
        f"<h1>{escape(task.id)} {escape(task.title)}</h1>",
        f"<p>{escape(task.family)}, scene {escape(task.scene)}, version {task.version}, tests {' '.join(task.tests)}. "
        f"Oracle: {len(task.oracle)} turns, {sum(len(s.do) for s in task.oracle)} actions"
        f"{f'; limits: {task.limits.turns} turns, {task.limits.actions} actions' if task.limits else ''}. "
        f'<a href="index.html">All tasks</a></p>',
        *([f"<p>{escape(about)}</p>"] if about else []),
        *(
            [f'<p class="no">{len(wrong)} of {len(verdicts)} checks do not hold:</p>', *_checks(wrong)]
            if wrong
            else [holds]
        ),
        "<h2>Who asks for what</h2>",
        f"<blockquote>{escape(task.request)}</blockquote>",
        f"<p>The Human: {escape(' '.join(filter(None, (task.human.role, task.human.extra))))}</p>",
        *_by_itself(task),
        "<h2>What must be known, and where it was shown</h2>",
        *_known(events, proofs, maker),
        "<h2>The oracle, step by step</h2>",
        "<p>Under each picture is the command that had just been carried out when the wearer saw it. The Assistant "
        "speaks after the last picture of the turn before.</p>",
        *_story(task, events, maker),
        "<h2>What must be true</h2>",
        *_asked(task),
        "<h2>Wrong ways, and what they fail</h2>",
        *_wrong_ways(task, alone, verdicts),
        "<h2>All checks</h2>",
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
    # the others are about whole families
    tasks = sum(r.task not in (*FAMILIES, "all") for r in rows)
    checks = sum(len(r.verdicts) for r in rows)
    body = [
        f"<h1>{'1 task' if tasks == 1 else f'{tasks} tasks'}, {checks} checks</h1>",
        "<table>",
        head,
        *lines,
        "</table>",
    ]
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


def _image(rgb: Pixels, *, size: tuple[int, int], words: str) -> str:
    data = jpeg_bytes(scaled(rgb, width=size[0], height=size[1]), most_bytes=_MOST_BYTES)
    source = f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"
    return f'<img src="{source}" alt="{escape(words)}">'


def _by_itself(task: TaskPack) -> Iterator[str]:
    """What the Human does unasked, and what is scripted."""
    if task.human.intent:
        yield f"<p>Unless the Assistant speaks, it does by itself: {_inline(task.human.intent)}</p>"
    for event in task.script:
        when = msgspec.to_builtins(event.when)
        told = ", ".join(
            f"{k} {_json(v)}" for k, v in when.items() if v is not None and (k, v) != ("phase", "closed_loop")
        )
        done = "; ".join(_scripted(a) for a in event.do)
        yield f"<p>Scripted: <code>{escape(event.id)}</code> ({escape(told)}): {done}</p>"


def _scripted(action: ScriptAction) -> str:
    match action.do:
        case "say":
            return f"{escape(action.speaker)} says “{escape(action.text)}”"
        case "set":
            return f"{escape(action.thing)}.{escape(action.attr)} becomes {escape(_json(action.value))}"
        case "place":
            return f"{escape(action.thing)} is put at {escape(action.at)}"
        case "ring" | "stop_ring":
            return f"{escape(action.thing)} {'rings' if action.do == 'ring' else 'stops ringing'}"
        case "intend":
            return f"the Human begins {_inline(action.commands)}"
        case _:
            assert_never(action.do)


def _known(events: tuple[Event, ...], proofs: Sequence[Proof], maker: FrameMaker) -> Iterator[str]:
    if not proofs:
        yield "<p>Nothing is read, and nothing is declared as evidence.</p>"
    yield from (f'<p class="no">{escape(p.problem)}</p>' for p in proofs if p.problem)
    for same, event, rgb in evidence_frames(events, proofs, maker):
        at = f"{event.frame_id}, {event.sim_time_s:.1f} s, turn {event.turn}"
        picture = _image(rgb, size=(event.width, event.height), words=at)
        said = f"{at}: {escape('; '.join(dict.fromkeys(map(_need, same))))}"
        text = same[0].text
        if text is not None:
            # what is here is what the frame has, only turned
            square = _image(
                text.flat, size=(text.flat.shape[1], text.flat.shape[0]), words="turned square to the reader"
            )
            said += (
                f". Capitals of {text.cap_px:.1f} pixels, contrast {text.contrast:.1f}; turned square to the reader:"
            )
            said += f'<div class="flat">{square}</div>It says <q>{escape(same[0].words)}</q>'
        yield f'<figure class="big">{picture}<figcaption>{said}</figcaption></figure>'


def _need(proof: Proof) -> str:
    said = proof.what
    said += f", needed before {proof.before}" if proof.before else ""
    said += ", to be remembered" if proof.gone else ""
    return said if proof.turn is None else f"{said}, first shown in turn {proof.turn}"


def _story(task: TaskPack, events: tuple[Event, ...], maker: FrameMaker) -> Iterator[str]:
    turns = {e.turn: e.commands for e in events if isinstance(e, HumanTurn)}
    heard: dict[int, list[str]] = {}
    for e in events:
        if isinstance(e, Utterance):
            heard.setdefault(e.turn, []).append(f"{e.speaker}: {e.text}")
        elif isinstance(e, ScriptedEvent):
            heard.setdefault(e.turn, []).append(f"(scripted: {e.script})")
        elif isinstance(e, PrimitiveOutcome) and not e.ok:
            heard.setdefault(e.turn, []).append(f"REFUSED {e.command}: {e.code}: {e.sentence}")
    strips: dict[int, list[StepFrame]] = {}
    for step in step_frames(events, maker):
        strips.setdefault(step.event.turn, []).append(step)
    for n in range(max([len(task.oracle), *turns, *strips], default=0) + 1):
        if n == 0:
            said = "<i>the Assistant is not there yet</i>"
        elif n <= len(task.oracle):
            said = escape(task.oracle[n - 1].say.strip()) or "<i>silent</i>"
        else:
            said = "<i>done</i>"
        strip = strips.get(n, [])
        pictured = {s.command for s in strip}
        # a command that took no picture is told all the same
        rest = [c for c in (task.warmup if n == 0 else turns.get(n, ())) if c not in pictured]
        lines = "".join(f'<p class="heard">{escape(line)}</p>' for line in heard.get(n, []))
        pictures = "".join(map(_step, strip))
        yield (
            f'<div class="turn" style="width: {_STEP_CSS_PX * max(len(strip), 1)}px">'
            f"<p><b>{f'Turn {n}' if n else 'Warmup'}</b>: {said}</p>{pictures}{_inline(rest)}{lines}</div>"
        )


def _step(step: StepFrame) -> str:
    words = f"{step.event.frame_id}, {step.event.sim_time_s:.1f} s"
    command = f"<br><code>{escape(step.command)}</code>" if step.command else ""
    return f"<figure>{_image(step.rgb, size=_STEP_PX, words=words)}<figcaption>{words}{command}</figcaption></figure>"


def _wrong_ways(task: TaskPack, alone: tuple[Event, ...], verdicts: Sequence[Verdict]) -> Iterator[str]:
    found = {v.name: v for v in verdicts}

    def told(name: str) -> str:
        v = found.get(name)
        return "" if v is None else escape(v.detail) if v.ok else f'<span class="no">{escape(v.detail)}</span>'

    yield "<table><tr><th>way<th>what happens<th>found</tr>"
    yield f"<tr><td>silence<td>The Assistant says nothing.<td>{told('silence fails')}</tr>"
    outcomes = [e for e in alone if isinstance(e, PrimitiveOutcome) and e.phase == "closed_loop"]
    done = " ".join(
        f"<code>{escape(e.command)}</code>{'' if e.ok else f' (refused: {escape(e.sentence)})'}" for e in outcomes
    )
    yield f"<tr><td>no help<td>The Human does alone: {done or 'nothing'}<td>{told('no help fails')}</tr>"
    for miss in task.near_misses:
        steps = "".join(f"<li>{step}" for step in _miss_steps(miss, task))
        yield (
            f"<tr><td><code>{escape(miss.id)}</code><td>{escape(miss.text)}<ul>{steps}</ul>"
            f"<td>{told(f'near miss {miss.id}')}</tr>"
        )
    yield "</table>"


def _miss_steps(miss: NearMiss, task: TaskPack) -> Iterator[str]:
    """What is not as in the oracle in full, what is by numbers, silent turns counted."""
    numbers = {(s.say, s.do): n for n, s in reversed([*enumerate(task.oracle, start=1)])}

    def kind(step: OracleStep) -> str:
        return "own" if (step.say, step.do) in numbers else "other"

    for what, group in groupby(miss.oracle, key=lambda s: kind(s) if s.say else "silent"):
        steps = [*group]
        if what == "silent":
            yield f"<i>silent{f', {len(steps)} turns' if len(steps) > 1 else ''}</i>"
        elif what == "own":
            own = ", ".join(str(numbers[s.say, s.do]) for s in steps)
            yield f"<i>as the oracle in turn{'s' if len(steps) > 1 else ''} {own}</i>"
        else:
            yield "<li>".join(f"<b>{escape(s.say)}</b>" for s in steps)


def _asked(task: TaskPack) -> Iterator[str]:
    yield "<table>"
    for kind, checks in (
        ("objective", [(o.id, o.text, o.formula, ("counts only if", o.credit_if)) for o in task.objectives]),
        ("gate", [(g.id, g.text, g.formula, ("", None)) for g in task.gates]),
        ("keep", [(k.id, k.text, k.formula, ("", None)) for k in task.keeps]),
        ("point", [(p.id, f"{p.capability}: {p.text}", p.formula, ("reached when", p.reached)) for p in task.points]),
    ):
        for name, text, formula, (when, other) in checks:
            also = "" if other is None else f"<br>{when} <code>{escape(_json(other))}</code>"
            more = f"<details><summary>formula</summary><code>{escape(_json(formula))}</code>{also}</details>"
            yield f"<tr><td>{kind}<td><code>{escape(name)}</code><td>{escape(text)}{more}</tr>"
    for c in task.choices or ():
        lot = f"{c.take} of {', '.join(c.of)}; places for each: {c.places}; right outcomes: {c.right}"
        yield f"<tr><td>choice<td><td>{escape(c.text)}: {escape(lot)}</tr>"
    yield "</table>"


def _checks(verdicts: Iterable[Verdict]) -> Iterator[str]:
    yield "<table>"
    for v in verdicts:
        word = '<span class="yes">yes</span>' if v.ok else '<span class="no">NO</span>'
        yield f"<tr><td>{word}<td>{escape(v.name)}<td>{escape(v.detail)}</tr>"
    yield "</table>"


def _code(commands: Iterable[str]) -> str:
    return "<br>".join(f"<code>{escape(c)}</code>" for c in commands)


def _inline(commands: Iterable[str]) -> str:
    return " ".join(f"<code>{escape(c)}</code>" for c in commands)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
