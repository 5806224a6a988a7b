"""`iwreplay show` and `iwreplay at`: an episode's timeline, and the world at one of its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from iwreplay.cli.options import DEFAULT_STORE, EpisodeArgument, JsonOption, ReadStoreOption
from iwreplay.cli.output import note, print_json, print_json_line, print_table, say, say_wrapped
from iwreplay.errors import UnknownNameError
from iwreplay.vocabulary import WEARER

if TYPE_CHECKING:
    from iwreplay.app.stories import Turn
    from iwreplay.events import Event
    from iwreplay.log import LogReader
    from iwreplay.store import Episode
    from iwreplay.world.state import WorldState

__all__ = ["add_to"]


def show(
    episode: Annotated[
        str | None,
        typer.Argument(
            help="Id of an episode, a unique beginning of it, or the path of a log; none lists the episodes.",
            metavar="EPISODE",
        ),
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also poses, frames, contacts and observations; nothing is left out.")
    ] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="One line a turn: what was said and done, refused, and different after it.")
    ] = False,
    turn: Annotated[int | None, typer.Option("--turn", help="Only this turn; 0 is the warmup.", min=0)] = None,
    seq: Annotated[
        int | None, typer.Option("--seq", help="Only this event, every field of it, between its neighbours.", min=0)
    ] = None,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show an episode as a readable timeline, or list the episodes of the store.

    A damaged log is shown as far as it is intact, and the exit code is 3.

    With --json, a list of the episodes; of one episode a line of JSON for each event of the timeline: {seq, event,
    left_out}. Body vectors, pose values, snapshots and the frozen task and scene are left out, and named in left_out,
    unless --all is given; then every event is there, whole. With --brief, a line of JSON for each turn.

    Example: iwreplay show V06-oracle --turn 2
    """
    from iwreplay.app.episodes import find_episode, list_episodes

    _one_of(brief=brief, seq=seq, turn=turn)
    if episode is None:
        listed = list_episodes(store)
        if json:
            print_json(listed)
        else:
            names = ("episode", "task", "status", "end_reason", "turns", "actions", "events", "log_state")
            print_table(names, [[getattr(e, n) for n in names] for e in listed])
        return
    from iwreplay.log import read_log

    found = find_episode(store, episode)
    with read_log(found.log) as log:
        try:
            if seq is not None:
                _show_event(log, found, seq, everything=everything, json=json)
            elif brief:
                _show_brief(log, found, turn, json=json)
            else:
                events = iter(log) if turn is None else _of_turn(log, found, turn)
                _show_timeline(events, everything=everything, json=json)
        finally:
            if log.state == "open":
                note(f"{found.id} has no end: its recorder is still at work, or was killed")


def _one_of(*, brief: bool, seq: int | None, turn: int | None) -> None:
    if seq is not None and (brief or turn is not None):
        raise typer.BadParameter("--seq shows one event; leave --brief and --turn out")


def _show_timeline(events: Iterable[tuple[int, Event]], *, everything: bool, json: bool) -> None:
    from iwreplay.cli.one_event import lean
    from iwreplay.cli.timeline import TEXT_AT, shown_by_default, timeline

    if json:
        for seq, event in events:
            if everything or shown_by_default(event):
                print_json_line(lean(seq, event, everything=everything))
        return
    for line in timeline(events, everything=everything):
        say_wrapped(line, indent=TEXT_AT)


def _show_brief(log: LogReader, episode: Episode, turn: int | None, *, json: bool) -> None:
    from iwreplay.app.stories import turns_of
    from iwreplay.cli.brief import BRIEF_TEXT_AT, brief

    turns = turns_of(log) if turn is None else _only(turns_of(log), episode, turn)
    if json:
        for one in turns:
            print_json_line(one)
        return
    for line in brief(turns):
        say_wrapped(line, indent=BRIEF_TEXT_AT)


def _show_event(log: LogReader, episode: Episode, seq: int, *, everything: bool, json: bool) -> None:
    from iwreplay.app.episodes import event_at
    from iwreplay.cli.one_event import described, lean
    from iwreplay.cli.timeline import TEXT_AT, line_of

    event = event_at(log, episode, seq=seq)
    if json:
        print_json_line(lean(seq, event, everything=everything))
        return
    for near in (seq - 1, seq, seq + 1):
        if 0 <= near < len(log):
            line = line_of(near, event if near == seq else log.at_seq(near), everything=True)
            say_wrapped(f"{'>' if near == seq else ' '}{line}", indent=TEXT_AT + 1)
    say()
    for line in described(seq, event, everything=everything):
        say(line)


def _of_turn(log: Iterable[tuple[int, Event]], episode: Episode, turn: int) -> Iterator[tuple[int, Event]]:
    """The events of one turn. UnknownNameError when there was none."""
    last = 0
    for seq, event in log:
        last = max(last, event.turn)
        if event.turn == turn:
            yield seq, event
    if turn > last:
        raise _no_turn(episode, turn, last)


def _only(turns: Iterable[Turn], episode: Episode, wanted: int) -> Iterator[Turn]:
    """That turn alone. UnknownNameError when there was none."""
    last = 0
    for turn in turns:
        last = max(last, turn.turn)
        if turn.turn == wanted:
            yield turn
    if wanted > last:
        raise _no_turn(episode, wanted, last)


def _no_turn(episode: Episode, turn: int, last: int) -> UnknownNameError:
    return UnknownNameError("turn", str(turn), hint=f"{episode.id} has turns 0 to {last}.")


def at(
    episode: EpisodeArgument,
    *,
    seq: Annotated[int, typer.Option("--seq", help="Number of the event after which to look.", min=0)],
    thing: Annotated[
        list[str] | None,
        typer.Option("--thing", help="Only these things (repeat), and every attribute of theirs.", metavar="ID"),
    ] = None,
    store: ReadStoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show the world as it was after one event: folded from the log, without physics.

    With --json, {episode, seq, sim_time_s, turn, phase, step, things, joints, body}. The wearer's body vector (163
    numbers) is there only with --thing wearer; else body is null.

    Example: iwreplay at V06-oracle --seq 120 --thing wearer
    """
    from iwreplay.app.episodes import find_episode, world_at

    found = find_episode(store, episode)
    state = world_at(found, seq=seq)
    wanted = tuple(thing or state.attrs)
    unknown = [t for t in wanted if t not in state.attrs]
    if unknown:
        raise UnknownNameError("thing", unknown[0], known=tuple(state.attrs))
    if json:
        print_json({"episode": found.id, "seq": seq, **_described(state, wanted, body=WEARER in (thing or ()))})
        return
    say(f"{found.id} after event {seq}: {state.sim_time_s:.2f} s, turn {state.turn}, {state.phase}")
    rows: list[tuple[str, str, str]] = []
    for name in wanted:
        pose = state.poses.get(name)
        place = "" if pose is None else f"{pose[0]:.3f} {pose[1]:.3f} {pose[2]:.3f}"
        found_attrs = _attributes(state, name, every=bool(thing))
        # things that were asked for get a line an attribute: nothing is cut off
        lines = found_attrs if thing else ["  ".join(found_attrs)]
        rows.extend((name if i == 0 else "", place if i == 0 else "", text) for i, text in enumerate(lines or [""]))
    print_table(("thing", "x y z (m)", "attributes"), rows)


def _attributes(state: WorldState, name: str, *, every: bool) -> list[str]:
    """Attributes in words. Unless `every`, what is false, empty or usual is left out if it was so from the start."""
    usual = {WEARER: {}, **{t.id: t.attrs for t in state.scene.things}}[name]
    shown = []
    for key, value in sorted(state.attrs[name].items()):
        plain = value in (None, False, "") or (key == "exists" and value is True)
        if every or not plain or (key in usual and value != usual[key]):
            text = {True: "yes", False: "no", None: "-"}[value] if isinstance(value, bool | None) else value
            shown.append(f"{key}={text}")
    return shown


def _described(state: WorldState, wanted: tuple[str, ...], *, body: bool) -> dict[str, object]:
    return {
        "sim_time_s": state.sim_time_s,
        "turn": state.turn,
        "phase": state.phase,
        "step": state.step,
        "things": {t: {"pose": state.poses.get(t), "attrs": state.attrs[t]} for t in wanted},
        "joints": {j: v for j, v in state.joints.items() if j.split(".", 1)[0] in wanted},
        "body": state.body if body else None,
    }


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(show)
    app.command()(at)
